#include "keras_io/old_kernels.h"

#include <charconv>

#include "keras_io/json.h"
#include "layers/base/json_parts.h"
#include "layers/base/config_json.h"
#include "layers/base/functional.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::keras_io {
namespace {

// Keras 1 kept the three weights of each gate one after the other; `order` are the gates as they are now.
std::vector<Tensor> join_gates(const std::vector<Tensor>& values, const std::vector<size_t>& order) {
  std::vector<Tensor> joined;
  for (size_t part = 0; part < 3; ++part) {  // kernel, recurrent kernel, bias
    std::vector<Tensor> gates;
    for (const size_t gate : order) gates.push_back(values[3 * gate + part]);
    joined.push_back(concatenate(gates, -1));
  }
  return joined;
}

std::vector<Tensor> gates_of(const Tensor& kernel, int64_t count) {
  const int64_t width = kernel.dim(-1) / count;
  std::vector<Tensor> gates;
  for (int64_t g = 0; g < count; ++g)
    gates.push_back(slice(kernel, {0, g * width}, {kernel.dim(0), (g + 1) * width}));
  return gates;
}

// cuDNN keeps each gate's kernel by columns: the same numbers, read in another order.
std::vector<Tensor> from_cudnn(const std::vector<Tensor>& values, int64_t gates) {
  std::vector<Tensor> kernels, recurrent;
  for (const Tensor& k : gates_of(values[0], gates)) {
    kernels.push_back(transpose(reshape(k, Shape{k.dim(1), k.dim(0)}), {1, 0}));
  }
  for (const Tensor& k : gates_of(values[1], gates)) recurrent.push_back(transpose(k, {1, 0}));
  const Tensor halves = reshape(values[2], Shape{2, values[2].dim(0) / 2});
  const bool lstm = gates == 4;
  return {concatenate(kernels, -1), concatenate(recurrent, -1), lstm ? sum(halves, {0}) : halves};
}

std::vector<Tensor> convert_recurrent(const LayerBase& layer, std::vector<Tensor> values,
                                      const std::vector<Shape>& shapes) {
  const bool lstm = layer.class_name() == "LSTM";
  // Keras 1 had the gates in the order i, c, f, o; Keras 2 has i, f, c, o.
  if (lstm && values.size() == 12) return join_gates(values, {0, 2, 1, 3});
  if (!lstm && values.size() == 9) return join_gates(values, {0, 1, 2});
  if (values.size() == 3 && shapes.size() == 3 && values[0].rank() == 2 && values[2].rank() == 1 &&
      values[2].dim(0) == (lstm ? 2 : 1) * shapes[2].elements() && values[2].shape() != shapes[2]) {
    return from_cudnn(values, lstm ? 4 : 3);
  }
  return values;
}

bool is_channels_first(LayerBase& layer) {
  return text_of(config_to_json(layer), "data_format") == "channels_first";
}

// The order of a stored kernel's axes that makes it (spatial..., in, out); for a transposed convolution (...,
// out, in).
Ints kernel_order(LayerBase& layer, const Origin& origin, const Tensor& kernel, const Shape& wanted) {
  Ints kept, moved;
  for (int i = 0; i < kernel.rank(); ++i) kept.push_back(i);
  for (int i = 2; i < kernel.rank(); ++i) moved.push_back(i);
  moved.insert(moved.end(), {1, 0});
  // A Conv1D of Keras 1: (size, 1, in, out) or, earlier, (out, in, size, 1).
  if (kernel.rank() != wanted.rank()) {
    return kernel.dim(0) == wanted[0] && kernel.dim(1) == 1 && kernel.dim(3) == wanted[2] ? kept : moved;
  }
  if (!origin.is_keras1()) return kernel.shape() == wanted ? kept : moved;
  // Shapes do not tell where there are as many channels in as out.
  const bool first = is_channels_first(layer);
  if (layer.class_name() == "Conv2DTranspose") return first ? Ints{2, 3, 0, 1} : Ints{0, 1, 3, 2};
  return first || kernel.shape() != wanted ? moved : kept;
}

void convert_kernel(LayerBase& layer, const Origin& origin, Tensor& kernel, const Shape& wanted) {
  const int spatial = wanted.rank() - 2;
  if (kernel.rank() != wanted.rank() && !(spatial == 1 && kernel.rank() == 4)) return;
  Tensor turned = transpose(kernel, kernel_order(layer, origin, kernel, wanted));
  if (turned.rank() != wanted.rank())
    turned = reshape(turned, Shape{turned.dim(0) * turned.dim(1), turned.dim(2), turned.dim(3)});
  if (turned.shape() != wanted) return;  // what it is, the error says
  kernel = turned;
  if (!origin.turns_kernels()) return;
  Ints axes;
  for (int i = 0; i < spatial; ++i) axes.push_back(i);
  kernel = reverse(kernel, axes);
}

// How many weights a file has for a layer that has `count` now.
size_t stored_count(const LayerBase& layer, const Origin& origin, size_t count) {
  if (!origin.is_keras1()) return count;
  if (layer.class_name() == "LSTM") return 4 * count;
  return layer.class_name() == "GRU" ? 3 * count : count;
}

// A model inside a model has the weights of all its layers in one list, the trained ones first.
std::vector<Tensor> convert_nested(const Network& network, const Origin& origin, std::vector<Tensor> values,
                                   const std::vector<Shape>& shapes) {
  std::vector<Tensor> converted;
  size_t value = 0, shape = 0;
  for (const bool trained : {true, false}) {
    for (const Layer& layer : network.layers()) {
      const size_t count = (trained ? layer->trainable_weights() : layer->non_trainable_weights()).size();
      const size_t stored = stored_count(*layer, origin, count);
      if (stored > values.size() - value || count > shapes.size() - shape) return values;
      const auto from = values.begin() + static_cast<ptrdiff_t>(value);
      const auto to = shapes.begin() + static_cast<ptrdiff_t>(shape);
      for (Tensor& t : convert_old_weights(*layer, origin, {from, from + static_cast<ptrdiff_t>(stored)},
                                           {to, to + static_cast<ptrdiff_t>(count)}))
        converted.push_back(std::move(t));
      value += stored;
      shape += count;
    }
  }
  return value == values.size() ? converted : values;
}

}  // namespace

