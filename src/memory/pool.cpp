#include "memory/pool.h"

#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "common/fork.h"
#include "memory/host.h"

namespace plimsoll::pool {
namespace {

// Under AddressSanitizer nothing is cached, or it could not see the use of a buffer after its end.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCaching = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kCaching = false;
#else
constexpr bool kCaching = true;
#endif
#else
constexpr bool kCaching = true;
#endif

constexpr int kSmallest = 8;  // the first classes are 64 bytes apart, up to 2^8
constexpr int kClasses = 4 + 4 * (20 - kSmallest);

// Four classes to each doubling: 64, 128, 192, 256, 320, 384, 448, 512, 640, ...
struct Class {
  int index;
  int64_t size;
};

Class class_of(int64_t bytes) noexcept {
  if (bytes <= (1 << kSmallest)) {
    const int64_t step = bytes <= 64 ? 1 : (bytes + 63) / 64;
    return {static_cast<int>(step - 1), step * 64};
  }
  const int power = std::bit_width(static_cast<uint64_t>(bytes - 1)) - 1;  // 2^power < bytes <= 2^(power + 1)
  const int64_t step = int64_t{1} << (power - 2);
  const int64_t quarter = (bytes - (int64_t{1} << power) + step - 1) / step;  // 1 to 4
  return {4 + 4 * (power - kSmallest) + static_cast<int>(quarter) - 1,
          (int64_t{1} << power) + quarter * step};
}

struct FreeBlock {
  FreeBlock* next;
};

struct alignas(64) FreeList {
  ForkMutex mutex{LockOrder::buffers};
  FreeBlock* head = nullptr;
};

struct Lists {
  std::array<FreeList, kClasses> list;
  std::atomic<int64_t> cached{0};
};

// Never destroyed: buffers in static storage may be dropped after any destructor of ours.
Lists& lists() noexcept {
  alignas(Lists) static std::array<std::byte, sizeof(Lists)> storage;
  static Lists* const made = new (storage.data()) Lists;
  return *made;
}

FreeBlock* pop(FreeList& list) noexcept {
  const std::lock_guard lock(list.mutex);
  FreeBlock* block = list.head;
  if (block != nullptr) list.head = block->next;
  return block;
}

}  // namespace

int64_t block_size(int64_t bytes) noexcept { return class_of(bytes).size; }

void* take(int64_t bytes) noexcept {
  const Class c = class_of(bytes);
  Lists& all = lists();
  if (FreeBlock* block = pop(all.list[static_cast<size_t>(c.index)])) {
    all.cached.fetch_sub(c.size, std::memory_order_relaxed);
    return block;
  }
  return host::allocate(c.size);
}

void give(void* block, int64_t bytes) noexcept {
  const Class c = class_of(bytes);
  Lists& all = lists();
  if (!kCaching || all.cached.fetch_add(c.size, std::memory_order_relaxed) + c.size > kMostCached) {
    if (kCaching) all.cached.fetch_sub(c.size, std::memory_order_relaxed);
    host::release(block);
    return;
  }
  FreeList& list = all.list[static_cast<size_t>(c.index)];
  const std::lock_guard lock(list.mutex);
  list.head = new (block) FreeBlock{list.head};
}

int64_t cached() noexcept { return lists().cached.load(std::memory_order_relaxed); }

void trim() noexcept {
  Lists& all = lists();
  for (int64_t size, i = 0; i < kClasses; ++i) {
    size = i < 4 ? (i + 1) * 64 : (int64_t{1} << (kSmallest + (i - 4) / 4)) / 4 * (5 + (i - 4) % 4);
    while (FreeBlock* block = pop(all.list[static_cast<size_t>(i)])) {
      all.cached.fetch_sub(size, std::memory_order_relaxed);
      host::release(block);
    }
  }
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace plimsoll::pool
