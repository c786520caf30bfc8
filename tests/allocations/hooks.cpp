#include "allocations/hooks.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

#include "allocations/json_code.h"

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
std::atomic<int64_t> heap_bytes{0}, heap_peak{0}, onednn_bytes{0};
std::atomic<int64_t> news_left{0};

void note(void* caller) {
  if (!counting.load(std::memory_order_relaxed)) return;
  const size_t at = callers_seen.fetch_add(1, std::memory_order_relaxed);
  if (at < kMostCallers) callers[at].store(caller, std::memory_order_relaxed);
}

// The addresses of a library's code.
struct Range {
  uintptr_t first = 0, last = 0;
  bool holds(const void* address) const {
    const auto a = reinterpret_cast<uintptr_t>(address);
    return a >= first && a < last;
  }
};

Range find_library(const char* name) {
  struct Search {
    const char* name;
    Range range;
  } search{name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto& s = *static_cast<Search*>(out);
        if (std::strstr(info->dlpi_name, s.name) == nullptr) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          const uintptr_t start = info->dlpi_addr + part.p_vaddr;
          if ((part.p_flags & PF_X) != 0) s.range = {start, start + part.p_memsz};
        }
        return 1;
      },
      &search);
  return search.range;
}

const Range onednn_code = find_library("onednn");  // empty until this is set: what came before is not noted

// Blocks of the heap that oneDNN has asked for. Holds no memory of its own.
class Blocks {
 public:
  bool add(void* block) {
    const Locked lock(lock_);
    size_t i = place(block);
    for (size_t n = 0; n < slots_.size(); ++n, i = (i + 1) % slots_.size()) {
      if (slots_[i] != nullptr && slots_[i] != &gone_) continue;
      slots_[i] = block;
      return true;
    }
    return false;
  }
  // Whether it was there.
  bool remove(void* block) {
    const Locked lock(lock_);
    size_t i = place(block);
    for (size_t n = 0; n < slots_.size() && slots_[i] != nullptr; ++n, i = (i + 1) % slots_.size()) {
      if (slots_[i] != block) continue;
      slots_[i] = &gone_;
      return true;
    }
    return false;
  }

