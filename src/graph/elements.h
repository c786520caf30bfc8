// Single elements of any dtype as text and as doubles: for printing, parsing and scalars, never in a kernel.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/dtype.h"

namespace plimsoll {

double read_element(DType type, const void* from);       // of a complex one, the real part
void write_element(DType type, void* to, double value);  // integers are clamped to their range
std::string element_text(DType type, const void* from);  // reads back to the same bits (NaNs aside)
// False if `text` is not a number of this type.
bool parse_element(DType type, std::string_view text, void* to);

}  // namespace plimsoll
