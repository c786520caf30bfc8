// DeviceAccount: what the engine holds on one device, by owner, with a line of its own: as the account for
// the host. All functions may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include "memory/account.h"

namespace plimsoll {

class DeviceAccount {
 public:
  explicit DeviceAccount(std::string device) : device_(std::move(device)) {}

  // Throws Error{out_of_memory} with the numbers if it would cross the line; nothing is taken then.
  void charge(Owner owner, int64_t bytes);
  void release(Owner owner, int64_t bytes) noexcept;

  int64_t used() const;
  int64_t used(Owner owner) const;
  int64_t peak() const;  // the most it has held
  int64_t limit() const;
  void set_limit(int64_t bytes);  // may lie below used(): only further charges are refused

 private:
  const std::string device_;
  mutable std::mutex mutex_;
  std::array<int64_t, kOwnerCount> by_owner_{};
  int64_t used_ = 0, peak_ = 0, limit_ = account::kNoLimit;
};

}  // namespace plimsoll
