// ZipReader: the members of a zip archive somebody else wrote, such as a .keras file. Stored and deflated
// members, zip64. libzip would do, but does not say where a stored member lies, and large weights are read in
// place. Refused as Error{bad_file} with the place: a damaged or cut archive, names that could lead out of a
// folder or occur twice, members that overlap, and sizes that deflate cannot reach (bombs). May be read from
// several threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_source.h"

namespace plimsoll {

class ZipReader {
 public:
  struct Member {
    std::string name;
    uint16_t flags = 0, method = 0;  // method: 0 stored, 8 deflated
    uint32_t crc = 0;
    uint64_t packed = 0, size = 0, header = 0;
  };

  static bool looks_like(const FileSource& file);
  explicit ZipReader(FileSource file);

  const std::vector<Member>& members() const { return members_; }
  const Member* find(std::string_view name) const;  // nullptr if there is none
  // The contents, their checksum compared. Throws Error{bad_file} if there are more than `limit` bytes.
  std::string read(const Member& member, uint64_t limit) const;
  // The contents as a file: in place if stored, else unpacked into memory. The checksum is compared first.
  FileSource open(const Member& member, uint64_t limit) const;
  // The bytes of a member as they lie in the archive, packed or not; no checksum is compared. Throws
  // Error{bad_file} if the sizes cannot be right or there are more than `limit` bytes in it.
  FileSource packed(const Member& member, uint64_t limit) const;

 private:
  FileSource packed_bytes(const Member& member) const;
  void check_limit(const Member& member, uint64_t limit) const;
  [[noreturn]] void damaged(const Member& member, std::string_view what) const;
  template <class Sink>
  void unpack(const Member& member, Sink&& sink) const;

  FileSource file_;
  std::vector<Member> members_;
};

}  // namespace plimsoll
