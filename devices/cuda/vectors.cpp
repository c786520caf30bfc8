#include "vectors.h"

#include <algorithm>
#include <bit>

#include "text.h"

namespace plimsoll::cuda {
namespace {

bool fits(const Space& space, int64_t width) {
  if (space.sizes.empty() || space.sizes.back() % width != 0) return false;
  for (const Sizes& s : space.strides) {
    if (s.back() == 0) continue;
    if (s.back() != 1) return false;
    for (size_t d = 0; d + 1 < s.size(); ++d)
      if (s[d] % width != 0) return false;
  }
  return true;
}

std::string vector_type(size_t argument, std::string_view type, int64_t width) {
  return concat("struct alignas(", width, " * sizeof(", type, ")) V", argument, " { ", type, " at[", width,
                "]; };\n");
}

}  // namespace

int64_t vector_width(const Space& space, const std::vector<size_t>& sizes, int64_t most) {
  size_t largest = 1;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!space.strides[i].empty() && space.strides[i].back() != 0) largest = std::max(largest, sizes[i]);
  const int64_t room = std::min<int64_t>({8, most, static_cast<int64_t>(16 / largest)});
  int64_t width = room < 1 ? 1 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(room)));
  while (width > 1 && !fits(space, width)) width /= 2;
  return std::max<int64_t>(width, 1);
}

VectorRead vector_read(size_t argument, std::string_view type, const Sizes& strides, bool dense,
                       int64_t width) {
  const std::string at = dense ? "first" : position(0, strides);
  if (width == 1) return {"", concat("arg", argument, "[", at, "]")};
  if (strides.empty() || strides.back() == 0)
    return {concat("const ", type, " v", argument, " = arg", argument, "[", at, "];\n"),
            concat("v", argument)};
  return {concat(vector_type(argument, type, width), "const V", argument, " v", argument, " = *(const V",
                 argument, "*)(arg", argument, " + ", at, ");\n"),
          concat("v", argument, ".at[j]")};
}

VectorWrite vector_write(size_t argument, std::string_view type, int64_t width) {
  if (width == 1) return {"", concat("arg", argument, "[first]"), ""};
  return {concat(vector_type(argument, type, width), "V", argument, " v", argument, ";\n"),
          concat("v", argument, ".at[j]"),
          concat("*(V", argument, "*)(arg", argument, " + first) = v", argument, ";\n")};
}

std::string vector_loop(int64_t width) {
  return width == 1 ? "{\n" : concat("#pragma unroll\nfor (int j = 0; j < ", width, "; ++j) {\n");
}
}  // namespace plimsoll::cuda
