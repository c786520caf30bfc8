// Buffer: 64-byte aligned bytes on the host, charged to the account. Small ones come from free lists, so that
// an eager op costs no trip to malloc; large ones are mapped and go back to the OS when dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/budget.h"

namespace plimsoll {

inline constexpr int64_t kAlignment = 64;

class Buffer {
  struct Key {
    explicit Key() = default;
  };

 public:
  // Throws Error{out_of_memory}. The bytes are not set.
  static std::shared_ptr<Buffer> make(int64_t bytes, Owner owner = Owner::tensors);
  // Wraps bytes of someone else, not charged; `keep_alive` is held as long as the buffer.
  static std::shared_ptr<Buffer> wrap(void* data, int64_t bytes, std::shared_ptr<void> keep_alive);

  // What make(bytes) takes from the account: the bytes, rounded up to the block or the pages they lie in.
  static int64_t charge_for(int64_t bytes);

  explicit Buffer(Key) {}  // for make() and wrap() only
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // For code that reads, or that says changed() after it wrote.
  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

  // So that a copy of the contents can be kept as long as it holds. Once a pointer to write with is out
  // (expose()), it may be used at any time and nothing is known for sure any more.
  void changed() noexcept { version_.fetch_add(1, std::memory_order_relaxed); }
  void expose() noexcept { exposed_.store(true, std::memory_order_relaxed); }
  uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  bool exposed() const noexcept { return exposed_.load(std::memory_order_relaxed); }
  Owner owner() const { return owner_; }
  int64_t charged() const { return charged_; }  // to the account; 0: bytes of someone else
  const std::shared_ptr<Budget>& budget() const { return budget_; }  // that they count in too; may be none
  // Charged to `owner` from now on. Requires: no other thread asks for the owner or sets it meanwhile.
  void set_owner(Owner owner) noexcept;

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  int64_t charged_ = 0;  // 0: wrapped
  Owner owner_ = Owner::tensors;
  std::atomic<bool> exposed_{false};
  std::atomic<uint64_t> version_{0};
  std::shared_ptr<void> keep_alive_;
  std::shared_ptr<Budget> budget_;
};

}  // namespace plimsoll
