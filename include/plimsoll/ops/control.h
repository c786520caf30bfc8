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
// branches[index], the first for an index below 0 and the last for one too large. All return the same types.
// Differentiable.
std::vector<Tensor> switch_case(const Tensor& index, std::span<const Tensor> operands,
                                std::span<const Body> branches);
// while test(state): state = body(state). Its gradient runs the loop again, keeping the state in 32 places.
std::vector<Tensor> while_loop(std::span<const Tensor> state, const Body& test, const Body& body);
// The same for at most `most` rounds, with a gradient that computes nothing twice: each round takes memory for
// its state, also those not needed.
std::vector<Tensor> bounded_while(std::span<const Tensor> state, int64_t most, const Body& test,
                                  const Body& body);
// For t in 0..length-1 (backwards if reverse): {carry..., ys_t...} = body({carry..., xs_t...}), xs_t = xs[t].
// Returns {carry..., ys...} with ys stacked along a new first axis. Differentiable.
std::vector<Tensor> scan(std::span<const Tensor> carry, std::span<const Tensor> xs, int64_t length,
                         const Body& body, bool reverse = false);

// The ys, whose gradients go to the xs as `backward` says, not where the ys came from: it gets the gradients
// of the ys (zeros where there is none) and returns those of the xs. What it uses besides, it captures.
// Symbolic ys only; concrete ones come back as they are.
std::vector<Tensor> custom_vjp(std::span<const Tensor> ys, std::span<const Tensor> xs, const Body& backward);
// body(operands), of which a gradient keeps the operands alone and computes the rest again.
std::vector<Tensor> remat(std::span<const Tensor> operands, const Body& body);

}  // namespace plimsoll
#pragma GCC visibility pop
