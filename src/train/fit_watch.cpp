#include "train/fit_watch.h"

#include "common/log.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kCalibrating = 5;  // steps that say how fast this machine is

double seconds_of(KernelRecorder::Clock::time_point t) {
  return std::chrono::duration<double>(t.time_since_epoch()).count();
}

bool raises(const std::string& on_stall) {
  require(on_stall == "warn" || on_stall == "raise" || on_stall == "off", "fit",
          "expected on_stall to be \"warn\", \"raise\" or \"off\", got '", on_stall, "'");
  return on_stall == "raise";
}

}  // namespace

FitWatch::FitWatch(const FitArgs& args) : args_(args) {
  raises(args.on_stall);
  require(args.stall_after > 0, "fit", "expected stall_after > 0, got ", args.stall_after);
  require(args.step_deadline >= 0, "fit", "expected step_deadline >= 0, got ", args.step_deadline);
}

// What fit() has thrown goes first: a trace of the way there is as good as its file.
FitWatch::~FitWatch() {
  stalls_.reset();
  scope_.reset();
  if (!trace_) return;
  try {
    end();
  } catch (const std::exception& e) {
    warn("fit", "no trace was written: ", e.what());
  }
}

void FitWatch::begin() {
  if (!args_.trace.empty()) trace_ = std::make_unique<FitTrace>(args_.trace);
  activity_.beat.recorder = trace_.get();
  if (args_.on_stall != "off") {
    const StallOptions options{.least = args_.stall_after, .deadline = args_.step_deadline};
    stalls_.emplace(activity_, options, raises(args_.on_stall));
  }
  if (trace_ || stalls_) scope_.emplace(activity_.beat);
  since_ = Clock::now();
  activity_.begin(Doing::preparing, seconds_of(since_));
}

void FitWatch::close(Clock::time_point now) {
  if (!trace_) return;
  switch (activity_.doing()) {
    case Doing::preparing: trace_->add("prepare", since_, now); break;
    case Doing::data: trace_->add("wait for data", since_, now); break;
    case Doing::step:
      trace_->add(concat("step ", steps_), since_, now);
      trace_->count_memory();
      break;
    case Doing::callbacks: trace_->add("callbacks", since_, now); break;
    case Doing::validation: trace_->add("validation", since_, now); break;
  }
}

void FitWatch::enter(Doing doing) {
  const Clock::time_point now = Clock::now();
  close(now);
  since_ = now;
  activity_.begin(doing, seconds_of(now));
  if (stalls_ && doing != Doing::step) stalls_->check();
}

void FitWatch::stepped(double expected) {
  if (steps_ < kCalibrating) activity_.calibrate(expected, seconds_of(Clock::now()) - seconds_of(since_));
  ++steps_;
}

void FitWatch::begin_epoch(int64_t epoch) {
  enter(Doing::callbacks);  // which an epoch begins with
  epoch_ = epoch;
  epoch_since_ = since_;
}

void FitWatch::end_epoch() {
  const Clock::time_point now = Clock::now();
  close(now);
  since_ = now;
  if (trace_) trace_->add(concat("epoch ", epoch_ + 1), epoch_since_, now);
}

void FitWatch::end() {
  stalls_.reset();
  scope_.reset();
  if (!trace_) return;
  close(Clock::now());
  const std::unique_ptr<FitTrace> trace = std::move(trace_);
  trace->write();
}

}  // namespace plimsoll
