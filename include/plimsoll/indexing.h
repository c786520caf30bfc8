// What stands between the brackets of x[...], for Tensors and Symbols, as in NumPy:
//
//   x[0]  x[-1]  x[Slice{1, 3}]  x[{Slice{}, 0}]  x[{Ellipsis, Slice{.step = 2}}]  x[{0, NewAxis}]
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>

#pragma GCC visibility push(default)
namespace plimsoll {

// Python's start:stop:step. Negative places count from the end, and places outside are cut to the axis.
struct Slice {
  std::optional<int64_t> start = {}, stop = {}, step = {};
};
enum class IndexMark : uint8_t { ellipsis, new_axis };
inline constexpr IndexMark Ellipsis = IndexMark::ellipsis;  // all axes that nothing else names
inline constexpr IndexMark NewAxis = IndexMark::new_axis;   // a further axis of one element

struct Index {
  enum class Kind : uint8_t { place, slice, ellipsis, new_axis };
  template <std::integral T>
  Index(T at) : kind(Kind::place), place(static_cast<int64_t>(at)) {}
  Index(const Slice& s) : kind(Kind::slice), slice(s) {}
  Index(IndexMark mark) : kind(mark == Ellipsis ? Kind::ellipsis : Kind::new_axis) {}

  Kind kind;
  int64_t place = 0;
  Slice slice = {};
};

}  // namespace plimsoll
#pragma GCC visibility pop
