// The language in which element-wise ops say what they compute (Tile::meaning, docs/element_language.md), as
// C. Printed functions have the same names on every device, exp_f32() or add_i8(); what they are there is the
// matter of the prelude. Pure functions: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/tile.h"
#include "plimsoll/dtype.h"

namespace plimsoll {

enum class SourceTarget : uint8_t { c, cuda };

// What printed source needs before it: types and functions. Under CUDA no header is included, so that NVRTC
// takes it as it is.
std::string element_prelude(SourceTarget target);

// A function of the language.
struct ElementFunction {
  std::string_view name;
  bool floats = true;     // has a form for floats
  bool integers = false;  // has a form for integers
  bool exact = true;      // floats: the correctly rounded result, hence the same bits on every device
};
std::span<const ElementFunction> element_functions();

// {"float", "f32"}: the type of stored elements, and what names of functions end in. A bool is a uint8_t; f16
// and bf16 are stored in a uint16_t.
struct SourceType {
  std::string_view name, suffix;
};
SourceType source_type(DType t);
// The type that values are computed in: f32 for the halves, which are widened when read and rounded after
// every op.
DType computed_type(DType t);

// What `meaning` gives for these operands (names of variables), computed in `type`. Requires: one expression.
std::string element_expression(std::string_view meaning, std::span<const std::string> operands, DType type);
// Statements that declare the variable `result` and give it what an op makes of its operands. Throws
// Error{unsupported} if the op does not say what it computes.
std::string element_statements(const Tile& tile, std::span<const std::string> operands,
                               std::span<const DType> operand_types, std::string_view result, DType type);
// One stored element as a literal of the type it is computed in, exactly.
std::string element_literal(const void* from, DType type);
// A stored element as a value, and a value as a stored element: "widen_f16(arg0[at])".
std::string load_element(const std::string& element, DType type);
std::string store_element(const std::string& value, DType type);

}  // namespace plimsoll
