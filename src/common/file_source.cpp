#include "common/file_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"

namespace plimsoll {

NamelessFile::NamelessFile() {
#ifdef __linux__
  fd_ = Fd(::memfd_create("plimsoll", MFD_CLOEXEC));
#else
  char name[] = "/tmp/plimsoll-XXXXXX";
  fd_ = Fd(::mkstemp(name));
  if (fd_.get() >= 0) {
    ::fcntl(fd_.get(), F_SETFD, FD_CLOEXEC);
    ::unlink(name);
  }
#endif
  if (fd_.get() < 0)
    fail(ErrorKind::io, "file", "no temporary file: ", std::string_view(std::strerror(errno)));
}

void NamelessFile::append(const void* bytes, size_t count) {
  if (!write_at(fd_.get(), bytes, count, size_))
    fail(ErrorKind::io, "file", "no room for a temporary file: ", std::string_view(std::strerror(errno)));
  size_ += count;
}

FileSource NamelessFile::source(std::string name) && {
  auto handle = std::make_shared<Fd>();
  *handle = std::move(fd_);
  return {std::move(handle), 0, size_, std::move(name)};
}

FileSource FileSource::open(const std::filesystem::path& path) {
  std::string name = path.string();
  auto handle = std::make_shared<Fd>();  // first: from here on the descriptor cannot be lost
  *handle = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (handle->get() < 0) {
    fail(errno == ENOENT || errno == ENOTDIR ? ErrorKind::not_found : ErrorKind::io, name,
         "cannot open it: ", std::string_view(std::strerror(errno)));
  }
  struct stat info;
  if (::fstat(handle->get(), &info) != 0) fail(ErrorKind::io, name, "cannot look at it");
  if (!S_ISREG(info.st_mode)) fail(ErrorKind::io, name, "expected a regular file");
  return {std::move(handle), 0, static_cast<uint64_t>(info.st_size), std::move(name)};
}

void FileSource::read(uint64_t offset, void* into, uint64_t count) const {
  if (offset > size_ || count > size_ - offset) {
    fail(ErrorKind::bad_file, name_, "expected ", count, " bytes at ", offset, ", got a file of ", size_,
         ": cut off or damaged");
  }
  char* at = static_cast<char*>(into);
  for (uint64_t done = 0; done < count;) {
    const ssize_t n =
        ::pread(handle_->get(), at + done, count - done, static_cast<off_t>(offset_ + offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(ErrorKind::io, name_, "cannot read: ", std::string_view(std::strerror(errno)));
    if (n == 0) fail(ErrorKind::bad_file, name_, "became shorter while it was read");
    done += static_cast<uint64_t>(n);
  }
}

std::string FileSource::text(uint64_t offset, uint64_t count) const {
  if (offset > size_ || count > size_ - offset) read(offset, nullptr, count);  // throws before it allocates
  std::string bytes(count, '\0');
  read(offset, bytes.data(), count);
  return bytes;
}

FileSource FileSource::part(uint64_t offset, uint64_t count, std::string name) const {
  if (offset > size_ || count > size_ - offset) read(offset, nullptr, count);
  return {handle_, offset_ + offset, count, std::move(name)};
}

int FileSource::fd() const { return handle_->get(); }

}  // namespace plimsoll
