#include "text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace plimsoll::cuda {

std::string_view stored(DType t) { return source_type(t).name; }
std::string_view computed(DType t) { return source_type(computed_type(t)).name; }

std::string_view moved(DType t) {
  switch (size_of(t)) {
    case 1: return "uint8_t";
    case 2: return "uint16_t";
    case 4: return "uint32_t";
    case 8: return "uint64_t";
    default: return "ulonglong2";
  }
}

DType sum_type(DType t) { return is_float(t) ? DType::f64 : t; }

std::string_view index_type(int64_t count) { return count < (int64_t{1} << 31) ? "unsigned" : "int64_t"; }

std::string parameters(std::span<const std::string_view> types, size_t outputs) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i)
    text += concat(i ? ", " : "", i < outputs ? "const " : "", types[i], "* arg", i);
  return text;
}
std::string parameters(std::initializer_list<std::string_view> types, size_t outputs) {
  return parameters(std::span<const std::string_view>(types.begin(), types.size()), outputs);
}

std::string coordinates(const Sizes& sizes, std::string_view at, std::string_view index,
                        std::string_view letter) {
  std::string text;
  int64_t below = product(sizes);
  if (below == 0) return text;  // there is no element
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) {
      text += concat("const ", index, " ", letter, d, " = 0;\n");
      continue;
    }
    const int64_t whole = below;
    below /= sizes[d];
    text += concat("const ", index, " ", letter, d, " = ", at);
    if (below > 1) text += concat(" / ", below);
    if (whole != product(sizes)) text += concat(" % ", sizes[d]);
    text += ";\n";
  }
  return text;
}

std::string position(int64_t start, const Sizes& strides, std::string_view letter) {
  std::string text = concat(start);
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == 0) continue;
    text += concat(strides[d] < 0 ? " - " : " + ", letter, d);
    if (std::abs(strides[d]) != 1) text += concat(" * ", std::abs(strides[d]));
  }
  return text;
}

std::string each_text(std::string_view parameters, int64_t count, int64_t largest, int threads,
                      std::string_view body) {
  return concat("extern \"C\" __global__ void __launch_bounds__(", threads, ") KERNEL(", parameters, ") {\n",
                "typedef ", index_type(std::max(count, largest)), " index;\n",
                "for (index at = (index)blockIdx.x * ", threads, " + threadIdx.x; at < ", count,
                "; at += (index)gridDim.x * ", threads, ") {\n", body, "}\n}\n");
}

std::string literal(double value, DType t) {
  if (!is_float(t)) {
    if (t == DType::boolean) return value != 0 ? "1" : "0";
    return concat("to_", source_type(t).suffix, "_f64(", literal(value, DType::f64), ")");
  }
  const double rounded = t == DType::f64 ? value : static_cast<double>(static_cast<float>(value));
  return element_literal(&rounded, DType::f64);
}

}  // namespace plimsoll::cuda
