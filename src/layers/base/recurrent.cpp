#include "layers/base/recurrent.h"

#include <cstring>

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/control.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

std::string state_name(int i) { return concat("rnn_state/", i); }

}  // namespace

RecurrentLayer::RecurrentLayer(int64_t units, RecurrentOptions options)
    : units(units), o(std::move(options)) {
  set_activity_regularizer(std::move(o.activity_regularizer));
}

void RecurrentLayer::fields(Fields& f) {
  f("return_sequences", o.return_sequences);
  f("return_state", o.return_state);
  f("go_backwards", o.go_backwards);
  f("stateful", o.stateful);
  f("unroll", o.unroll);
  f("zero_output_for_mask", o.zero_output_for_mask);
  f("units", units);
  activation_fields(f);
  f("use_bias", o.use_bias);
  f("kernel_initializer", o.kernel_initializer);
  f("recurrent_initializer", o.recurrent_initializer);
  f("bias_initializer", o.bias_initializer);
  bias_fields(f);
  f("kernel_regularizer", o.kernel_regularizer);
  f("recurrent_regularizer", o.recurrent_regularizer);
  f("bias_regularizer", o.bias_regularizer);
  activity_field(f);
  f("kernel_constraint", o.kernel_constraint);
  f("recurrent_constraint", o.recurrent_constraint);
  f("bias_constraint", o.bias_constraint);
  f("dropout", o.dropout);
  f("recurrent_dropout", o.recurrent_dropout);
  last_fields(f);
}

RecurrentLayer::Weights RecurrentLayer::make_weights(Scope& s, int64_t features) {
  const int64_t width = checked_mul(units, gates(), name());
  Weights w;
  w.kernel = s.weight("cell/kernel", {features, width}, o.kernel_initializer,
                      {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint});
  w.recurrent = s.weight("cell/recurrent_kernel", {units, width}, o.recurrent_initializer,
                         {.regularizer = o.recurrent_regularizer, .constraint = o.recurrent_constraint});
  if (o.use_bias) {
    w.bias = s.weight("cell/bias", has_two_biases() ? Shape{2, width} : Shape{width}, initial_bias(),
                      {.regularizer = o.bias_regularizer, .constraint = o.bias_constraint});
  }
  s.add_seed_generator(o.seed, "cell/seed_generator");
  return w;
}

std::vector<Tensor> RecurrentLayer::initial_states(Scope& s, std::span<const Tensor> xs) {
  std::vector<Tensor> given(xs.begin() + 1, xs.end());
  if (given.empty()) given = s.arguments("initial_state");
  const Tensor& x = xs[0];
  const Shape shape{x.dim(0), units};
  if (o.stateful) {
    for (int i = 0; i < states(); ++i) {
      const Tensor held = s.weight(state_name(i), shape, "zeros", {.is_state = true});
      if (std::ssize(given) < states()) given.push_back(held);
    }
  }
  if (given.empty()) given.assign(static_cast<size_t>(states()), Tensor::zeros(x.dtype(), shape));
  require(std::ssize(given) == states(), name(), "expected ", states(), " initial states, got ",
          given.size());
  for (Tensor& state : given) {
    require(state.shape() == shape, name(), "expected an initial state of shape ", shape, ", got ",
            state.shape());
    state = cast(state, x.dtype());
  }
  return given;
}

RecurrentLayer::Drops RecurrentLayer::make_drops(Scope& s, const Tensor& x) {
  Drops drops;
  if (!s.training()) return drops;
  // Keras drops gate by gate as soon as states are dropped too.
  const int count = o.recurrent_dropout > 0 ? gates() : 1;
  const auto draw = [&](std::vector<Tensor>& masks, double rate, int64_t width) {
    for (int i = 0; i < count && rate > 0; ++i) {
      const Tensor ones = Tensor::full(x.dtype(), {x.dim(0), width}, 1);
      masks.push_back(dropout(ones, s.random_key(o.seed, "cell/seed_generator"), rate));
    }
  };
  draw(drops.input, o.dropout, x.dim(2));
  draw(drops.state, o.recurrent_dropout, units);
  return drops;
}

Tensor RecurrentLayer::gate(const Tensor& z, int which) const {
  return slice_axis(z, z.rank() - 1, which * units, (which + 1) * units);
}

Tensor RecurrentLayer::recur(const Tensor& state, const Tensor& recurrent, const std::vector<Tensor>& drops,
                             int first, int last) const {
  if (drops.size() <= 1) {
    const Tensor h = drops.empty() ? state : state * drops[0];
    const bool whole = first == 0 && last == gates();
    return matmul(h, whole ? recurrent : slice_axis(recurrent, 1, first * units, last * units));
  }
  std::vector<Tensor> parts;
  for (int g = first; g < last; ++g)
    parts.push_back(matmul(state * drops[static_cast<size_t>(g)], gate(recurrent, g)));
  return parts.size() == 1 ? parts[0] : concatenate(parts, 1);
}

