// What the recurrent layers share: their sizes, and pieces of their decompositions.
#pragma once

#include "device/cpu/rnn_support.h"
#include "ops/float_ops.h"
#include "ops/vjp_parts.h"

namespace plimsoll {

struct RnnDims {
  int64_t batch, time, features, units;
};
// Of x (batch, time, features) and h0 (batch, units), the first two inputs.
inline RnnDims rnn_dims(std::span<const TensorType> in) {
  return {in[0].shape[0], in[0].shape[1], in[0].shape[2], in[1].shape[1]};
}

inline RnnSizes rnn_sizes(const KernelQuery& q) {
  const RnnDims d = rnn_dims(q.in);
  return {q.in[0].dtype, d.batch, d.time, d.features, d.units, q.attrs.flag("reverse"), q.threads};
}

// The products of input and state with the weights of `gates` gates.
inline Cost rnn_cost(const OpCall& c, std::span<const TensorType> out, double gates) {
  const RnnDims d = rnn_dims(c.in);
  Cost cost = streaming_cost(c, out, 0);
  cost.flops = 2 * gates * static_cast<double>(d.batch * d.time) * static_cast<double>(d.units) *
               static_cast<double>(d.features + d.units);
  return cost;
}

// (batch, time, n) as (time, batch, n), and back.
inline Tensor time_first(const Tensor& t) { return transpose(t, {1, 0, 2}); }

inline Tensor zeros(const Tensor& like, const Shape& shape) {
  return broadcast_to(scalar_like(like, 0), shape);
}

// What the state was before each step: `all` (batch, time, u) moved by one, with `first` (batch, u) at the
// start.
inline Tensor steps_before(const Tensor& first, const Tensor& all, bool reverse) {
  const int64_t batch = all.dim(0), time = all.dim(1), u = all.dim(2);
  const Tensor start = expand_dims(first, 1);
  if (time == 1) return start;
  const Tensor rest =
      reverse ? slice(all, {0, 1, 0}, {batch, time, u}) : slice(all, {0, 0, 0}, {batch, time - 1, u});
  return reverse ? concatenate({{rest, start}}, 1) : concatenate({{start, rest}}, 1);
}

}  // namespace plimsoll
