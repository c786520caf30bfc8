// Ops that move elements, and reductions, at sizes that take blocks, several chunks and both threads.
#include <string>

#include "op_sweep/kernel_cases.h"

namespace plimsoll::testing {
namespace {

// One of each size of an element, which is all that copies look at.
const std::vector<DType> kSizes = {DType::u8, DType::i16, DType::f32, DType::f64};

Attrs windows(const Ints& window, const Ints& strides, const Ints& low, const Ints& high) {
  return {{"window", window}, {"strides", strides}, {"low", low}, {"high", high}};
}

void add_copies(KernelCases& cases) {
  if (cases.is("transpose")) {
    cases.add({{{130, 200}}}, {{"permutation", Ints{1, 0}}}, kSizes);
    cases.add({{{401, 300}}}, {{"permutation", Ints{1, 0}}}, {DType::f32});
    cases.add({{{5, 40, 33, 20}}}, {{"permutation", Ints{0, 2, 1, 3}}}, kSizes);
    cases.add({{{9, 40, 33, 11}}}, {{"permutation", Ints{0, 3, 1, 2}}}, kSizes);
    cases.add({{{17, 18, 19, 10}}}, {{"permutation", Ints{3, 2, 1, 0}}}, kSizes);
    cases.add({{{3, 100, 64}}}, {{"permutation", Ints{2, 0, 1}}}, {DType::f32});
  }
  if (cases.is("broadcast_to")) {
    cases.add({{{100, 1, 65}}}, {{"shape", Ints{100, 13, 65}}}, kSizes);
    cases.add({{{300, 1}}}, {{"shape", Ints{300, 301}}}, kSizes);
    cases.add({{{301}}}, {{"shape", Ints{300, 301}}}, {DType::f32});
  }
  if (cases.is("concatenate")) {
    cases.add({{{100, 33}}, {{100, 700}}, {{100, 1}}}, {{"axis", int64_t{1}}}, kSizes);
    cases.add({{{20, 50, 31}}, {{20, 60, 31}}}, {{"axis", int64_t{-2}}}, kSizes);
  }
  if (cases.is("slice")) {
    cases.add({{{300, 401}}}, {{"starts", Ints{7, 3}}, {"limits", Ints{298, 397}}, {"strides", Ints{1, 1}}},
              kSizes);
    cases.add({{{300, 401}}}, {{"starts", Ints{1, 2}}, {"limits", Ints{300, 400}}, {"strides", Ints{2, 3}}},
              kSizes);
  }
  if (cases.is("pad")) {
    cases.add({{{200, 301}}}, {{"low", Ints{3, 1}}, {"high", Ints{-2, 5}}, {"value", 1.0}}, kSizes);
    cases.add({{{100, 151}}}, {{"low", Ints{0, 2}}, {"high", Ints{1, 0}}, {"interior", Ints{2, 1}}}, kSizes);
  }
  if (cases.is("reverse")) {
    cases.add({{{300, 301}}}, {{"axes", Ints{1}}}, kSizes);
    cases.add({{{30, 31, 60}}}, {{"axes", Ints{0, 1}}}, kSizes);
  }
  if (cases.is("dynamic_slice"))
    cases.add({{{300, 301}}, {{2}, -3, 150, DType::i32}}, {{"sizes", Ints{170, 190}}}, kSizes);
  if (cases.is("dynamic_update_slice"))
    cases.add({{{300, 301}}, {{170, 190}}, {{2}, -3, 150, DType::i64}}, {}, kSizes);
}

void add_gathers(KernelCases& cases) {
  if (cases.is("take")) {
    cases.add({{{500, 130}}, {{301}, -510, 510, DType::i32}}, {{"axis", int64_t{0}}}, kSizes);
    cases.add({{{70, 300}}, {{20, 21}, 0, 299, DType::i64}}, {{"axis", int64_t{1}}}, kSizes);
  }
  if (cases.is("gather_nd")) {
    cases.add({{{30, 40, 65}}, {{300, 2}, -20, 35, DType::i32}}, {}, kSizes);
    cases.add({{{30, 40, 65}}, {{20, 300, 3}, 0, 29, DType::i32}}, {}, {DType::f32});
  }
  if (cases.is("scatter_nd")) {
    for (const char* mode : {"set", "add", "mul", "min", "max"}) {
      const Attrs attrs{{"mode", std::string(mode)}};
      cases.add({{{300, 65}}, {{200, 1}, 0, 299, DType::i32}, {{200, 65}}}, attrs, kSizes);
      cases.add({{{60, 70}}, {{30, 40, 2}, -1, 61, DType::i64}, {{30, 40}}}, attrs, kSizes);
    }
  }
}

void add_reductions(KernelCases& cases) {
  const std::vector<DType> dtypes(cases.op().dtypes.begin(), cases.op().dtypes.end());
  if (cases.op().name.starts_with("reduce_") && cases.op().name.find("window") == std::string_view::npos) {
    const auto add = [&](const Shape& shape, const Ints& axes) {
      cases.add({{shape, 0.9, 1.1, std::nullopt}}, {{"axes", axes}}, dtypes);
    };
    add({260, 300}, {});
    add({260, 300}, {0});
    add({260, 300}, {1});
    add({9000, 10}, {0});
    add({9000, 10}, {1});
    add({20, 31, 40, 5}, {1});
    add({20, 31, 40, 5}, {0, 2});
    add({20, 31, 40, 5}, {1, 3});
  }
  if (cases.op().name.starts_with("arg")) {
    for (const int64_t axis : {0, 1, 2}) cases.add({{{20, 30, 40}}}, {{"axis", axis}}, dtypes);
  }
  if (cases.op().name.starts_with("cum")) {
    const bool product = cases.is("cumprod");
    for (const int64_t axis : {0, 1, 2}) {
      cases.add({{{20, 30, 40}, product ? 0.9 : -2.0, product ? 1.1 : 2.0, std::nullopt}},
                {{"axis", axis}, {"reverse", axis == 1}}, {DType::f32, DType::f64, DType::i32});
    }
  }
}

void add_windows(KernelCases& cases) {
  const Attrs plain = windows({1, 3, 2, 1}, {1, 2, 2, 1}, {0, 1, 0, 0}, {0, 1, 1, 0});
  const Attrs close = windows({5, 4}, {1, 3}, {2, 0}, {1, 2});
  if (cases.is("reduce_window_sum") || cases.is("reduce_window_max")) {
    cases.add({{{2, 19, 20, 11}}}, plain, {DType::f32, DType::f64, DType::i32});
    cases.add({{{60, 71}}}, close, {DType::f32, DType::bf16});
  }
  if (cases.is("select_and_scatter_add")) {
    cases.add({{{2, 19, 20, 11}}, {{2, 10, 10, 11}}}, plain, {DType::f32, DType::f64});
    cases.add({{{60, 71}}, {{59, 24}}}, close, {DType::f32, DType::bf16});
  }
  if (cases.is("select_and_gather")) {
    cases.add({{{2, 19, 20, 11}}, {{2, 19, 20, 11}}}, plain, {DType::f32, DType::f64});
    cases.add({{{60, 71}}, {{60, 71}}}, close, {DType::f32, DType::bf16});
  }
}

}  // namespace

void add_moves(KernelCases& cases) {
  add_copies(cases);
  add_gathers(cases);
  add_reductions(cases);
  add_windows(cases);
}

}  // namespace plimsoll::testing
