// Zip reads the directory and single members of a zip archive in memory: enough for .keras files and
// wheels. Names are views into the bytes given. Immutable; may be read from several threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

class Zip {
 public:
  struct Member {
    std::string_view name;
    uint16_t method = 0;  // 0 stored, 8 deflated
    uint64_t packed = 0, size = 0, header = 0;
  };

  static bool looks_like(Bytes file) { return file.size() >= 22 && file.text(0, 2) == "PK"; }
  // Throws Error{bad_file} if there is no directory, or it points outside the file.
  explicit Zip(Bytes file);

  const std::vector<Member>& members() const { return members_; }
  // The contents of a member; nothing if there is none of that name. Throws Error{bad_file} if it is
  // damaged, packed in an unknown way, or larger than `limit` bytes.
  std::optional<std::string> read(std::string_view name, size_t limit) const;

 private:
  Bytes file_;
  std::vector<Member> members_;
};

}  // namespace plimsoll::doctor
