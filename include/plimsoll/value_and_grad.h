// Values and gradients of a plain function, for training loops of your own:
//
//   auto loss = value_and_grad([&](std::span<const Tensor> w) { return mean(square(matmul(x, w[0]) - y)); });
//   for (int i = 0; i < 100; ++i) { auto [value, grads] = loss({weights}); weights = weights - 0.1 *
//   grads[0]; }
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct ValueAndGradients {
  Tensor value;                   // a scalar
  std::vector<Tensor> gradients;  // one for each argument
};

// `function` makes a scalar of its arguments by the functions of ops.h. It is traced once for each set of
// types that it is called with, not at each call: what else it reads (x and y above) is kept as it was then.
// Copies of the result share what was compiled. One call at a time. Throws Error{invalid_argument} if the
// result is no scalar or an argument is not concrete.
std::function<ValueAndGradients(const std::vector<Tensor>&)> value_and_grad(
    std::function<Tensor(std::span<const Tensor>)> function);

}  // namespace plimsoll
#pragma GCC visibility pop
