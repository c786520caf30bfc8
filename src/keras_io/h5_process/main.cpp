// plimsoll-h5 OFFSET SIZE: reads the HDF5 file that lies at OFFSET of standard input and writes its tree to
// standard output, as keras_io/h5_wire.h says. The file is mapped and handed to libhdf5 as an image, so that
// this process needs no file but those two: it gives up the right to open any, bounds its memory and time,
// and a file made to take libhdf5 over gets nothing but the right to write a strange stream.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <exception>

#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "keras_io/h5_process/walk.h"

namespace {

constexpr rlim_t kMemory = 1u << 30;  // beside the file itself
constexpr uint64_t kBytesPerSecond = 20u << 20;
constexpr rlim_t kSeconds = 30;

void limit(int resource, rlim_t most) {
  const rlimit value{most, most};
  ::setrlimit(resource, &value);  // cannot fail for what is below the present limit; above it, that one stays
}

void give_up_rights(uint64_t size) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef SYS_close_range
  ::syscall(SYS_close_range, 3u, ~0u, 0u);
#endif
#endif
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 0);
  limit(RLIMIT_CPU, kSeconds + size / kBytesPerSecond);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these map terabytes for themselves
  limit(RLIMIT_AS, size + kMemory);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const uint64_t offset = std::strtoull(argv[1], nullptr, 10), size = std::strtoull(argv[2], nullptr, 10);
  give_up_rights(size);
  const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)), skip = offset % page;
  void* mapped = ::mmap(nullptr, size + skip, PROT_READ | PROT_WRITE, MAP_PRIVATE, STDIN_FILENO,
                        static_cast<off_t>(offset - skip));
  if (mapped == MAP_FAILED) return 3;
  try {
    plimsoll::keras_io::walk_image(static_cast<char*>(mapped) + skip, size, STDOUT_FILENO);
  } catch (const std::exception&) {
    return 4;  // no memory, or nobody reads
  }
  return 0;
}
