#include "plan/recompute.h"

#include <algorithm>
#include <cmath>

namespace plimsoll {
namespace {

// A plan with more runs than this many times the nodes is not worth having.
constexpr size_t kMostRepeats = 4;
// Of the work, what may go into undoing for one target.
constexpr size_t kUndoing = 200;
// Of the bytes over the target, the part that goes before the peak is looked for again.
constexpr double kAtOnce = 0.3;
constexpr uint16_t kMostDrops = 4;
// Many places may have to give way before the peak falls; so many tries without that are enough.
size_t most_tries(size_t nodes) { return 32 + nodes / 4; }

}  // namespace

Recompute::Recompute(Replay& replay, const WayDown& way, size_t work)
    : replay_(replay),
      way_(way),
      work_left_(work),
      undo_work_(work / kUndoing),
      drops_(replay.none()),
      kept_(drops_) {
  replay_.run(drops_, SIZE_MAX);
  most_execs_ = kMostRepeats * replay_.execs().size();
  lowest_ = replay_.peak();
  at_lowest_ = drops_;
}

bool Recompute::replay() {
  const bool done = replay_.run(drops_, most_execs_);
  work_left_ -= std::min(work_left_, replay_.execs().size() + 1);
  return done;
}

// Drops values that are idle at the peak: those that bring most bytes, for the longest time, for the least
// seconds.
bool Recompute::drop_some(int64_t target) {
  const size_t at = replay_.peak_at();
  replay_.idle_at(at, way_.holds, idle_);
  std::erase_if(idle_, [&](const Replay::Idle& i) { return drops_.times[i.gap] >= kMostDrops; });
  if (idle_.empty()) return false;
  const auto worth = [&](const Replay::Idle& i) {
    const double distance = static_cast<double>(i.next) - static_cast<double>(at);
    return static_cast<double>(i.bytes) * std::pow(distance, way_.far) / i.seconds;
  };
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < idle_.size(); ++i) order.emplace_back(-worth(idle_[i]), i);
  std::sort(order.begin(), order.end());
  const auto enough = static_cast<int64_t>(kAtOnce * static_cast<double>(replay_.peak() - target));
  int64_t freed = 0;
  for (const auto& [value, i] : order) {
    drop(idle_[i]);
    freed += idle_[i].bytes;
    if (freed >= enough) break;
  }
  return true;
}

void Recompute::drop(const Replay::Idle& idle) {
  ++drops_.times[idle.gap];
  for (const ValueId root : idle.held) {
    const Replay::Hold hold{idle.gap, root};
    const auto at = std::ranges::lower_bound(drops_.holds, hold);
    if (at == drops_.holds.end() || *at != hold) drops_.holds.insert(at, hold);
  }
}

void Recompute::take_back(uint32_t gap) {
  if (--drops_.times[gap] == 0)
    std::erase_if(drops_.holds, [&](const Replay::Hold& h) { return h.gap == gap; });
}

bool Recompute::reach(int64_t target) {
  bool done = replay();
  const size_t most = most_tries(most_execs_ / kMostRepeats);
  for (size_t tries = 0; done && replay_.peak() > target && tries < most; ++tries) {
    if (work_left_ == 0 || !drop_some(target)) break;
    done = replay();
    if (done && replay_.peak() < lowest_) {
      lowest_ = replay_.peak();
      at_lowest_ = drops_;
      tries = 0;
    }
  }
  const bool reached = done && replay_.peak() <= target;
  if (!reached) drops_ = at_lowest_;
  undo(reached ? target : lowest_);
  return reached;
}

// Looks at what was dropped for this target: what was needed for a higher one most often is still.
void Recompute::undo(int64_t target) {
  std::vector<uint32_t> gaps;
  for (uint32_t g = 0; g < drops_.times.size(); ++g) {
    if (drops_.times[g] > kept_.times[g]) gaps.push_back(g);
  }
  std::stable_sort(gaps.begin(), gaps.end(), [&](uint32_t a, uint32_t b) {
    return replay_.seconds_of_gap(a) > replay_.seconds_of_gap(b);
  });
  replay();
  double extra = replay_.extra_seconds();
  const size_t stop = work_left_ - std::min(work_left_, undo_work_);
  for (const uint32_t g : gaps) {
    if (work_left_ <= stop) break;
    while (drops_.times[g] > 0) {
      Replay::Drops before = drops_;
      take_back(g);
      if (replay() && replay_.peak() <= target && replay_.extra_seconds() <= extra) {
        extra = replay_.extra_seconds();
        continue;
      }
      drops_ = std::move(before);
      break;
    }
  }
  replay();
  kept_ = drops_;
}

}  // namespace plimsoll
