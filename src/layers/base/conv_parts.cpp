#include "layers/base/conv_parts.h"

#include "plimsoll/error.h"

namespace plimsoll {

ConvWindow conv_window(std::string_view place, int rank, const Dims& kernel_size, const Dims& strides,
                       const Dims& dilation_rate) {
  ConvWindow w{kernel_size.of_rank(rank, place), strides.of_rank(rank, place),
               dilation_rate.of_rank(rank, place)};
  bool strided = false;
  bool dilated = false;
  for (size_t i = 0; i < w.size.size(); ++i) {
    require(w.size[i] > 0, place, "expected kernel_size > 0, got ", w.size[i]);
    require(w.strides[i] > 0, place, "expected strides > 0, got ", w.strides[i]);
    require(w.dilation[i] > 0, place, "expected dilation_rate > 0, got ", w.dilation[i]);
    strided = strided || w.strides[i] > 1;
    dilated = dilated || w.dilation[i] > 1;
  }
  require(!strided || !dilated, place, "strides > 1 cannot go with dilation_rate > 1");
  return w;
}

Tensor conv_input(std::string_view place, int rank, std::string_view data_format, const Tensor& input) {
  require(input.rank() == rank + 2, place, "expected an input of ", rank + 2, " axes, got shape ",
          input.shape());
  return is_channels_first(place, data_format) ? channels_to_last(input) : input;
}

Tensor conv_result(std::string_view place, std::string_view data_format, const Tensor& y) {
  return is_channels_first(place, data_format) ? channels_to_first(y) : y;
}

ConvOptions conv_options(std::string_view place, const Tensor& x, const ConvWindow& w,
                         std::string_view padding, int64_t groups) {
  ConvOptions c{.strides = w.strides, .rhs_dilation = w.dilation, .groups = groups};
  for (size_t i = 0; i < w.size.size(); ++i) {
    const int64_t size = x.dim(static_cast<int>(i) + 1);
    const int64_t reach = (w.size[i] - 1) * w.dilation[i] + 1;
    std::pair<int64_t, int64_t> pads{0, 0};
    if (padding == "same") pads = same_padding(size, w.size[i], w.strides[i], w.dilation[i]);
    if (padding == "causal") pads = {reach - 1, 0};
    require(size + pads.first + pads.second >= reach, place, "the kernel reaches over ", reach,
            " elements, the input of shape ", x.shape(), " has only ", size);
    c.pad_low.push_back(pads.first);
    c.pad_high.push_back(pads.second);
  }
  return c;
}

}  // namespace plimsoll
