// The graph's text form, for tests and bug reports:
//
//   graph {
//     %0 = input "x" float32(32, 10)
//     %1 = variable "kernel" float32(10, 64)
//     %2 = dot_general(%0, %1) {a_batch = [], a_contract = [1], b_batch = [], b_contract = [0]} @ "dense"
//     output "y" %2
//     update %1 = %3
//   }
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/attrs.h"

namespace plimsoll {

// Throws Error{invalid_argument} with line and column.
Attr parse_attr(std::string_view text, AttrKind kind);

}  // namespace plimsoll
