// plimsoll-h5: the program that has libhdf5; what it does is in h5/wire.h. A file of others gets nothing from
// taking libhdf5 over but the right to say strange things: before one is opened the program gives up the
// right to open more, and bounds its memory and, where the work has an end, its time.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string_view>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "h5/program/rows.h"
#include "h5/program/walk.h"
#include "h5/program/write.h"

namespace {

constexpr int kSocket = 1;
constexpr rlim_t kMemory = 1u << 30;  // beside the file itself and caches
constexpr uint64_t kBytesPerSecond = 20u << 20;
constexpr rlim_t kSeconds = 30;

void limit(int resource, rlim_t most) {
  const rlimit value{most, most};
  ::setrlimit(resource, &value);  // cannot fail for what is below the present limit; above it, that one stays
}

void close_the_rest() {
#if defined(__linux__) && defined(SYS_close_range)
  ::syscall(SYS_close_range, 3u, ~0u, 0u);
#endif
}

void limit_memory(uint64_t bytes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these map terabytes for themselves
  rlimit value{};
  ::getrlimit(RLIMIT_AS, &value);
  value.rlim_cur = value.rlim_max == RLIM_INFINITY || bytes < value.rlim_max ? bytes : value.rlim_max;
  ::setrlimit(RLIMIT_AS, &value);
#else
  (void)bytes;
#endif
}

// Of descriptors `files` may be open: nothing that the file names can be opened beside it.
void give_up_rights(rlim_t files) {
  close_the_rest();
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, files);
}

// The file is mapped and handed to libhdf5 as an image.
int tree(uint64_t offset, uint64_t size) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  give_up_rights(0);
  limit(RLIMIT_CPU, kSeconds + size / kBytesPerSecond);
  limit_memory(size + kMemory);
  const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)), skip = offset % page;
  void* mapped = ::mmap(nullptr, size + skip, PROT_READ | PROT_WRITE, MAP_PRIVATE, STDIN_FILENO,
                        static_cast<off_t>(offset - skip));
  if (mapped == MAP_FAILED) return 3;
  plimsoll::h5::walk_image(static_cast<char*>(mapped) + skip, size, kSocket);
  return 0;
}

int rows() {
  constexpr rlim_t kStandardAndTheFile = 4;
  give_up_rights(kStandardAndTheFile);
  uint64_t memory = kMemory;
  limit_memory(memory);
  plimsoll::h5::serve_rows(kSocket, [&](uint64_t bytes) { limit_memory(memory += bytes); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  try {
    if (command == "tree" && argc == 4)
      return tree(std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
    if (command == "rows" && argc == 2) return rows();
    if (command == "write" && argc == 3) {
      close_the_rest();
      ::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit on sizes is an error to tell
      plimsoll::h5::write_file(argv[2], kSocket);
      return 0;
    }
  } catch (const std::exception&) {
    ::_exit(4);  // no memory, or nobody speaks or reads any more: libhdf5 shall not finish what it has open
  }
  return 2;
}
