// Files written so that a kill at any moment leaves the old file or the new one, never a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

namespace plimsoll {

// A new file that is being written, at its end. Made by write_atomically; not for several threads.
class NewFile {
 public:
  NewFile(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}

  // Throw Error{io} with the reason (no space, ...).
  void write(const void* bytes, size_t size);
  // Where the next byte goes.
  uint64_t position() const { return position_; }

  int fd() const { return fd_; }
  // Its present name, beside the one it will get: for libraries that open files by name.
  const std::filesystem::path& path() const { return path_; }

 private:
  int fd_;
  std::filesystem::path path_;
  uint64_t position_ = 0;
};

// Lets `writer` fill a new file beside `path`, brings it to the disk, renames it to `path` and brings the
// folder to the disk. Whatever `writer` throws goes on to the caller, and `path` is as it was. Permissions
// are those of the file that was there, else what the umask gives. A link is followed: the file it points to
// is replaced. Throws Error{io} naming the path.
void write_atomically(const std::filesystem::path& path, const std::function<void(NewFile&)>& writer);

// The folder and those above it, where they are missing. Throws Error{io} naming it.
void make_folder(const std::filesystem::path& folder);
// The folder with all in it. Throws Error{io} naming it.
void remove_folder(const std::filesystem::path& folder);

}  // namespace plimsoll
