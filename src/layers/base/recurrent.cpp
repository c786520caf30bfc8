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
  cell_fields(f);
  activity_field(f);
}

void RecurrentLayer::cell_fields(Fields& f) {
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
  f("kernel_constraint", o.kernel_constraint);
  f("recurrent_constraint", o.recurrent_constraint);
  f("bias_constraint", o.bias_constraint);
  f("dropout", o.dropout);
  f("recurrent_dropout", o.recurrent_dropout);
  last_fields(f);
}

RecurrentLayer::Weights RecurrentLayer::make_weights(Scope& s, int64_t features, std::string_view prefix) {
  const int64_t width = checked_mul(units, gates(), name());
  Weights w;
  w.kernel = s.weight(concat(prefix, "kernel"), {features, width}, o.kernel_initializer,
                      {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint});
  w.recurrent = s.weight(concat(prefix, "recurrent_kernel"), {units, width}, o.recurrent_initializer,
                         {.regularizer = o.recurrent_regularizer, .constraint = o.recurrent_constraint});
  if (o.use_bias) {
    w.bias = s.weight(concat(prefix, "bias"), has_two_biases() ? Shape{2, width} : Shape{width},
                      initial_bias(), {.regularizer = o.bias_regularizer, .constraint = o.bias_constraint});
  }
  s.add_seed_generator(o.seed, concat(prefix, "seed_generator"));
  return w;
}

RecurrentLayer::Drops RecurrentLayer::make_drops(Scope& s, DType dtype, int64_t batch, int64_t features,
                                                 std::string_view prefix) {
  Drops drops;
  if (!s.training()) return drops;
  // Keras drops gate by gate as soon as states are dropped too.
  const int count = o.recurrent_dropout > 0 ? gates() : 1;
  const auto draw = [&](std::vector<Tensor>& masks, double rate, int64_t width) {
    for (int i = 0; i < count && rate > 0; ++i) {
      const Tensor ones = Tensor::full(dtype, {batch, width}, 1);
      masks.push_back(dropout(ones, s.random_key(o.seed, concat(prefix, "seed_generator")), rate));
    }
  };
  draw(drops.input, o.dropout, features);
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

void RecurrentLayer::check() const {
  require(units > 0, name(), "expected units > 0, got ", units);
  require(o.dropout >= 0 && o.dropout < 1 && o.recurrent_dropout >= 0 && o.recurrent_dropout < 1, name(),
          "expected dropout and recurrent_dropout of at least 0 and below 1, got ", o.dropout, " and ",
          o.recurrent_dropout);
}

CellStep RecurrentLayer::cell_step(Scope& s, const TensorType& x) {
  check();
  require(x.shape.rank() == 2, name(), "expected an input (batch, features) in each step, got ", x.shape);
  const Weights w = make_weights(s, x.shape[1], "");
  const Drops drops = make_drops(s, x.dtype, x.shape[0], x.shape[1], "");
  return [this, w, drops](const Tensor& step_input, std::span<const Tensor> states) {
    const Tensor z = squeeze(project(expand_dims(step_input, 1), w, drops), 1);
    std::vector<Tensor> after = step(z, states, w, drops.state);
    after.insert(after.begin(), after[0]);
    return after;
  };
}

std::vector<Tensor> RecurrentLayer::call_many(Scope& s, std::span<const Tensor> xs) {
  require(!xs.empty() && xs[0].rank() == 3, name(), "expected an input (batch, time, features), got ",
          xs.empty() ? "none" : xs[0].shape().str());
  const Tensor& x = xs[0];
  check();
  require(x.dim(1) > 0, name(), "expected at least one time step, got shape ", x.shape());
  const Weights w = make_weights(s, x.dim(2), "cell/");
  const std::vector<Shape> shapes(static_cast<size_t>(states()), Shape{x.dim(0), units});
  const std::vector<Tensor> start = initial_states(s, xs, shapes, o.stateful);
  const TimeWalk walk{s.mask(x), o.go_backwards, o.zero_output_for_mask};
  require(!walk.mask.defined() || walk.mask.rank() == 2, name(), "expected a mask (batch, time), got ",
          walk.mask.shape());
  const Drops drops = make_drops(s, x.dtype(), x.dim(0), x.dim(2), "cell/");

  std::vector<Tensor> found;
  if (!walk.mask.defined() && drops.input.empty() && drops.state.empty()) found = fused(x, start, w);
  if (found.empty()) {
    const CellStep one = [&](const Tensor& z, std::span<const Tensor> before) {
      std::vector<Tensor> after = step(z, before, w, drops.state);
      after.insert(after.begin(), after[0]);
      return after;
    };
    found = walk_over_time(project(x, w, drops), start, one, walk);
  }
  if (o.stateful) keep_states(s, found);
  return recurrent_results(s, found, walk, {o.return_sequences, o.return_state});
}

void reset_state(const Layer& rnn) {
  constexpr std::string_view kStates = "rnn_state/";
  require(bool(rnn), "reset_state", "expected a recurrent layer, got none");
  const bool known = dynamic_cast<const RecurrentLayer*>(rnn.get()) != nullptr;
  require(known || rnn->find_variable(state_name(0)) != nullptr, "reset_state", "expected a recurrent layer");
  for (const VariablePtr& held : rnn->variables()) {
    if (!held->name.starts_with(kStates)) continue;
    std::memset(held->value.data(), 0,
                static_cast<size_t>(byte_size(held->value.dtype(), held->value.shape())));
  }
}

}  // namespace plimsoll
