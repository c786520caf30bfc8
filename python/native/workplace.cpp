#include "workplace.h"

#include <nanobind/nanobind.h>

#include "plimsoll/error.h"

namespace plimsoll::python {

void Workplace::wait() {
  const nanobind::gil_scoped_release released;
  const std::scoped_lock lock(mutex_);
}

Workplace::Turn::Turn(std::shared_ptr<Workplace> place) : place_(std::move(place)) {
  require(!place_->is_mine(), "program",
          "expected one step of a model at a time, got one that was begun inside of another");
  if (!place_->mutex_.try_lock()) {
    const nanobind::gil_scoped_release released;
    place_->mutex_.lock();
  }
  place_->owner_ = std::this_thread::get_id();
}

Workplace::Turn::~Turn() {
  place_->owner_ = std::thread::id();
  place_->mutex_.unlock();
}

}  // namespace plimsoll::python
