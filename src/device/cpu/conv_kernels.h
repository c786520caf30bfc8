// The CPU kernels of conv, conv_bias, conv_grad_input and conv_grad_filter, for the tables of those ops.
//   conv              x, kernel -> y
//   conv_bias         x, kernel, bias, [scale,] [residual] -> act(conv * scale + bias + residual)
//   conv_grad_input   dy, kernel -> dx
//   conv_grad_filter  x, dy -> dkernel [, dbias]
// "onednn" packs the weights, in each run unless the program only reads them; so does "winograd", which takes
// fewer products for a window of 3x3. "pointwise" makes a matrix product of a window of one point. "highway"
// is a plain convolution. Halves go to oneDNN where it has them, else image by image through float32. Results
// of all but oneDNN's do not depend on the number of threads. All throw Error{unsupported} for what they do
// not do. "reference" does everything.
#pragma once

#include "device/cpu/activation.h"
#include "device/cpu/conv_geometry.h"
#include "device/cpu/widened.h"
#include "device/kernel.h"

namespace plimsoll {

// Sums of a few thousand products in float32, in an order that differs from kernel to kernel.
inline constexpr double kConvTolerance = 2e-5;

// Which inputs of conv_bias are what; -1: it has none.
struct ConvEpilogue {
  int bias = 2;
  int scale = -1;
  int residual = -1;
  Activation activation = Activation::linear;
};
inline constexpr ConvEpilogue kNoEpilogue{-1, -1, -1, Activation::linear};
// Reads the attributes "scale", "residual" (flags) and "activation". Throws Error{invalid_argument}.
ConvEpilogue conv_epilogue(const Attrs& attrs);

// How the four fall into slices, images or groups of them: the kernel, the bias, the scale and the gradients
// of the first two are common to all.
Slices conv_slices(const KernelQuery& q);

namespace onednn {
bool conv_fits(const KernelQuery& q);
Kernel prepare_conv(const KernelQuery& q);
Kernel prepare_conv_bias(const KernelQuery& q);
Kernel prepare_conv_grad_input(const KernelQuery& q);
Kernel prepare_conv_grad_filter(const KernelQuery& q);
}  // namespace onednn

namespace highway {
Kernel prepare_conv(const KernelQuery& q);
Kernel prepare_conv_bias(const KernelQuery& q);
Kernel prepare_conv_grad_input(const KernelQuery& q);
Kernel prepare_conv_grad_filter(const KernelQuery& q);
// Whether it is faster than oneDNN's, on channels-last data: where there is a window, and panels of filters
// are well filled.
bool conv_grad_filter_leads(const KernelQuery& q);
}  // namespace highway

namespace winograd {
Kernel prepare_conv(const KernelQuery& q);
Kernel prepare_conv_bias(const KernelQuery& q);
Kernel prepare_conv_grad_input(const KernelQuery& q);
Kernel prepare_conv_grad_filter(const KernelQuery& q);
// Whether they are faster than the others.
bool conv_leads(const KernelQuery& q);
bool conv_grad_input_leads(const KernelQuery& q);
bool conv_grad_filter_leads(const KernelQuery& q);
}  // namespace winograd

namespace pointwise {
Kernel prepare_conv_grad_input(const KernelQuery& q);
Kernel prepare_conv_grad_filter(const KernelQuery& q);
// Whether they are faster than oneDNN's: where that steps over points, and where it brings many weights into
// another layout.
bool conv_grad_input_leads(const KernelQuery& q);
bool conv_grad_filter_leads(const KernelQuery& q);
}  // namespace pointwise

namespace reference {
Kernel prepare_conv(const KernelQuery& q);
Kernel prepare_conv_grad_input(const KernelQuery& q);
Kernel prepare_conv_grad_filter(const KernelQuery& q);
}  // namespace reference

}  // namespace plimsoll