 private:
  struct Locked {
    explicit Locked(std::atomic_flag& f) : flag(f) {
      while (flag.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Locked() { flag.clear(std::memory_order_release); }
    std::atomic_flag& flag;
  };
  size_t place(void* block) const {
    return reinterpret_cast<uintptr_t>(block) / 16 * 2654435761u % slots_.size();
  }

  std::atomic_flag lock_;
  std::array<void*, 1 << 18> slots_{};
  char gone_ = 0;  // its address marks a slot whose block is gone
};
Blocks onednn_blocks;

int64_t size_of(void* p) { return static_cast<int64_t>(malloc_usable_size(p)); }

void add_heap_bytes(int64_t bytes) {
  const int64_t now = heap_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = heap_peak.load(std::memory_order_relaxed);
  while (now > peak && !heap_peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void* taken(void* p, const void* caller) {
  if (p == nullptr) return p;
  live.fetch_add(1, std::memory_order_relaxed);
  add_heap_bytes(size_of(p));
  if (onednn_code.holds(caller) && onednn_blocks.add(p)) onednn_bytes += size_of(p);
  return p;
}

// Anonymous pages, as ranges apart from each other, and how many bytes of them can be used. Holds no memory
// of its own.
class Pages {
 public:
  void map(void* address, size_t length, bool usable) {
    change(
        address, length,
        [&](Range r) {
          add({r.first, r.last, usable});
        },
        [](Range) {});
  }
  void unmap(void* address, size_t length) {
    change(
        address, length, [](Range) {}, [](Range) {});
  }
  // Of pages that are not mapped here, which some libraries take from the heap, nothing is noted.
  void protect(void* address, size_t length, bool usable) {
    change(
        address, length, [](Range) {},
        [&](Range r) {
          add({r.first, r.last, usable});
        });
  }
  int64_t usable_bytes() const { return bytes_; }

 private:
  static constexpr uintptr_t kPage = 4096;
  struct Range {
    uintptr_t first, last;
    bool usable;
  };

  // Takes the pages out, calls `part` for each range of them that was there, then `whole`.
  template <class Whole, class Part>
  void change(void* address, size_t length, const Whole& whole, const Part& part) {
    const auto first = reinterpret_cast<uintptr_t>(address);
    const uintptr_t last = first + (length + kPage - 1) / kPage * kPage;
    while (lock_.test_and_set(std::memory_order_acquire)) {
    }
    for (size_t i = count_; i-- > 0;) {
      const Range r = ranges_[i];
      if (r.last <= first || r.first >= last) continue;
      ranges_[i] = ranges_[--count_];
      bytes_ -= bytes_of(r);
      add({r.first, first, r.usable});
      add({last, r.last, r.usable});
      part({std::max(r.first, first), std::min(r.last, last), r.usable});
    }
    whole({first, last, false});
    lock_.clear(std::memory_order_release);
  }
  void add(Range r) {
    if (r.first >= r.last || count_ == ranges_.size()) return;
    ranges_[count_++] = r;
    bytes_ += bytes_of(r);
  }
  static int64_t bytes_of(Range r) { return r.usable ? static_cast<int64_t>(r.last - r.first) : 0; }

  std::atomic_flag lock_;
  std::array<Range, 1 << 14> ranges_;
  size_t count_ = 0;
  std::atomic<int64_t> bytes_{0};
};
Pages pages;

bool in_program(const void* address) { return address >= &__executable_start && address < &etext; }

// Frame by frame, from the innermost on.
struct Stack {
  Stack() : count(static_cast<size_t>(backtrace(frames.data(), static_cast<int>(frames.size())))) {}
  std::array<void*, 48> frames;
  size_t count;
};

// Whether this program asks, itself or through the C++ library, and not some other library.
bool asked_by_program(const void* caller) {
  // Its strings and containers pass a failure on to who called them.
  static const Range cxx_library = find_library("libstdc++");
  if (!cxx_library.holds(caller)) return in_program(caller);
  const Stack stack;
  size_t i = 0;
  while (i < stack.count && stack.frames[i] != caller) ++i;
  while (i < stack.count && cxx_library.holds(stack.frames[i])) ++i;
  return i < stack.count && in_program(stack.frames[i]);
}

// nlohmann-json is a library too, though its code is in this program: its constructors leak.
std::atomic<bool> json_too{false};
[[maybe_unused]] const bool symbols_are_read =
    plimsoll::testing::is_json_code(nullptr);  // before anything is counted
bool in_json() {
  const Stack stack;
  return std::any_of(stack.frames.begin(), stack.frames.begin() + static_cast<ptrdiff_t>(stack.count),
                     plimsoll::testing::is_json_code);
}

bool fails_now(const void* caller) {
  if (news_left.load(std::memory_order_relaxed) <= 0 || !asked_by_program(caller)) return false;
  if (news_left.fetch_sub(1) != 1) return false;
  if (json_too || !in_json()) return true;
  news_left = 1;  // the next one, then
  return false;
}

void* new_bytes(size_t size, size_t alignment, void* caller) {
  note(caller);
  if (fails_now(caller)) throw std::bad_alloc();
  void* p = alignment > 0 ? __libc_memalign(alignment, size) : __libc_malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  live_from_new.fetch_add(1, std::memory_order_relaxed);
  return taken(p, caller);
}

void give_back(void* p) {
  if (p == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  heap_bytes.fetch_sub(size_of(p), std::memory_order_relaxed);
  if (onednn_bytes > 0 && onednn_blocks.remove(p)) onednn_bytes -= size_of(p);
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
  return taken(__libc_malloc(size), __builtin_return_address(0));
}
void* calloc(size_t count, size_t size) {
  note(__builtin_return_address(0));
  return taken(__libc_calloc(count, size), __builtin_return_address(0));
}
void* realloc(void* p, size_t size) {
  note(__builtin_return_address(0));
  if (p == nullptr) return taken(__libc_malloc(size), __builtin_return_address(0));
  const int64_t before = size_of(p);
  const bool onednn = onednn_bytes > 0 && onednn_blocks.remove(p);
  void* moved = __libc_realloc(p, size);
  const int64_t more = (moved != nullptr ? size_of(moved) : 0) - before;
  add_heap_bytes(more);
  if (onednn) onednn_bytes += moved != nullptr && onednn_blocks.add(moved) ? more : -before;
  return moved;
}
void* memalign(size_t alignment, size_t size) {
  note(__builtin_return_address(0));
  return taken(__libc_memalign(alignment, size), __builtin_return_address(0));
}
void* aligned_alloc(size_t alignment, size_t size) {
  note(__builtin_return_address(0));
  return taken(__libc_memalign(alignment, size), __builtin_return_address(0));
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  note(__builtin_return_address(0));
  *out = taken(__libc_memalign(alignment, size), __builtin_return_address(0));
  return *out == nullptr ? ENOMEM : 0;
}
void free(void* p) { give_back(p); }
void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  note(__builtin_return_address(0));
  void* p = reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, file, offset));
  if (p != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0 && !onednn_code.holds(__builtin_return_address(0)))
    pages.map(p, length, protection != PROT_NONE);
  return p;
}
int munmap(void* address, size_t length) noexcept {
  pages.unmap(address, length);
  return static_cast<int>(syscall(SYS_munmap, address, length));
}
int mprotect(void* address, size_t length, int protection) noexcept {
  pages.protect(address, length, protection != PROT_NONE);
  return static_cast<int>(syscall(SYS_mprotect, address, length, protection));
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
int64_t live_bytes() { return heap_bytes - onednn_bytes + pages.usable_bytes(); }
int64_t peak_heap_bytes() { return heap_peak.exchange(heap_bytes.load()); }

void fail_nth_new(int64_t n) {
  const Stack first;  // whose making loads a library
  news_left = n;
}
void fail_in_json(bool on) { json_too = on; }
bool has_failed() { return news_left <= 0; }

}  // namespace plimsoll::testing
