// The functions that hand out memory, in front of the C library's. The small ones pass with one comparison.
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard/gate/gate.h"

using plimsoll::gate::kReserve;
using plimsoll::gate::refuse;
using plimsoll::gate::refused;

// The C library's own, under the names it exports for this purpose.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

PLIMSOLL_EXPORT void* malloc(size_t size) { return refused(size) ? nullptr : __libc_malloc(size); }

PLIMSOLL_EXPORT void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes) && refused(bytes)) return nullptr;
  return __libc_calloc(count, size);
}

PLIMSOLL_EXPORT void* realloc(void* old, size_t size) {
  if (__builtin_expect(size >= kReserve, 0)) {
    const size_t had = old ? ::malloc_usable_size(old) : 0;
    if (size > had && refuse(size, size - had)) return nullptr;
  }
  return __libc_realloc(old, size);
}

PLIMSOLL_EXPORT void* reallocarray(void* old, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return ::realloc(old, bytes);
}

PLIMSOLL_EXPORT void* memalign(size_t alignment, size_t size) {
  return refused(size) ? nullptr : __libc_memalign(alignment, size);
}

PLIMSOLL_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  return refused(size) ? nullptr : __libc_memalign(alignment, size);
}

PLIMSOLL_EXPORT int posix_memalign(void** out, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* memory = refused(size) ? nullptr : __libc_memalign(alignment, size);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}

namespace {

// Python takes memory for small objects in pieces of these sizes (from 3.10 on, and before). Without one it
// asks malloc for each object, after asking for the piece once more: nothing is saved, and all gets slow.
bool is_for_small_objects(const void* address, size_t size) {
  return !address && (size == 1024 * 1024 || size == 256 * 1024);
}

}  // namespace

// Address space that is only reserved (PROT_NONE, MAP_NORESERVE) costs nothing and passes.
PLIMSOLL_EXPORT void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  const bool takes_memory = (flags & MAP_ANONYMOUS) && (protection & PROT_WRITE) && !(flags & MAP_NORESERVE);
  if (takes_memory && !is_for_small_objects(address, size) && refused(size)) return MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, address, size, protection, flags, fd, offset));
}

PLIMSOLL_EXPORT void* mmap64(void* address, size_t size, int protection, int flags, int fd, off64_t offset) {
  return ::mmap(address, size, protection, flags, fd, offset);
}
