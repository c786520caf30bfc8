#include "keras_io/old_kernels.h"

#include "plimsoll/contents.h"
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

void convert_kernel(const Origin& origin, Tensor& kernel, const Shape& wanted) {
  const int spatial = wanted.rank() - 2;
  if (kernel.rank() != wanted.rank() && !(spatial == 1 && kernel.rank() == 4)) return;
  if (kernel.shape() != wanted) {  // (out, in, spatial...), and for Conv1D an axis more
    Ints order;
    for (int i = 2; i < kernel.rank(); ++i) order.push_back(i);
    order.insert(order.end(), {1, 0});
    const Tensor moved = transpose(kernel, order);
    const Tensor turned = spatial == 1 && moved.rank() == 4
                              ? reshape(moved, Shape{moved.dim(0) * moved.dim(1), moved.dim(2), moved.dim(3)})
                              : moved;
    if (turned.shape() == wanted)
      kernel = turned;
    else if (spatial == 1 && kernel.rank() == 4 && kernel.shape().elements() == wanted.elements())
      kernel = reshape(kernel, wanted);
  }
  if (origin.turns_kernels() && kernel.shape() == wanted) {
    Ints axes;
    for (int i = 0; i < spatial; ++i) axes.push_back(i);
    kernel = reverse(kernel, axes);
  }
}

}  // namespace

std::vector<Tensor> convert_old_weights(const LayerBase& layer, const Origin& origin,
                                        std::vector<Tensor> values, const std::vector<Shape>& shapes) {
  const std::string_view kind = layer.class_name();
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
    convert_kernel(origin, values[0], shapes[0]);
  }
  return values;
}

void set_value(const Variable& variable, const Tensor& value) {
  assign(variable.value,
         value.dtype() == variable.value.dtype() ? value : cast(value, variable.value.dtype()));
}

}  // namespace plimsoll::keras_io