KerasVersion parse_keras_version(std::string_view text) {
  KerasVersion version{};
  const char *at = text.data(), *end = at + text.size();
  for (int& part : version) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc() || next == end || *next != '.') break;
    at = next + 1;
  }
  return version;
}

std::vector<Tensor> convert_old_weights(LayerBase& layer, const Origin& origin, std::vector<Tensor> values,
                                        const std::vector<Shape>& shapes) {
  const std::string_view kind = layer.class_name();
  if (const auto* network = dynamic_cast<const Network*>(&layer))
    return convert_nested(*network, origin, std::move(values), shapes);
  if (kind == "LSTM" || kind == "GRU") return convert_recurrent(layer, std::move(values), shapes);
  if (kind == "Bidirectional" && values.size() % 2 == 0 && shapes.size() % 2 == 0) {
    std::vector<Tensor> both;
    size_t half = 0;
    layer.visit_inner([&](std::string_view, const Layer& inner) {
      if (half > 1) return;
      const auto part = [&](auto& list) {
        const auto from = list.begin() + static_cast<ptrdiff_t>(half * list.size() / 2);
        return std::decay_t<decltype(list)>(from, from + static_cast<ptrdiff_t>(list.size() / 2));
      };
      for (Tensor& t : convert_old_weights(*inner, origin, part(values), part(shapes)))
        both.push_back(std::move(t));
      ++half;
    });
    return half == 2 ? both : values;
  }
  if (kind.starts_with("Conv") && !values.empty() && !shapes.empty() && shapes[0].rank() >= 3) {
    convert_kernel(layer, origin, values[0], shapes[0]);
  }
  return values;
}

}  // namespace plimsoll::keras_io