// All steps at once: (batch, time, gates * units).
Tensor RecurrentLayer::project(const Tensor& x, const Weights& w, const Drops& drops) const {
  Tensor z;
  if (drops.input.size() <= 1) {
    z = matmul(drops.input.empty() ? x : x * expand_dims(drops.input[0], 1), w.kernel);
  } else {
    std::vector<Tensor> parts;
    for (int g = 0; g < gates(); ++g) {
      parts.push_back(matmul(x * expand_dims(drops.input[static_cast<size_t>(g)], 1), gate(w.kernel, g)));
    }
    z = concatenate(parts, 2);
  }
  if (!w.bias.defined()) return z;
  return z + (has_two_biases() ? squeeze(slice_axis(w.bias, 0, 0, 1), 0) : w.bias);
}

// {outputs (batch, time, units) beside their inputs, last states...}
std::vector<Tensor> RecurrentLayer::walk(const Tensor& x, const Tensor& mask, std::vector<Tensor> states,
                                         const Weights& w, const Drops& drops) const {
  std::vector<Tensor> along = {transpose(project(x, w, drops), {1, 0, 2})};
  if (mask.defined()) along.push_back(expand_dims(transpose(mask, {1, 0}), -1));
  const size_t count = states.size();
  const Body body = [&](std::span<const Tensor> in) {
    const std::span<const Tensor> before = in.first(count);
    std::vector<Tensor> after = step(in[count], before, w, drops.state);
    Tensor output = after[0];
    if (mask.defined()) {
      const Tensor& kept = in[count + 1];
      output = where(kept, output, o.zero_output_for_mask ? scalar_like(output, 0) : before[0]);
      for (size_t i = 0; i < count; ++i) after[i] = where(kept, after[i], before[i]);
    }
    after.push_back(output);
    return after;
  };
  std::vector<Tensor> found = scan(states, along, x.dim(1), body, o.go_backwards);
  std::vector<Tensor> results = {transpose(found[count], {1, 0, 2})};
  results.insert(results.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count));
  return results;
}

std::vector<Tensor> RecurrentLayer::call_many(Scope& s, std::span<const Tensor> xs) {
  require(!xs.empty() && xs[0].rank() == 3, name(), "expected an input (batch, time, features), got ",
          xs.empty() ? "none" : xs[0].shape().str());
  const Tensor& x = xs[0];
  require(units > 0, name(), "expected units > 0, got ", units);
  require(x.dim(1) > 0, name(), "expected at least one time step, got shape ", x.shape());
  require(o.dropout >= 0 && o.dropout < 1 && o.recurrent_dropout >= 0 && o.recurrent_dropout < 1, name(),
          "expected dropout and recurrent_dropout of at least 0 and below 1, got ", o.dropout, " and ",
          o.recurrent_dropout);
  const Weights w = make_weights(s, x.dim(2));
  const std::vector<Tensor> start = initial_states(s, xs);
  const Tensor mask = s.mask(x);
  require(!mask.defined() || mask.rank() == 2, name(), "expected a mask (batch, time), got ", mask.shape());
  const Drops drops = make_drops(s, x);

  std::vector<Tensor> found;
  if (!mask.defined() && drops.input.empty() && drops.state.empty()) found = fused(x, start, w);
  if (found.empty()) found = walk(x, mask, start, w, drops);
  const auto last = static_cast<size_t>(states());
  if (o.stateful) {
    for (size_t i = 0; i < last; ++i) s.update(state_name(static_cast<int>(i)), found[i + 1]);
  }

  std::vector<Tensor> results;
  if (o.return_sequences) {
    results.push_back(o.go_backwards ? reverse(found[0], {1}) : found[0]);
    s.set_mask(results[0], mask);
  } else {
    const int64_t at = o.go_backwards ? 0 : x.dim(1) - 1;
    const bool is_state = !mask.defined() || !o.zero_output_for_mask;
    results.push_back(is_state ? found[1] : squeeze(slice_axis(found[0], 1, at, at + 1), 1));
  }
  if (o.return_state) results.insert(results.end(), found.begin() + 1, found.end());
  return results;
}

void reset_state(const Layer& rnn) {
  const auto* layer = dynamic_cast<const RecurrentLayer*>(rnn.get());
  require(layer != nullptr, "reset_state", "expected a recurrent layer");
  for (int i = 0; i < layer->states(); ++i) {
    const VariablePtr held = layer->find_variable(state_name(i));
    if (held == nullptr) continue;
    std::memset(held->value.data(), 0,
                static_cast<size_t>(byte_size(held->value.dtype(), held->value.shape())));
  }
}

}  // namespace plimsoll
