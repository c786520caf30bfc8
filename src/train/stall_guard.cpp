#include "exec/stall_watch.h"
#include "plimsoll/error.h"
#include "plimsoll/stall.h"

namespace plimsoll {
namespace {

constexpr int kCalibrating = 5;  // steps that say how fast this machine is

Activity::Doing as_activity(StallGuard::Doing doing) { return static_cast<Activity::Doing>(doing); }
static_assert(static_cast<int>(StallGuard::Doing::validation) ==
              static_cast<int>(Activity::Doing::validation));

}  // namespace

struct StallGuard::Body {
  explicit Body(const Options& o)
      : scope(activity.beat), watch(activity, {.least = o.after, .deadline = o.step_deadline}, o.raise) {
    activity.begin(Activity::Doing::preparing, steady_seconds());
  }
  Activity activity;
  BeatScope scope;
  StallWatch watch;
  int steps = 0;
};

StallGuard::StallGuard(const Options& options) {
  require(options.after > 0, "stall", "expected seconds > 0, got ", options.after);
  require(options.step_deadline >= 0, "stall", "expected a deadline >= 0, got ", options.step_deadline);
  body_ = std::make_unique<Body>(options);
}

StallGuard::~StallGuard() = default;

void StallGuard::close() { body_.reset(); }

void StallGuard::enter(Doing doing) {
  if (!body_) return;
  Activity& a = body_->activity;
  const double now = steady_seconds();
  if (a.doing() == Activity::Doing::step && body_->steps++ < kCalibrating) a.calibrate(0, now - a.since());
  a.begin(as_activity(doing), now);
  if (doing != Doing::step) body_->watch.check();
}

}  // namespace plimsoll
