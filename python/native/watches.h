// The classes TraceFile and StallGuard of plimsoll._native.
#pragma once

#include <nanobind/nanobind.h>

namespace plimsoll::python {

void add_watches(nanobind::module_& m);

}  // namespace plimsoll::python
