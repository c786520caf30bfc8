// All that leaves a public function is an Error: std::bad_alloc becomes one at its end.
//   void f() try { ... } catch (const std::bad_alloc&) { no_memory("f"); }
#pragma once

#include <new>
#include <string_view>

#include "plimsoll/error.h"

namespace plimsoll {

[[noreturn]] inline void no_memory(std::string_view place) {
  fail(ErrorKind::out_of_memory, place, "no memory left");
}

}  // namespace plimsoll
