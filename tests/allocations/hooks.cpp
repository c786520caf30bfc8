#include "allocations/hooks.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
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
std::atomic<int64_t> live{0}, live_from_new{0};
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

// The addresses of the C++ library, whose strings and containers pass a failure on to who called them.
struct Range {
  uintptr_t first = 0, last = 0;
  bool holds(const void* address) const {
    const auto a = reinterpret_cast<uintptr_t>(address);
    return a >= first && a < last;
  }
};

Range find_cxx_library() {
  Range range;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        if (std::strstr(info->dlpi_name, "libstdc++") == nullptr) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          const uintptr_t start = info->dlpi_addr + part.p_vaddr;
          if ((part.p_flags & PF_X) != 0) *static_cast<Range*>(out) = {start, start + part.p_memsz};
        }
        return 1;
      },
      &range);
  return range;
}

// Frame by frame, from the innermost on.
struct Stack {
  Stack() : count(static_cast<size_t>(backtrace(frames.data(), static_cast<int>(frames.size())))) {}
  std::array<void*, 48> frames;
  size_t count;
};

// Whether this program asks, itself or through the C++ library, and not some other library.
bool asked_by_program(const void* caller) {
  static const Range cxx_library = find_cxx_library();
  if (!cxx_library.holds(caller)) return in_program(caller);
  const Stack stack;
  size_t i = 0;
  while (i < stack.count && stack.frames[i] != caller) ++i;
  while (i < stack.count && cxx_library.holds(stack.frames[i])) ++i;
  return i < stack.count && in_program(stack.frames[i]);
}

// nlohmann-json, a library too though its code is in this program, cannot bear it: it allocates in its
// destructor, and its constructors leak.
bool in_json() {
  const Stack stack;
  for (size_t i = 0; i < stack.count; ++i) {
    Dl_info info{};
    if (dladdr(stack.frames[i], &info) == 0 || info.dli_sname == nullptr) continue;
    if (std::strncmp(info.dli_sname, "_ZN8nlohmann", 12) == 0 || std::strstr(info.dli_sname, "_to_json"))
      return true;
  }
  return false;
}

bool fails_now(const void* caller) {
  if (news_left.load(std::memory_order_relaxed) <= 0 || !asked_by_program(caller)) return false;
  if (news_left.fetch_sub(1) != 1) return false;
  if (!in_json()) return true;
  news_left = 1;  // the next one, then
  return false;
}

void* new_bytes(size_t size, size_t alignment, void* caller) {
  note(caller);
  if (fails_now(caller)) throw std::bad_alloc();
  void* p = alignment > 0 ? __libc_memalign(alignment, size) : __libc_malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  live_from_new.fetch_add(1, std::memory_order_relaxed);
  return taken(p);
}

void give_back(void* p) {
  if (p == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(p);
}

void give_back_new(void* p) {
  if (p != nullptr) live_from_new.fetch_sub(1, std::memory_order_relaxed);
  give_back(p);
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
void operator delete(void* p) noexcept { give_back_new(p); }
void operator delete[](void* p) noexcept { give_back_new(p); }
void operator delete(void* p, size_t) noexcept { give_back_new(p); }
void operator delete[](void* p, size_t) noexcept { give_back_new(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back_new(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back_new(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { give_back_new(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { give_back_new(p); }

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
int64_t live_news() { return live_from_new; }

void fail_nth_new(int64_t n) {
  const Stack first;  // whose making loads a library
  news_left = n;
}
bool has_failed() { return news_left <= 0; }

}  // namespace plimsoll::testing
