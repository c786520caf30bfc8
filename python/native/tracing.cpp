// TraceFile, for plimsoll.trace().
#include "tracing.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "plimsoll/trace_file.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace plimsoll::python {

// Times are those of time.monotonic(), which is the same clock.
void add_tracing(nb::module_& m) {
  nb::class_<TraceFile>(m, "TraceFile")
      .def(nb::init<const std::string&>(), "path"_a)
      .def("add", &TraceFile::add, "name"_a, "begin"_a, "end"_a)
      .def("close", &TraceFile::close);
}

}  // namespace plimsoll::python
