// Convolutions and pooling.
#include <array>
#include <string>

#include "op_sweep/kernel_cases.h"
#include "ops/conv.h"
#include "ops/pool.h"

namespace plimsoll::testing {
namespace {

struct Convolution {
  Shape x, kernel;
  ConvOptions options = {};
  std::vector<DType> dtypes = {DType::f32};
};

const std::vector<DType> kAll = {DType::f32, DType::f64, DType::bf16, DType::f16};

// Channels and filters are multiples of 32, so that they fill Winograd's panels on every processor.
std::vector<Convolution> convolutions() {
  const ConvOptions same{.pad_low = {1, 1}, .pad_high = {1, 1}};
  return {
      // 3x3 with full panels: in one slice, in several, and with more weights than a slice may sum.
      {{2, 13, 11, 32}, {3, 3, 32, 64}, same, kAll},
      {{4, 18, 20, 64}, {3, 3, 64, 32}, same},
      {{5, 20, 19, 64}, {3, 3, 64, 96}, same},
      {{3, 15, 16, 32}, {3, 3, 32, 32}, {}},
      {{2, 14, 14, 32}, {3, 3, 32, 32}, {.pad_low = {0, 1}, .pad_high = {2, 1}}},
      // Too few tiles, or half a panel of channels: direct.
      {{1, 6, 7, 32}, {3, 3, 32, 64}, same},
      {{2, 13, 11, 24}, {3, 3, 24, 40}, same, kAll},
      {{2, 17, 19, 24}, {5, 5, 24, 40}, {.strides = {2, 2}, .pad_low = {2, 1}, .pad_high = {1, 2}}},
      {{2, 33, 35, 3}, {7, 7, 3, 64}, {.strides = {2, 2}, .pad_low = {3, 3}, .pad_high = {3, 3}}},
      {{8, 28, 28, 1}, {3, 3, 1, 32}, {}},
      // One point: many weights, few, and a stride.
      {{2, 7, 9, 256}, {1, 1, 256, 512}, {}},
      {{2, 9, 8, 256}, {1, 1, 256, 512}, {.strides = {2, 2}}},
      {{2, 9, 9, 32}, {1, 1, 32, 48}, {.strides = {2, 3}}, kAll},
      {{2, 12, 13, 64}, {1, 1, 64, 32}, {}},
      // Groups.
      {{2, 15, 13, 40}, {3, 3, 1, 40}, {.pad_low = {1, 1}, .pad_high = {1, 1}, .groups = 40}, kAll},
      {{2, 15, 14, 35}, {5, 3, 1, 35}, {.strides = {2, 2}, .groups = 35}},
      {{2, 12, 12, 32}, {3, 3, 8, 64}, {.pad_low = {1, 1}, .pad_high = {1, 1}, .groups = 4}},
      {{1, 9, 9, 16}, {3, 3, 1, 48}, {.groups = 16}},
      // Holes, and other numbers of axes.
      {{1, 20, 18, 32}, {3, 3, 32, 32}, {.rhs_dilation = {2, 3}}},
      {{1, 8, 9, 32}, {3, 3, 32, 32}, {.pad_low = {1, 2}, .pad_high = {2, 1}, .lhs_dilation = {2, 2}}},
      {{4, 50, 16}, {5, 16, 32}, {.strides = {2}, .pad_low = {2}, .pad_high = {2}}},
      {{1, 8, 9, 10, 8}, {3, 3, 3, 8, 16}, {.pad_low = {1, 1, 1}, .pad_high = {1, 1, 1}}},
  };
}

void add_conv_bias(KernelCases& cases, const Convolution& c, Attrs attrs, const Shape& y) {
  static constexpr std::array<std::string_view, 7> kActivations = {"linear", "relu",      "sigmoid", "tanh",
                                                                   "gelu",   "gelu_tanh", "silu"};
  const auto add = [&](std::string_view activation, bool scale, bool residual,
                       const std::vector<DType>& dtypes) {
    attrs.set("activation", std::string(activation));
    attrs.set("scale", scale);
    attrs.set("residual", residual);
    std::vector<InputCase> in{{c.x}, {c.kernel}, {Shape{y.dim(-1)}}};
    if (scale) in.push_back({Shape{y.dim(-1)}});
    if (residual) in.push_back({y});
    cases.add(in, attrs, dtypes);
  };
  add("relu", true, true, c.dtypes);
  add("linear", false, false, {DType::f32});
  // All of them where all dtypes are tried, elsewhere some, by turns.
  const auto turn = c.dtypes.size() > 1 ? 0 : static_cast<size_t>(c.x.elements()) % 3 + 1;
  for (size_t i = 0; i < kActivations.size(); ++i) {
    if (turn > 0 && i % 3 + 1 != turn) continue;
    add(kActivations[i], false, true, {DType::f32});
    add(kActivations[i], true, false, {DType::f32});
  }
}

void add_convolution(KernelCases& cases, const Convolution& c) {
  Attrs attrs = conv_attrs(c.options, c.x.rank() - 2);
  const Shape y = conv_output_shape(conv_geometry("conv", c.x, c.kernel, attrs));
  if (cases.is("conv")) cases.add({{c.x}, {c.kernel}}, attrs, c.dtypes);
  if (cases.is("conv_bias")) add_conv_bias(cases, c, attrs, y);
  if (cases.is("conv_grad_input")) {
    attrs.set("input_shape", Ints(c.x.begin(), c.x.end()));
    cases.add({{y}, {c.kernel}}, attrs, c.dtypes);
  }
  if (cases.is("conv_grad_filter")) {
    attrs.set("kernel_shape", Ints(c.kernel.begin(), c.kernel.end()));
    for (const bool bias : {false, true}) {
      attrs.set("bias", bias);
      cases.add({{c.x}, {y}}, attrs, c.dtypes);
    }
  }
}

struct Pooling {
  Shape x;
  PoolOptions options;
};

void add_pooling(KernelCases& cases, const Pooling& p) {
  const Attrs attrs = pool_attrs(p.options);
  Attrs backward = attrs;
  backward.set("input_shape", Ints(p.x.begin(), p.x.end()));
  const Shape y = pool_output_shape(pool_geometry("pool", p.x, attrs));
  int64_t points = 1;
  for (const int64_t n : p.options.window) points *= n;
  const InputCase index{y, 0, static_cast<double>(points - 1), DType::u8};
  const bool padded = !p.options.pad_low.empty();  // an index must be a point inside
  if (cases.is("max_pool")) {
    for (const bool with_index : {false, true}) {
      Attrs mine = attrs;
      mine.set("index", with_index);
      cases.add({{p.x}}, mine, kAll);
    }
  }
  if (cases.is("average_pool")) cases.add({{p.x}}, attrs, kAll);
  if (cases.is("average_pool_grad")) cases.add({{y}}, backward, kAll);
  if (cases.is("max_pool_grad") && !padded) cases.add({{y}, index}, backward, kAll);
  if (cases.is("max_pool_take") && !padded) cases.add({{p.x}, index}, attrs, kAll);
}

}  // namespace

void add_convolutions(KernelCases& cases) {
  if (cases.op().name.starts_with("conv")) {
    for (const Convolution& c : convolutions()) add_convolution(cases, c);
  }
  if (cases.op().name.find("pool") == std::string_view::npos) return;
  add_pooling(cases, {{3, 26, 27, 40}, {.window = {2, 2}}});
  add_pooling(
      cases, {{2, 29, 30, 64}, {.window = {3, 3}, .strides = {2, 2}, .pad_low = {1, 1}, .pad_high = {1, 1}}});
  add_pooling(cases, {{2, 15, 14, 19}, {.window = {3, 2}, .strides = {1, 2}}});
  add_pooling(cases, {{4, 7, 7, 100}, {.window = {7, 7}}});
  add_pooling(cases, {{5, 90, 33}, {.window = {4}, .strides = {3}}});
}

}  // namespace plimsoll::testing
