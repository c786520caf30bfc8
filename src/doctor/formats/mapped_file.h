// MappedFile holds a file's bytes in memory, read-only, for as long as it lives; pages come from the
// disk when they are looked at. Movable; may be read from several threads. Small files (under 1 MiB)
// are copied instead of mapped, which is faster. Requires: nobody shortens a mapped file meanwhile,
// as an installer that replaces files by renaming never does.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

class MappedFile {
 public:
  // Nothing if there is no such regular file or it may not be read.
  static std::optional<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  Bytes bytes() const { return mapped_ ? Bytes(mapped_, size_) : Bytes(copy_.data(), copy_.size()); }

 private:
  MappedFile() = default;
  void* mapped_ = nullptr;
  size_t size_ = 0;
  std::string copy_;
};

// The text of a small file, at most `limit` bytes of it; nothing if it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& path, size_t limit = 16u << 20);

}  // namespace plimsoll::doctor
