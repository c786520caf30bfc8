#include "layers/base/conv_parts.h"

#include "plimsoll/error.h"

namespace plimsoll {

ConvGeometry conv_geometry(std::string_view place, int rank, const Dims& kernel_size, const Dims& strides,
                           const Dims& dilation_rate) {
  ConvGeometry g{kernel_size.of_rank(rank, place), strides.of_rank(rank, place),
                 dilation_rate.of_rank(rank, place)};
  bool strided = false;
  bool dilated = false;
  for (size_t i = 0; i < g.window.size(); ++i) {
    require(g.window[i] > 0, place, "expected kernel_size > 0, got ", g.window[i]);
    require(g.strides[i] > 0, place, "expected strides > 0, got ", g.strides[i]);
    require(g.dilation[i] > 0, place, "expected dilation_rate > 0, got ", g.dilation[i]);
    strided = strided || g.strides[i] > 1;
    dilated = dilated || g.dilation[i] > 1;
  }
  require(!strided || !dilated, place, "strides > 1 cannot go with dilation_rate > 1");
  return g;
}

ConvOptions conv_options(std::string_view place, const Tensor& x, const ConvGeometry& g,
                         std::string_view padding, int64_t groups) {
  ConvOptions c{.strides = g.strides, .rhs_dilation = g.dilation, .groups = groups};
  for (size_t i = 0; i < g.window.size(); ++i) {
    const int64_t size = x.dim(static_cast<int>(i) + 1);
    const int64_t reach = (g.window[i] - 1) * g.dilation[i] + 1;
    std::pair<int64_t, int64_t> pads{0, 0};
    if (padding == "same") pads = same_padding(size, g.window[i], g.strides[i], g.dilation[i]);
    if (padding == "causal") pads = {reach - 1, 0};
    require(size + pads.first + pads.second >= reach, place, "the kernel reaches over ", reach,
            " elements, the input of shape ", x.shape(), " has only ", size);
    c.pad_low.push_back(pads.first);
    c.pad_high.push_back(pads.second);
  }
  return c;
}

}  // namespace plimsoll
