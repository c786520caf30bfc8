// Pieces of generated CUDA C. Shapes, strides and attributes are literals in it, so that the compiler turns
// divisions by them into products.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "device/element_text.h"
#include "node.h"
#include "plimsoll/error.h"

namespace plimsoll::cuda {

// "float": of a stored element; halves are uint16_t.
std::string_view stored(DType t);
// "float": that a value is computed in.
std::string_view computed(DType t);
// An unsigned integer of this size for elements that are only moved; 16 bytes: ulonglong2.
std::string_view moved(DType t);
// "double": that sums of it are kept in; itself for integers.
DType sum_type(DType t);

// "unsigned" if that holds all numbers below `count`, with room for the step of a loop; else "int64_t".
std::string_view index_type(int64_t count);

// "const float* arg0, uint16_t* arg1": one pointer for each, those from `outputs` on written to.
std::string parameters(std::span<const std::string_view> types, size_t outputs);
std::string parameters(std::initializer_list<std::string_view> types, size_t outputs);

// Declares i0, i1, ... (or another letter): the coordinates of element `at` of a tensor of these sizes.
std::string coordinates(const Sizes& sizes, std::string_view at, std::string_view index,
                        std::string_view letter = "i");
// "5 + i0 * 12 + i2": start + sum of coordinate * stride.
std::string position(int64_t start, const Sizes& strides, std::string_view letter = "i");

// A kernel that runs `body` once for each `at` below `count`. Its type `index` holds all numbers below
// `largest`.
std::string each_text(std::string_view parameters, int64_t count, int64_t largest, int threads,
                      std::string_view body);

// A real number as a literal of the type that t is computed in, or an integer cut to it.
std::string literal(double value, DType t);

}  // namespace plimsoll::cuda
