// A small buffer is one block of the pool: the shared_ptr's counters and the Buffer in front, the bytes
// behind. A large one has its bytes in a mapping of its own, and only the front in the pool.
#include "memory/buffer.h"

#include <mutex>
#include <new>
#include <utility>

#include "common/bytes.h"
#include "common/fork.h"
#include "memory/host.h"
#include "memory/pool.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kFront = 128;
constexpr int64_t kMostBytes = int64_t{1} << 56;  // beyond any address space; keeps sums from overflowing

bool is_mapped(int64_t bytes) { return bytes > pool::kLargestBlock - kFront; }
int64_t mapped_bytes(int64_t bytes) { return host::round_up(bytes, host::page_size()); }

[[noreturn]] void no_memory(int64_t bytes) {
  fail(ErrorKind::out_of_memory, "memory", "the system has no ", bytes_text(bytes), " for a buffer");
}

// Taken by threads that read what is on a device; never destroyed.
ForkMutex& homecoming() {
  static auto* const mutex = new ForkMutex(LockOrder::devices);
  return *mutex;
}

// Gives the one allocation of allocate_shared a tail of `tail` bytes.
template <class T>
struct TailAllocator {
  using value_type = T;
  int64_t tail;
  void** block;  // where allocate() reports the block; not used afterwards

  TailAllocator(int64_t tail_bytes, void** report) : tail(tail_bytes), block(report) {}
  template <class U>
  TailAllocator(const TailAllocator<U>& other) : tail(other.tail), block(other.block) {}

  T* allocate(size_t) {
    static_assert(sizeof(T) <= kFront);
    void* taken = pool::take(kFront + tail);
    if (taken == nullptr) throw std::bad_alloc();
    *block = taken;
    return static_cast<T*>(taken);
  }
  void deallocate(T* taken, size_t) { pool::give(taken, kFront + tail); }
  template <class U>
  bool operator==(const TailAllocator<U>& other) const {
    return tail == other.tail;
  }
};

}  // namespace

int64_t Buffer::charge_for(int64_t bytes) {
  require(bytes >= 0, "memory", "expected a size that is not negative, got ", bytes);
  if (bytes > kMostBytes) no_memory(bytes);
  return is_mapped(bytes) ? mapped_bytes(bytes) : pool::block_size(kFront + bytes);
}

std::shared_ptr<Buffer> Buffer::make(int64_t bytes, Owner owner) {
  const int64_t charge = charge_for(bytes);
  const std::shared_ptr<Budget>& budget = Budget::current();
  account::charge(owner, charge, budget.get());
  std::shared_ptr<Buffer> buffer;
  void* block = nullptr;
  try {
    buffer = std::allocate_shared<Buffer>(TailAllocator<Buffer>(is_mapped(bytes) ? 0 : bytes, &block), Key());
  } catch (const std::bad_alloc&) {
    account::release(owner, charge, budget.get());
    no_memory(bytes);
  }
  buffer->charged_ = charge;  // from here on the destructor gives it back
  buffer->owner_ = owner;
  buffer->budget_ = budget;
  buffer->bytes_ = bytes;
  buffer->data_ = is_mapped(bytes) ? host::map(charge) : static_cast<char*>(block) + kFront;
  if (buffer->data_ == nullptr) no_memory(bytes);
  return buffer;
}

std::shared_ptr<Buffer> Buffer::wrap(void* data, int64_t bytes, std::shared_ptr<void> keep_alive) {
  require(bytes >= 0, "memory", "expected a size that is not negative, got ", bytes);
  void* block = nullptr;
  std::shared_ptr<Buffer> buffer;
  try {
    buffer = std::allocate_shared<Buffer>(TailAllocator<Buffer>(0, &block), Key());
  } catch (const std::bad_alloc&) {
    no_memory(kFront);
  }
  buffer->data_ = data;
  buffer->bytes_ = bytes;
  buffer->keep_alive_ = std::move(keep_alive);
  buffer->expose();
  return buffer;
}

void Buffer::set_owner(Owner owner) noexcept {
  account::hand_over(owner_, owner, charged_);
  owner_ = owner;
}

DeviceCopy* Buffer::copy_on(const void* device) const noexcept {
  if (!copies_) return nullptr;
  for (const auto& copy : copies_->all) {
    if (copy->device() == device) return copy.get();
  }
  return nullptr;
}

DeviceCopy& Buffer::add_copy(std::unique_ptr<DeviceCopy> copy) {
  if (!copies_) copies_ = std::make_unique<Copies>();
  copies_->all.push_back(std::move(copy));
  return *copies_->all.back();
}

bool Buffer::is_current(const DeviceCopy& copy) const noexcept {
  if (away_.load(std::memory_order_relaxed)) return copies_->newest == &copy;
  return copy.version_ == version() && !exposed();
}

void Buffer::written_on(DeviceCopy& copy) noexcept {
  changed();
  copy.version_ = version();
  copies_->newest = &copy;
  away_.store(true, std::memory_order_release);
}

void Buffer::come_home() const {
  const std::lock_guard lock(homecoming());
  if (!away_.load(std::memory_order_relaxed)) return;  // another thread was first
  copies_->newest->fetch(data_);
  away_.store(false, std::memory_order_release);
}

Buffer::~Buffer() {
  if (charged_ == 0) return;
  if (is_mapped(bytes_) && data_ != nullptr) host::unmap(data_, charged_);
  account::release(owner_, charged_, budget_.get());
}

}  // namespace plimsoll
