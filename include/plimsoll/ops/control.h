// Control flow. The bodies are functions from tensors to tensors, traced once into sub-graphs; symbolic
// tensors of the outer graph that they use become further inputs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

using Body = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

// Both bodies return the same types. Differentiable.
std::vector<Tensor> cond(const Tensor& predicate, std::span<const Tensor> operands, const Body& if_true,
                         const Body& if_false);
// while test(state): state = body(state). Has no gradient (the number of rounds is not known).
std::vector<Tensor> while_loop(std::span<const Tensor> state, const Body& test, const Body& body);
// For t in 0..length-1 (backwards if reverse): {carry..., ys_t...} = body({carry..., xs_t...}), xs_t = xs[t].
// Returns {carry..., ys...} with ys stacked along a new first axis. Differentiable.
std::vector<Tensor> scan(std::span<const Tensor> carry, std::span<const Tensor> xs, int64_t length,
                         const Body& body, bool reverse = false);

}  // namespace plimsoll
#pragma GCC visibility pop
