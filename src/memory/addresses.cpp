#include "memory/addresses.h"

#include <sys/mman.h>

#include <algorithm>

#include "plimsoll/error.h"

namespace plimsoll {

std::shared_ptr<Buffer> addresses(int64_t bytes) {
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* pages =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) fail(ErrorKind::out_of_memory, "forecast", "no addresses for ", bytes, " bytes");
  return Buffer::wrap(pages, bytes, std::shared_ptr<void>(pages, [size](void* p) { ::munmap(p, size); }));
}

}  // namespace plimsoll
