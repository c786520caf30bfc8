// conv(x, kernel): convolution of 1 to 3 spatial axes, channels last, XLA's conv_general_dilated without
// batch groups.
#include "ops/conv.h"

#include <algorithm>

#include "device/cpu/conv_kernels.h"
#include "graph/grad.h"
#include "graph/rows.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require_one_float("conv", call.in[0].dtype, call.in[1].dtype);
  const ConvGeometry g = conv_geometry("conv", call.in[0].shape, call.in[1].shape, call.attrs);
  return {{call.in[0].dtype, conv_output_shape(g)}};
}

void grad(GradContext& g) {
  const Attrs attrs = conv_attrs(g.attrs());
  if (g.wants(0)) g.set(0, conv_grad_input(g.dout(), g.in(1), g.in(0).shape(), attrs));
  if (g.wants(1)) g.set(1, conv_grad_filter(g.in(0), g.dout(), g.in(1).shape(), false, attrs)[0]);
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  const ConvGeometry g = conv_geometry("conv", call.in[0].shape, call.in[1].shape, call.attrs);
  return conv_cost(g, out[0].dtype);
}

std::optional<RowSplit> rows(const RowQuery& q) { return leading_rows(q, "b-", "b"); }

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const ConvCase& c : conv_cases()) {
    list.push_back({.in = {{c.x}, {c.kernel}}, .attrs = conv_attrs(c.options, c.x.rank() - 2)});
  }
  return list;
}

}  // namespace

Cost conv_cost(const ConvGeometry& g, DType dtype) {
  const int64_t elements = g.x_elements() + g.y_elements() + g.kernel_elements();
  return {g.flops(), static_cast<double>(elements) * static_cast<double>(size_of(dtype))};
}

void require_one_float(std::string_view op, DType a, DType b) {
  require(is_float(a) && a == b, op, "expected operands of one float type, got ", a, " and ", b);
}

Attrs conv_attrs(const ConvOptions& options, int spatial_rank) {
  const auto full = [&](const Ints& list, int64_t value) {
    return list.empty() ? Ints(static_cast<size_t>(std::max(spatial_rank, 0)), value) : list;
  };
  return {{"strides", full(options.strides, 1)},           {"pad_low", full(options.pad_low, 0)},
          {"pad_high", full(options.pad_high, 0)},         {"lhs_dilation", full(options.lhs_dilation, 1)},
          {"rhs_dilation", full(options.rhs_dilation, 1)}, {"groups", options.groups}};
}

Attrs conv_attrs(const Attrs& attrs) {
  Attrs mine;
  for (const AttrDef& def : kConvAttrs) mine.set(def.name, *attrs.find(def.name));
  return mine;
}

std::vector<ConvCase> conv_cases() {
  return {
      {{2, 7, 6, 3}, {3, 3, 3, 5}, {}},
      {{1, 9, 8, 4}, {3, 2, 4, 8}, {.strides = {2, 3}, .pad_low = {1, 0}, .pad_high = {2, 1}}},
      {{2, 9, 9, 4},
       {3, 3, 2, 6},
       {.pad_low = {2, 2}, .pad_high = {2, 2}, .rhs_dilation = {2, 2}, .groups = 2}},
      {{1, 7, 5, 6}, {3, 3, 1, 6}, {.strides = {2, 1}, .pad_low = {1, 1}, .pad_high = {1, 1}, .groups = 6}},
      {{1, 6, 6, 3}, {3, 3, 1, 6}, {.groups = 3}},
      {{2, 4, 3, 2}, {3, 3, 2, 3}, {.pad_low = {2, 1}, .pad_high = {1, 2}, .lhs_dilation = {2, 3}}},
      {{1, 4, 4, 2},
       {2, 3, 2, 3},
       {.strides = {2, 1}, .pad_low = {1, 1}, .pad_high = {1, 1}, .lhs_dilation = {3, 2}}},
      {{3, 11, 4}, {3, 4, 7}, {.strides = {2}, .pad_low = {2}, .pad_high = {0}}},
      {{1, 4, 5, 4, 2}, {2, 3, 2, 2, 3}, {.strides = {1, 2, 1}, .pad_low = {0, 1, 1}, .pad_high = {0, 1, 0}}},
      {{2, 5, 5, 17}, {1, 1, 17, 19}, {}},
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {}},
      {{0, 5, 5, 3}, {3, 3, 3, 4}, {}},
  };
}

Tensor conv(const Tensor& x, const Tensor& kernel, const ConvOptions& options) {
  const DType type = promote(x.dtype(), kernel.dtype());
  return apply1(get_op("conv"), {cast(x, type), cast(kernel, type)}, conv_attrs(options, x.rank() - 2));
}

std::pair<int64_t, int64_t> same_padding(int64_t size, int64_t window, int64_t stride, int64_t dilation) {
  require(size >= 0 && window >= 1 && stride >= 1 && dilation >= 1, "same_padding",
          "expected a size and a positive window, stride and dilation, got ", size, ", ", window, ", ",
          stride, " and ", dilation);
  const int64_t reach = checked_mul(window - 1, dilation, "same_padding") + 1;
  const int64_t left = size % stride == 0 ? stride : size % stride;
  const int64_t total = std::max<int64_t>(reach - left, 0);
  return {total / 2, total - total / 2};
}

std::span<const OpDef> ops_conv() {
  static constexpr KernelDef kernels[] = {
      {"winograd", winograd::conv_leads, winograd::prepare_conv},
      {"onednn", onednn::conv_fits, onednn::prepare_conv},
      {"highway", nullptr, highway::prepare_conv},
      {"reference", nullptr, reference::prepare_conv},
  };
  static const OpDef defs[] = {{
      .name = "conv",
      .arity = {2, 2},
      .attrs = kConvAttrs,
      .infer = infer,
      .grad = grad,
      .kernels = kernels,
      .cost = cost,
      .rows = rows,
      .cases = cases,
      .dtypes = kFloats,
      .tolerance = kConvTolerance,
  }};
  return defs;
}

}  // namespace plimsoll
