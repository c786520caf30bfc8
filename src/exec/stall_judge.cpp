#include "exec/stall_judge.h"

#include <algorithm>

#include "exec/steps.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr double kTimes = 20;          // as long as usual is no stall yet
constexpr double kTimesAtFirst = 500;  // while nothing is known of this machine
constexpr double kLeastAtFirst = 5;    // of the least

std::string_view text_of(Activity::Doing doing) {
  switch (doing) {
    case Activity::Doing::preparing: return "preparing";
    case Activity::Doing::data: return "waiting for data (the reader or generator of the data set)";
    case Activity::Doing::step: return "running";
    case Activity::Doing::callbacks: return "in a callback";
    case Activity::Doing::validation: return "validating";
  }
  return "";
}

std::string_view text_of(char state) {
  switch (state) {
    case 'R': return "runs or wants a processor";
    case 'S': return "sleeps";
    case 'D': return "waits for a disk or for memory";
    case 'T':
    case 't': return "is stopped";
    default: return "is in an unknown state";
  }
}

bool wants_processor(const StallReading& reading) {
  return std::ranges::any_of(reading.threads, [](const ThreadReading& t) { return t.state == 'R'; });
}

}  // namespace

void Activity::begin(Doing doing, double now) noexcept {
  const Doing old = doing_.load(std::memory_order_relaxed);
  std::atomic<double>& longest = longest_[static_cast<size_t>(old)];
  const double took = now - since_.load(std::memory_order_relaxed);
  if (changes() > 0 && took > longest.load(std::memory_order_relaxed))
    longest.store(took, std::memory_order_relaxed);
  since_.store(now, std::memory_order_relaxed);
  doing_.store(doing, std::memory_order_relaxed);
  changes_.store(changes() + 1, std::memory_order_relaxed);
}

void Activity::calibrate(double expected, double took) noexcept {
  const double ratio = expected > 0 ? took / expected : 1;
  if (ratio > slower()) slower_.store(ratio, std::memory_order_relaxed);
}

StallJudge::Signs StallJudge::signs() const {
  constexpr auto order = std::memory_order_relaxed;
  const Beat& beat = activity_.beat;
  return {activity_.changes(), beat.runs.load(order), beat.step.load(order), beat.inner.load(order)};
}

bool StallJudge::moved(double now) {
  const Signs seen = signs();
  if (seen == last_ && known_) return false;
  known_ = true;
  last_ = seen;
  moved_at_ = now;
  counted_ = 0;
  before_.reset();
  said_ = false;
  return true;
}

bool StallJudge::late(double now) const {
  return options_.deadline > 0 && activity_.doing() == Activity::Doing::step &&
         now - activity_.since() > options_.deadline && activity_.changes() != late_step_;
}

double StallJudge::allowed() {
  const Activity::Doing doing = activity_.doing();
  const double usual = std::max(options_.least, kTimes * activity_.longest(doing));
  if (doing == Activity::Doing::data || doing == Activity::Doing::callbacks) return usual;
  double expected = 0;
  activity_.beat.look([&](const Steps& steps, uint32_t) { expected = steps.expected_seconds(); });
  if (activity_.slower() == 0) return std::max(kLeastAtFirst * usual, kTimesAtFirst * expected);
  return std::max(usual, kTimes * expected * activity_.slower());
}

std::optional<StallReport> StallJudge::look(const StallReading& reading) {
  if (before_) {
    const double passed = std::max(0.0, reading.now - before_->now);
    const bool wants = wants_processor(reading) || wants_processor(*before_);
    const bool kernel = activity_.doing() == Activity::Doing::step;
    const double worked = std::clamp(reading.processor - before_->processor, 0.0, passed);
    counted_ += !wants ? passed : kernel ? worked : 0;
  }
  before_ = reading;
  if (late(reading.now)) {
    late_step_ = activity_.changes();
    StallReport r = report(reading, options_.deadline);
    r.deadline = true;
    return r;
  }
  const double limit = allowed();
  if (said_ || counted_ <= limit) return std::nullopt;
  said_ = true;
  return report(reading, limit);
}

StallReport StallJudge::report(const StallReading& reading, double limit) const {
  StallReport r{.doing = std::string(text_of(activity_.doing())),
                .silent = reading.now - moved_at_,
                .counted = counted_,
                .allowed = limit,
                .memory = reading.memory};
  activity_.beat.look([&](const Steps& steps, uint32_t step) {
    if (step >= steps.size()) return;
    r.op = steps.step_name(step);
    r.layer = steps.graph().node(steps.plan().order()[step]).layer;
  });
  for (const ThreadReading& t : reading.threads)
    r.threads.push_back(concat(t.id, " ", t.name, " ", text_of(t.state)));
  return r;
}

}  // namespace plimsoll
