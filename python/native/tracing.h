// The class TraceFile of plimsoll._native.
#pragma once

#include <nanobind/nanobind.h>

namespace plimsoll::python {

void add_tracing(nanobind::module_& m);

}  // namespace plimsoll::python
