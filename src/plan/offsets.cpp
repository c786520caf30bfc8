#include "plan/offsets.h"

#include <algorithm>
#include <numeric>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

int64_t aligned(int64_t bytes) { return (bytes + kOffsetAlignment - 1) & ~(kOffsetAlignment - 1); }

void check(std::span<const OffsetItem> items) {
  int64_t sum = 0;
  for (const OffsetItem& item : items) {
    require(item.bytes >= 0, "plan", "expected sizes that are not negative, got ", item.bytes);
    require(item.first <= item.last, "plan", "expected an item to end after it starts, got ", item.first,
            " to ", item.last);
    require(
        item.bytes <= INT64_MAX - kOffsetAlignment && !__builtin_add_overflow(sum, aligned(item.bytes), &sum),
        "plan", "the sizes of all values together overflow 64 bits");
  }
}

// What has its place already, by offset. Times and offsets apart: the scan looks at the times of all items
// and at the offsets of few.
class Placed {
 public:
  explicit Placed(size_t count) {
    spans_.reserve(count);
    ranges_.reserve(count);
    alive_.resize(count);
  }

  // The smallest gap that holds the item among those alive with it, else above them all.
  int64_t put(const OffsetItem& item) {
    const int64_t bytes = aligned(item.bytes);
    int64_t top = 0;  // highest end so far, going up
    int64_t best = -1;
    uint64_t best_slack = INT64_MAX;
    for (const uint32_t i : alive_with(item)) {
      // What the gap below item i leaves over; a gap that is too small wraps around to a huge number.
      const uint64_t slack = static_cast<uint64_t>(ranges_[i].start - top - bytes);
      if (slack < best_slack) {
        best = top;
        best_slack = slack;
      }
      top = std::max(top, ranges_[i].end);
    }
    const int64_t at = best >= 0 ? best : top;
    insert(item, at, at + bytes);
    return at;
  }

 private:
  struct Span {
    int32_t first, last;
  };
  struct Range {
    int64_t start, end;
  };

  // Without a branch, as there is no telling which items overlap in time: this loop is where planning spends
  // its time.
  std::span<const uint32_t> alive_with(const OffsetItem& item) {
    size_t count = 0;
    for (size_t i = 0; i < spans_.size(); ++i) {
      alive_[count] = static_cast<uint32_t>(i);
      count += size_t{spans_[i].first <= item.last} & size_t{spans_[i].last >= item.first};
    }
    return {alive_.data(), count};
  }

  void insert(const OffsetItem& item, int64_t start, int64_t end) {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), start,
                                        [](int64_t value, const Range& r) { return value < r.start; });
    spans_.insert(spans_.begin() + (after - ranges_.begin()), {item.first, item.last});
    ranges_.insert(after, {start, end});
  }

  std::vector<Span> spans_;
  std::vector<Range> ranges_;
  std::vector<uint32_t> alive_;  // what alive_with() returns
};

Offsets place_in_order(std::span<const OffsetItem> items, std::span<const uint32_t> order) {
  Offsets result;
  result.at.resize(items.size());
  Placed placed(items.size());
  for (const uint32_t i : order) {
    if (items[i].bytes == 0) continue;
    result.at[i] = placed.put(items[i]);
    result.total = std::max(result.total, result.at[i] + aligned(items[i].bytes));
  }
  return result;
}

// Largest key first, then in the order given.
template <class Key>
std::vector<uint32_t> order_by(std::span<const OffsetItem> items, Key key) {
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return key(items[a]) > key(items[b]); });
  return order;
}

// What may go into looking for better places: tries, and items looked at (a hundredth of a second or two).
constexpr size_t kTries = 64;
constexpr size_t kWork = 16'000'000;

// What lies highest is put first, and the others find their places around it: again and again, each time from
// the order before.
void lower_the_highest(std::span<const OffsetItem> items, std::vector<uint32_t> order, int64_t bound,
                       Offsets& best) {
  if (best.total <= bound) return;
  std::erase_if(order, [&](uint32_t i) { return items[i].bytes == 0; });
  const size_t work = order.size() * order.size();
  Offsets now = place_in_order(items, order);
  for (size_t i = 1; i <= kTries && i * work <= kWork && best.total > bound; ++i) {
    const auto end = [&](uint32_t item) { return now.at[item] + aligned(items[item].bytes); };
    const auto highest = std::ranges::max_element(order, {}, end);
    std::rotate(order.begin(), highest, highest + 1);
    now = place_in_order(items, order);
    if (now.total < best.total) best = now;
  }
}

double lifetime(const OffsetItem& item) { return static_cast<double>(item.last) - item.first + 1; }
double size(const OffsetItem& item) { return static_cast<double>(item.bytes); }

}  // namespace

int64_t live_bytes_bound(std::span<const OffsetItem> items) {
  check(items);
  if (items.empty()) return 0;
  // Bytes that come alive at a step, and that have died before it.
  std::vector<std::pair<int32_t, int64_t>> changes;
  changes.reserve(2 * items.size());
  for (const OffsetItem& item : items) {
    changes.emplace_back(item.first, aligned(item.bytes));
    if (item.last < INT32_MAX) changes.emplace_back(item.last + 1, -aligned(item.bytes));
  }
  std::sort(changes.begin(), changes.end());  // at one step deaths come first
  int64_t live = 0;
  int64_t most = 0;
  for (const auto& [step, bytes] : changes) most = std::max(most, live += bytes);
  return most;
}

Offsets assign_offsets(std::span<const OffsetItem> items) {
  const int64_t bound = live_bytes_bound(items);
  const std::vector<uint32_t> by_size = order_by(items, size);
  Offsets best = place_in_order(items, by_size);
  const auto improve = [&](const std::vector<uint32_t>& order) {
    if (best.total <= bound) return;
    Offsets other = place_in_order(items, order);
    if (other.total < best.total) best = std::move(other);
  };
  improve(order_by(items, [](const OffsetItem& item) { return size(item) * lifetime(item); }));
  improve(order_by(items, lifetime));
  lower_the_highest(items, by_size, bound, best);
  return best;
}

}  // namespace plimsoll
