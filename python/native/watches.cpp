// TraceFile, for plimsoll.trace(), and StallGuard, for plimsoll.on_stall().
#include "watches.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "plimsoll/stall.h"
#include "plimsoll/trace_file.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace plimsoll::python {

// Times are those of time.monotonic(), which is the same clock.
void add_watches(nb::module_& m) {
  nb::class_<TraceFile>(m, "TraceFile")
      .def(nb::init<const std::string&>(), "path"_a)
      .def("add", &TraceFile::add, "name"_a, "begin"_a, "end"_a)
      .def("close", &TraceFile::close);
  using Doing = StallGuard::Doing;
  nb::class_<StallGuard>(m, "StallGuard")
      .def(
          "__init__",
          [](StallGuard* self, double after, double step_deadline, bool raise) {
            new (self) StallGuard({.after = after, .step_deadline = step_deadline, .raise = raise});
          },
          "after"_a, "step_deadline"_a, "raises"_a)
      .def("close", &StallGuard::close)
      .def("data", [](StallGuard& g) { g.enter(Doing::data); })
      .def("step", [](StallGuard& g) { g.enter(Doing::step); })
      .def("callbacks", [](StallGuard& g) { g.enter(Doing::callbacks); });
}

}  // namespace plimsoll::python
