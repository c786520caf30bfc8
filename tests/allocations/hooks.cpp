#include "allocations/hooks.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
extern char __executable_start;
extern char etext;
}

namespace {

constexpr size_t kMostCallers = 1 << 16;
std::atomic<bool> counting{false};
std::atomic<size_t> callers_seen{0};
std::array<std::atomic<void*>, kMostCallers> callers;
std::atomic<int64_t> live{0};
std::atomic<int64_t> news_left{0};

void note(void* caller) {
  if (!counting.load(std::memory_order_relaxed)) return;
  const size_t at = callers_seen.fetch_add(1, std::memory_order_relaxed);
  if (at < kMostCallers) callers[at].store(caller, std::memory_order_relaxed);
}

void* taken(void* p) {
  if (p != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return p;
}

bool in_program(const void* address) { return address >= &__executable_start && address < &etext; }

void* new_bytes(size_t size, size_t alignment, void* caller) {
  note(caller);
  if (news_left.load(std::memory_order_relaxed) > 0 && in_program(caller) && news_left.fetch_sub(1) == 1) {
    throw std::bad_alloc();
  }
  void* p = alignment > 0 ? __libc_memalign(alignment, size) : __libc_malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  return taken(p);
}

void give_back(void* p) {
  if (p == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(p);
}

std::string library_of(void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "unknown";
  const std::string path = info.dli_fname;
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

extern "C" {

void* malloc(size_t size) {
  note(__builtin_return_address(0));
  return taken(__libc_malloc(size));
}
void* calloc(size_t count, size_t size) {
  note(__builtin_return_address(0));
  return taken(__libc_calloc(count, size));
}
void* realloc(void* p, size_t size) {
  note(__builtin_return_address(0));
  void* moved = __libc_realloc(p, size);
  return p == nullptr ? taken(moved) : moved;
}
void* memalign(size_t alignment, size_t size) {
  note(__builtin_return_address(0));
  return taken(__libc_memalign(alignment, size));
}
void* aligned_alloc(size_t alignment, size_t size) {
  note(__builtin_return_address(0));
  return taken(__libc_memalign(alignment, size));
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  note(__builtin_return_address(0));
  *out = taken(__libc_memalign(alignment, size));
  return *out == nullptr ? ENOMEM : 0;
}
void free(void* p) { give_back(p); }
void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  note(__builtin_return_address(0));
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

}  // extern "C"

void* operator new(size_t size) { return new_bytes(size, 0, __builtin_return_address(0)); }
void* operator new[](size_t size) { return new_bytes(size, 0, __builtin_return_address(0)); }
void* operator new(size_t size, std::align_val_t a) {
  return new_bytes(size, static_cast<size_t>(a), __builtin_return_address(0));
}
void* operator new[](size_t size, std::align_val_t a) {
  return new_bytes(size, static_cast<size_t>(a), __builtin_return_address(0));
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, size_t) noexcept { give_back(p); }
void operator delete[](void* p, size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { give_back(p); }

namespace plimsoll::testing {

void start_counting() {
  callers_seen = 0;
  counting = true;
}

std::map<std::string, int64_t> stop_counting() {
  counting = false;
  std::map<std::string, int64_t> by_library;
  const size_t seen = callers_seen;
  for (size_t i = 0; i < seen; ++i) ++by_library[i < kMostCallers ? library_of(callers[i]) : "further ones"];
  return by_library;
}

int64_t live_allocations() { return live; }

void fail_nth_new(int64_t n) { news_left = n; }
bool has_failed() { return news_left <= 0; }

}  // namespace plimsoll::testing
