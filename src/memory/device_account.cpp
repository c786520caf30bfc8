#include "memory/device_account.h"

#include <algorithm>

#include "common/bytes.h"
#include "plimsoll/error.h"

namespace plimsoll {

void DeviceAccount::charge(Owner owner, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (used_ > limit_ || bytes > limit_ - used_) {
    fail(ErrorKind::out_of_memory, device_, bytes_text(bytes), " for ", name_of(owner),
         " would cross its line of ", bytes_text(limit_), ": ", bytes_text(used_), " are in use");
  }
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  by_owner_[static_cast<size_t>(owner)] += bytes;
}

void DeviceAccount::release(Owner owner, int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
  by_owner_[static_cast<size_t>(owner)] -= bytes;
}

int64_t DeviceAccount::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}
int64_t DeviceAccount::used(Owner owner) const {
  const std::lock_guard lock(mutex_);
  return by_owner_[static_cast<size_t>(owner)];
}
int64_t DeviceAccount::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}
int64_t DeviceAccount::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}
void DeviceAccount::set_limit(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = std::max<int64_t>(bytes, 0);
}

}  // namespace plimsoll
