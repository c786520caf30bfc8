// Small things that several layers share.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "plimsoll/layer.h"
#include "plimsoll/ops/math.h"

namespace plimsoll {

// Throws Error{invalid_argument} naming the layer and the argument unless `value` is one of `choices`.
void check_choice(std::string_view place, std::string_view argument, std::string_view value,
                  std::initializer_list<std::string_view> choices);
// Throws Error{unsupported} naming the layer and the argument.
[[noreturn]] void refuse(std::string_view place, std::string_view argument);

// Keras's to_snake_case: "Conv2D" is "conv2d", "MaxPooling2D" "max_pooling2d", "LSTM" "lstm".
std::string snake_name(std::string_view class_name);

// The layers of an attribute that is a list. In files each is named by its class and, from the second on, a
// number.
void visit_list(std::string_view attribute, const std::vector<Layer>& layers,
                const std::function<void(std::string_view, const Layer&)>& visit);

// A field with a size per axis: Keras writes them all, whether one was given or several.
void dims_field(Fields& f, std::string_view name, Dims& value, int rank, std::string_view place);

// Layers compute channels-last; data_format "channels_first" turns the axes before and after.
bool is_channels_first(std::string_view place, std::string_view data_format);
Tensor channels_to_last(const Tensor& x);
Tensor channels_to_first(const Tensor& x);

// y plus the layer's weight `name`, if the options ask for one; many layers do so in the same four fields.
template <class Options>
Tensor with_bias(Scope& s, const Tensor& y, const Shape& shape, const Options& o,
                 std::string_view name = "bias") {
  if (!o.use_bias) return y;
  return y + s.weight(name, shape, o.bias_initializer,
                      {.regularizer = o.bias_regularizer, .constraint = o.bias_constraint});
}

// Moves one axis to the end, and back.
Tensor axis_to_last(const Tensor& x, int axis);
Tensor axis_from_last(const Tensor& x, int axis);
// A vector shaped so that it broadcasts along `axis` of a tensor of `rank` axes.
Tensor along_axis(const Tensor& v, int axis, int rank);
// x[..., start:limit, ...] on one axis.
Tensor slice_axis(const Tensor& x, int axis, int64_t start, int64_t limit);
// Keras's ops.normalize: x divided by its Euclidean norm along the axes, the norm being at least `epsilon`.
Tensor unit_length(const Tensor& x, const Ints& axes, double epsilon = 1e-7);

}  // namespace plimsoll
