#include "workplace.h"

#include <nanobind/nanobind.h>

#include <algorithm>

#include "plimsoll/error.h"
#include "unlocked.h"

namespace plimsoll::python {

bool Workplace::try_enter() {
  const std::scoped_lock lock(mutex_);
  if (last_ != served_) return false;
  ++last_;
  return true;
}

void Workplace::enter() {
  std::unique_lock lock(mutex_);
  const uint64_t mine = ++last_;
  left_.wait(lock, [&] { return served_ + 1 == mine; });
}

void Workplace::leave() {
  const std::scoped_lock lock(mutex_);
  ++served_;
  left_.notify_all();
}

std::span<const Tensor> Workplace::batch(std::span<const TensorType> types) {
  const bool same = std::ranges::equal(
      batch_, types, [](const Tensor& t, const TensorType& type) { return t.type() == type; });
  if (!same) {
    batch_.clear();
    for (const TensorType& type : types) batch_.push_back(Tensor::empty(type.dtype, type.shape));
  }
  return batch_;
}

void Workplace::hold_spilled(int64_t bytes) {
  if (bytes <= spilled_) return;
  spilled_ = 0;
  window_.set(Owner::state, bytes);
  spilled_ = bytes;
}

Workplace::Turn::Turn(std::shared_ptr<Workplace> place) : place_(std::move(place)) {
  require(!place_->is_mine(), "program",
          "expected one step of a model at a time, got one that was begun inside of another");
  if (!place_->try_enter()) {
    const Unlocked unlocked;
    place_->enter();
  }
  place_->owner_ = std::this_thread::get_id();
}

Workplace::Turn::~Turn() {
  place_->owner_ = std::thread::id();
  place_->leave();
}

}  // namespace plimsoll::python
