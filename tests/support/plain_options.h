// How the plain interpreter is asked for: one thread, each op by its last kernel, no pass, a buffer per
// value.
#pragma once

#include "plimsoll/program.h"

namespace plimsoll::testing {

inline CompileOptions plain_options() {
  CompileOptions options;
  options.threads = 1;
  options.skip_passes = {"all"};
  options.reference_kernels = true;
  options.no_reuse = true;
  return options;
}

}  // namespace plimsoll::testing
