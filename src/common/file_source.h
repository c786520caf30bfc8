// FileSource: the bytes of an open file, or of a range of one, read by position. Bytes are untrusted and
// every read is checked. Cheap to copy: copies share the open file. May be read from several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "common/fd.h"

namespace plimsoll {

class FileSource {
 public:
  // Throws Error{not_found} if there is no such file, Error{io} if it cannot be read or is no regular file.
  static FileSource open(const std::filesystem::path& path);

  uint64_t size() const { return size_; }
  // What to call it in an error: "model.keras", "model.keras: model.weights.h5".
  const std::string& name() const { return name_; }
  // Reads exactly `count` bytes. Throws Error{bad_file} if they are not there, Error{io} if the disk fails.
  void read(uint64_t offset, void* into, uint64_t count) const;
  std::string text(uint64_t offset, uint64_t count) const;
  // A part of it, with a name of its own. Throws Error{bad_file} if it goes beyond the end.
  FileSource part(uint64_t offset, uint64_t count, std::string name) const;

  int fd() const;
  uint64_t offset() const { return offset_; }  // of its first byte in the file behind fd()

 private:
  friend class NamelessFile;
  FileSource(std::shared_ptr<Fd> handle, uint64_t offset, uint64_t size, std::string name)
      : handle_(std::move(handle)), offset_(offset), size_(size), name_(std::move(name)) {}

  std::shared_ptr<Fd> handle_;
  uint64_t offset_ = 0, size_ = 0;
  std::string name_;
};

// A file without a name, in memory where the system can: for bytes that must stand behind a descriptor.
class NamelessFile {
 public:
  NamelessFile();  // throws Error{io}

  void append(const void* bytes, size_t count);  // throws Error{io}
  FileSource source(std::string name) &&;

 private:
  Fd fd_;
  uint64_t size_ = 0;
};

}  // namespace plimsoll
