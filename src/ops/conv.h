// What the convolution ops share: attributes, and the gradients as functions for each other's grad().
#pragma once

#include <array>

#include "device/cpu/conv_geometry.h"
#include "graph/op.h"
#include "plimsoll/ops/nn.h"

namespace plimsoll {

inline constexpr std::array<AttrDef, 6> kConvAttrs = {{
    {"strides", AttrKind::ints, "[]"},
    {"pad_low", AttrKind::ints, "[]"},
    {"pad_high", AttrKind::ints, "[]"},
    {"lhs_dilation", AttrKind::ints, "[]"},
    {"rhs_dilation", AttrKind::ints, "[]"},
    {"groups", AttrKind::integer, "1"},
}};

// kConvAttrs and more.
template <size_t N>
constexpr std::array<AttrDef, 6 + N> with_conv_attrs(const std::array<AttrDef, N>& more) {
  std::array<AttrDef, 6 + N> all{};
  for (size_t i = 0; i < 6; ++i) all[i] = kConvAttrs[i];
  for (size_t i = 0; i < N; ++i) all[6 + i] = more[i];
  return all;
}

// The six attributes with every list written out, so that equal convolutions compare equal.
Attrs conv_attrs(const ConvOptions& options, int spatial_rank);
// Those of another convolution op's attributes.
Attrs conv_attrs(const Attrs& attrs);

Tensor conv_grad_input(const Tensor& dy, const Tensor& kernel, const Shape& x, const Attrs& attrs);
// {dkernel}, or {dkernel, dbias}.
std::vector<Tensor> conv_grad_filter(const Tensor& x, const Tensor& dy, const Shape& kernel, bool bias,
                                     const Attrs& attrs);

Cost conv_cost(const ConvGeometry& g, DType dtype);
// Throws Error{invalid_argument} unless both are of one float type.
void require_one_float(std::string_view op, DType a, DType b);

// Uses of conv for the test sweep: input shape, kernel shape, options.
struct ConvCase {
  Shape x, kernel;
  ConvOptions options;
};
std::vector<ConvCase> conv_cases();

}  // namespace plimsoll
