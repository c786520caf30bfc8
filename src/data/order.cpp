#include "data/order.h"

#include <algorithm>

#include "data/mix.h"
#include "data/permutation.h"
#include "plimsoll/shape.h"

namespace plimsoll::data {
namespace {

int64_t size_after(int64_t records, const OrderStep& step) {
  switch (step.kind) {
    case OrderStep::Kind::take: return std::min(records, step.count);
    case OrderStep::Kind::skip: return records - std::min(records, step.count);
    case OrderStep::Kind::repeat: return checked_mul(records, step.count, "dataset");
    case OrderStep::Kind::shuffle: break;
  }
  return records;
}

}  // namespace

int64_t size_after(int64_t records, const std::vector<OrderStep>& steps) {
  for (const OrderStep& step : steps) records = size_after(records, step);
  return records;
}

Order::Order(int64_t records, const std::vector<OrderStep>& steps, uint64_t epoch)
    : steps_(steps), sizes_{records}, epoch_(epoch) {
  for (const OrderStep& step : steps_) sizes_.push_back(size_after(sizes_.back(), step));
}

int64_t Order::operator[](int64_t position) const {
  uint64_t epoch = epoch_;  // of what stands before the step: each repetition has one of its own
  for (size_t i = steps_.size(); i-- > 0;) {
    const OrderStep& step = steps_[i];
    const int64_t n = sizes_[i];
    switch (step.kind) {
      case OrderStep::Kind::take: break;
      case OrderStep::Kind::skip: position += std::min(n, step.count); break;
      case OrderStep::Kind::repeat:
        epoch = mix(epoch, static_cast<uint64_t>(position / n));
        position %= n;
        break;
      case OrderStep::Kind::shuffle: {
        const uint64_t key = mix(step.seed, epoch);
        position = step.window > 0 && step.window < n ? windowed(n, step.window, key, position)
                                                      : Permutation(n, key)[position];
        break;
      }
    }
  }
  return position;
}

int64_t windowed(int64_t n, int64_t window, uint64_t key, int64_t i) {
  const int64_t whole = n / window;  // windows; what is left over comes last
  const int64_t at = i / window;
  const int64_t in_window = i % window;
  const int64_t start = at < whole ? Permutation(whole, key)[at] * window : whole * window;
  const int64_t length = at < whole ? window : n - whole * window;
  const int64_t place = start + Permutation(length, mix(key, static_cast<uint64_t>(start)))[in_window];
  const auto turn = static_cast<int64_t>(below(mix(key, ~uint64_t{0}), static_cast<uint64_t>(n)));
  return place < n - turn ? place + turn : place - (n - turn);
}

}  // namespace plimsoll::data
