// plimsoll.trace(): FitTrace for what a thread of Python runs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <thread>

#include "exec/beat.h"
#include "plimsoll/error.h"
#include "tracing.h"
#include "train/fit_trace.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace plimsoll::python {
namespace {

class PyTrace {
 public:
  explicit PyTrace(const std::string& path) : trace_(path) {
    beat_.recorder = &trace_;
    scope_.emplace(beat_);
  }
  // Times are those of time.monotonic().
  void add(const std::string& name, double begin, double end) {
    const auto at = [](double seconds) {
      const std::chrono::duration<double> t(seconds);
      return KernelRecorder::Clock::time_point(
          std::chrono::duration_cast<KernelRecorder::Clock::duration>(t));
    };
    trace_.add(name, at(begin), at(end));
  }
  void close() {
    require(std::this_thread::get_id() == thread_, "trace", "expected to end on the thread that began it");
    scope_.reset();
    beat_.recorder = nullptr;
    trace_.write();
  }

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
  FitTrace trace_;
  Beat beat_;
  std::optional<BeatScope> scope_;
};

}  // namespace

void add_tracing(nb::module_& m) {
  nb::class_<PyTrace>(m, "TraceFile")
      .def(nb::init<const std::string&>(), "path"_a)
      .def("add", &PyTrace::add, "name"_a, "begin"_a, "end"_a)
      .def("close", &PyTrace::close);
}

}  // namespace plimsoll::python
