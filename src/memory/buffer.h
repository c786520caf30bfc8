// Buffer: 64-byte aligned bytes on the host, charged to the account, and copies of them on devices. Small
// ones come from free lists, so that an eager op costs no trip to malloc; large ones are mapped and go back
// to the OS when dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/budget.h"
#include "memory/device_copy.h"

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

  // For code that reads, or that says changed() after it wrote. Fetches them first where the newest contents
  // are on a device; then it may throw Error{device}.
  void* data() const {
    if (away_.load(std::memory_order_acquire)) [[unlikely]]
      come_home();
    return data_;
  }
  // For code that writes all of them: nothing is fetched, and what is on devices is stale.
  void* overwrite() noexcept {
    away_.store(false, std::memory_order_release);
    changed();
    return data_;
  }
  // Where they lie on the host, whether or not the newest contents are there.
  void* address() const { return data_; }
  int64_t bytes() const { return bytes_; }

  // So that a copy of the contents can be kept as long as it holds. Once a pointer to write with is out
  // (expose()), it may be used at any time and nothing is known for sure any more.
  void changed() noexcept { version_.fetch_add(1, std::memory_order_relaxed); }
  void expose() noexcept { exposed_.store(true, std::memory_order_relaxed); }
  uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  bool exposed() const noexcept { return exposed_.load(std::memory_order_relaxed); }

  // Copies on devices. Requires: no other thread writes the contents, or changes the copies, meanwhile; any
  // may read.
  DeviceCopy* copy_on(const void* device) const noexcept;
  DeviceCopy& add_copy(std::unique_ptr<DeviceCopy> copy);
  // Whether the newest contents are on a device alone.
  bool is_away() const noexcept { return away_.load(std::memory_order_acquire); }
  // Whether it has the contents. Never true in error: contents that someone on the host holds a pointer to
  // write with count as changed.
  bool is_current(const DeviceCopy& copy) const noexcept;
  void copied_to(DeviceCopy& copy) noexcept { copy.version_ = version(); }
  // The device writes them: from now on they are there alone, until data() is called.
  void written_on(DeviceCopy& copy) noexcept;

  Owner owner() const { return owner_; }
  int64_t charged() const { return charged_; }  // to the account; 0: bytes of someone else
  const std::shared_ptr<Budget>& budget() const { return budget_; }  // that they count in too; may be none
  // Charged to `owner` from now on. Requires: no other thread asks for the owner or sets it meanwhile.
  void set_owner(Owner owner) noexcept;

 private:
  struct Copies {
    std::vector<std::unique_ptr<DeviceCopy>> all;
    DeviceCopy* newest = nullptr;
  };
  void come_home() const;

  void* data_ = nullptr;
  int64_t bytes_ = 0;
  int64_t charged_ = 0;  // 0: wrapped
  Owner owner_ = Owner::tensors;
  std::atomic<bool> exposed_{false};
  mutable std::atomic<bool> away_{false};  // the contents are in a copy alone
  std::atomic<uint64_t> version_{0};
  std::shared_ptr<void> keep_alive_;
  std::shared_ptr<Budget> budget_;
  std::unique_ptr<Copies> copies_;
};

}  // namespace plimsoll
