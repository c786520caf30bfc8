#include "memory/host.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace plimsoll::host {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kHugeFrom = 2 * kHugePage;  // below this, aligning costs more than huge pages bring

std::atomic<int64_t> request_count{0};
std::atomic<int64_t> fail_countdown{0};

bool chosen_to_fail() noexcept {
  request_count.fetch_add(1, std::memory_order_relaxed);
  int64_t left = fail_countdown.load(std::memory_order_relaxed);
  while (left > 0) {
    if (fail_countdown.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) return left == 1;
  }
  return false;
}

void* map_pages(int64_t bytes, int protection, int flags) noexcept {
  void* block =
      ::mmap(nullptr, static_cast<size_t>(bytes), protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return block == MAP_FAILED ? nullptr : block;
}

void ask_for_huge_pages(void* start, int64_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  // Refused where the system does not allow huge pages: small ones serve as well.
  (void)::madvise(start, static_cast<size_t>(bytes), MADV_HUGEPAGE);
#else
  (void)start;
  (void)bytes;
#endif
}

// A mapping that starts at a multiple of kHugePage: map more, cut off both ends.
void* map_aligned(int64_t bytes, int protection, int flags) noexcept {
  char* block = static_cast<char*>(map_pages(bytes + kHugePage, protection, flags));
  if (block == nullptr) return nullptr;
  const int64_t head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(block) & (kHugePage - 1));
  if (head > 0) ::munmap(block, static_cast<size_t>(head));
  if (head < kHugePage) ::munmap(block + head + bytes, static_cast<size_t>(kHugePage - head));
  return block + head;
}

}  // namespace

int64_t page_size() noexcept {
  static const int64_t size = ::sysconf(_SC_PAGESIZE);
  return size;
}

void* allocate(int64_t bytes) noexcept {
  if (chosen_to_fail()) return nullptr;
  return std::aligned_alloc(64, static_cast<size_t>(round_up(bytes, 64)));
}

void release(void* block) noexcept { std::free(block); }

void* map(int64_t bytes) noexcept {
  if (chosen_to_fail()) return nullptr;
  if (bytes < kHugeFrom) return map_pages(bytes, PROT_READ | PROT_WRITE, 0);
  void* block = map_aligned(bytes, PROT_READ | PROT_WRITE, 0);
  if (block != nullptr) ask_for_huge_pages(block, bytes);
  return block;
}

void unmap(void* block, int64_t bytes) noexcept { ::munmap(block, static_cast<size_t>(bytes)); }

void* reserve(int64_t bytes) noexcept {
  if (chosen_to_fail()) return nullptr;
  return bytes < kHugeFrom ? map_pages(bytes, PROT_NONE, MAP_NORESERVE)
                           : map_aligned(bytes, PROT_NONE, MAP_NORESERVE);
}

bool commit(void* start, int64_t bytes) noexcept {
  if (chosen_to_fail()) return false;
  if (::mprotect(start, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE) != 0) return false;
  if (bytes >= kHugeFrom) ask_for_huge_pages(start, bytes);
  return true;
}

void decommit(void* start, int64_t bytes) noexcept {
  // A fresh mapping in the same place drops the pages and, unlike madvise, what the OS has set aside for
  // them.
  if (::mmap(start, static_cast<size_t>(bytes), PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    (void)::madvise(start, static_cast<size_t>(bytes), MADV_DONTNEED);
    (void)::mprotect(start, static_cast<size_t>(bytes), PROT_NONE);
  }
}

void fail_nth(int64_t n) noexcept { fail_countdown.store(n < 0 ? 0 : n, std::memory_order_relaxed); }
int64_t requests() noexcept { return request_count.load(std::memory_order_relaxed); }

}  // namespace plimsoll::host
