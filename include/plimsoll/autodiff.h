// Reverse-mode gradients of a graph under construction.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// d(sum of y) / d(x) for each x, as new nodes of y's graph. `dy` (optional, undefined Tensor: ones) weighs y.
// An x that y does not depend on gets zeros. Gradients are nodes: call it again for second derivatives.
std::vector<Tensor> gradients(const Tensor& y, std::span<const Tensor> xs, const Tensor& dy = {});

// Several ys at once: sum over i of dys[i] * d(ys[i]) / d(x). An undefined dys[i] counts as zero.
std::vector<Tensor> gradients(std::span<const Tensor> ys, std::span<const Tensor> xs,
                              std::span<const Tensor> dys);

}  // namespace plimsoll
#pragma GCC visibility pop
