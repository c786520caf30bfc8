#include "plimsoll/trace_file.h"

#include <optional>
#include <thread>

#include "exec/beat.h"
#include "plimsoll/error.h"
#include "train/fit_trace.h"

namespace plimsoll {

struct TraceFile::Body {
  explicit Body(const std::string& path) : trace(path) {
    beat.recorder = &trace;
    scope.emplace(beat);
  }
  const std::thread::id thread = std::this_thread::get_id();
  FitTrace trace;
  Beat beat;
  std::optional<BeatScope> scope;
};

TraceFile::TraceFile(const std::string& path) : body_(std::make_unique<Body>(path)) {}
TraceFile::~TraceFile() = default;

void TraceFile::add(std::string_view name, double begin, double end) {
  require(body_ != nullptr, "trace", "is closed");
  using Clock = KernelRecorder::Clock;
  const auto at = [](double seconds) {
    return Clock::time_point(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  };
  body_->trace.add(name, at(begin), at(end));
}

void TraceFile::close() {
  require(body_ != nullptr, "trace", "is closed already");
  require(std::this_thread::get_id() == body_->thread, "trace",
          "expected to end on the thread that began it");
  const std::unique_ptr<Body> body = std::move(body_);
  body->scope.reset();
  body->trace.write();
}

}  // namespace plimsoll
