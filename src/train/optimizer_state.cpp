#include "train/optimizer_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>

#include "memory/addresses.h"
#include "memory/buffer.h"
#include "memory/spill.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "train/planned_state.h"

namespace plimsoll {

// What the updates of one step have in common.
struct OptimizerState::Step {
  Trace& trace;
  Tensor rate;          // float32
  Tensor iteration;     // of updates: steps, or groups of accumulated steps
  Tensor finite = {};   // bool scalar: nothing changes without it; undefined: always
  Tensor applies = {};  // bool scalar: weights and slots change only then; undefined: always
  Tensor scale = {};    // what the gradients are still to be divided by; undefined: nothing

  Tensor if_finite(const Tensor& next, const Tensor& old) const {
    return finite.defined() ? where(finite, next, old) : next;
  }
  Tensor if_applies(const Tensor& next, const Tensor& old) const {
    return applies.defined() ? where(applies, next, old) : next;
  }
};

class TracedUpdate final : public UpdateScope {
 public:
  TracedUpdate(const OptimizerState& state, const OptimizerState::Step& step, const Variable& variable)
      : state_(state), step_(step), variable_(variable) {}
  Tensor slot(std::string_view name) override { return step_.trace.value(state_.slot(variable_, name)); }
  void set_slot(std::string_view name, const Tensor& next) override {
    const VariablePtr slot = state_.slot(variable_, name);
    const bool guarded = guard.applies.defined();
    step_.trace.update(slot, guarded ? next : step_.if_applies(next, step_.trace.initial_value(slot)));
  }
  bool has_slot(std::string_view name) const override {
    return state_.slot_of_.count({&variable_, std::string(name)}) != 0;
  }
  Tensor scalar(std::string_view name) override { return step_.trace.initial_value(state_.scalar(name)); }
  void set_scalar(std::string_view name, const Tensor& next) override {
    const VariablePtr scalar = state_.scalar(name);
    const Tensor old = step_.trace.initial_value(scalar);
    step_.trace.update(scalar, step_.if_applies(cast(next, old.dtype()), old));
  }

 private:
  const OptimizerState& state_;
  const OptimizerState::Step& step_;
  const Variable& variable_;
};

namespace {

void fill(Tensor& t, double value) {
  const Tensor one = Tensor::full(t.dtype(), {}, value);
  const size_t size = size_of(t.dtype());
  const int64_t bytes = byte_size(t.dtype(), t.shape());
  for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(size))
    std::memcpy(static_cast<char*>(t.data()) + at, one.data(), size);
}

}  // namespace

Tensor make_state(DType dtype, const Shape& shape, double value) {
  const int64_t bytes = byte_size(dtype, shape);
  if (PlannedState::active()) return Tensor(dtype, shape, addresses(bytes));
  Tensor made(dtype, shape, Buffer::make(bytes, Owner::state));
  fill(made, value);
  return made;
}

namespace {

VariablePtr make_variable(std::string name, Tensor value) {
  return std::make_shared<Variable>(
      Variable{.name = std::move(name), .value = std::move(value), .trainable = false});
}

VariablePtr make_variable(std::string name, DType dtype, const Shape& shape, double value) {
  return make_variable(std::move(name), make_state(dtype, shape, value));
}

int64_t bytes_of(const Tensor& t) { return byte_size(t.dtype(), t.shape()); }
void let_go(const Tensor& t) { spill::let_go(t.buffer()->address(), bytes_of(t)); }

}  // namespace

OptimizerState::OptimizerState(Optimizer optimizer)
    : loss_scale_(std::dynamic_pointer_cast<const LossScale>(optimizer.pointer())),
      optimizer_(loss_scale_ ? loss_scale_->inner : std::move(optimizer)) {
  require(bool(optimizer_), "optimizer", "expected an optimizer, got none");
  if (loss_scale_) {
    scale_iterations_ = make_variable("iteration", DType::i64, {}, 0);
    scale_rate_ = make_variable("learning_rate", DType::f32, {}, 0);
  }
  iterations_ = make_variable("iteration", DType::i64, {}, 0);
  learning_rate_ = make_variable("learning_rate", DType::f32, {}, optimizer_->learning_rate.rate);
}

void OptimizerState::add_slot(const Variable& weight, const SlotDef& def) {
  const std::optional<Shape> shape = optimizer_->slot_shape(def, weight);
  if (!shape) return;
  VariablePtr& slot = slot_of_[{&weight, def.name}];
  if (slot != nullptr) return;
  slot =
      make_variable(concat(weight.name, "_", def.name), make_slot(weight.value.dtype(), *shape, def.initial));
  if (def.copies_weight && !PlannedState::active()) assign(slot->value, weight.value);
  slots_.push_back(slot);
  if (!PlannedState::active() && is_spilled(*slot)) let_go(slot->value);
}

bool OptimizerState::spills(int64_t bytes) const { return !spill_.empty() && bytes >= spill::kLeast; }

bool OptimizerState::is_spilled(const Variable& slot) const {
  return spills(bytes_of(slot.value)) &&
         std::ranges::any_of(slots_, [&](const VariablePtr& s) { return s.get() == &slot; });
}

Tensor OptimizerState::make_slot(DType dtype, const Shape& shape, double value) const {
  const int64_t bytes = byte_size(dtype, shape);
  if (PlannedState::active() || !spills(bytes)) return make_state(dtype, shape, value);
  Tensor made(dtype, shape, spill::make(bytes, spill_));
  if (value != 0) fill(made, value);  // a new file is all zeros
  return made;
}

int64_t OptimizerState::spill_window() const {
  std::map<const Variable*, int64_t> by_weight;
  int64_t most = 0;
  for (const auto& [key, slot] : slot_of_) {
    if (const int64_t bytes = bytes_of(slot->value); spills(bytes))
      most = std::max(most, by_weight[key.first] += bytes);
  }
  return most;
}

void OptimizerState::charge_window() {
  if (PlannedState::active() || spill_.empty()) return;
  if (!window_) window_ = std::make_shared<Charge>();
  window_->set(Owner::state, spill_window());
}

bool OptimizerState::spill_to(const std::string& folder) {
  spill::check(folder);
  OptimizerState moved = *this;
  moved.spill_ = folder;
  std::vector<std::pair<VariablePtr, Tensor>> values;
  for (const VariablePtr& slot : slots_) {
    const int64_t bytes = bytes_of(slot->value);
    if (!moved.spills(bytes) || spill::holds(slot->value.buffer()->address())) continue;
    const Tensor there(slot->value.dtype(), slot->value.shape(), spill::make(bytes, folder));
    assign(there, slot->value);
    let_go(there);
    values.emplace_back(slot, there);
  }
  moved.charge_window();
  for (auto& [slot, value] : values) slot->value = value;
  *this = std::move(moved);
  return !values.empty();
}

void OptimizerState::build(std::span<const VariablePtr> weights) {
  OptimizerState built = *this;  // all or nothing: what cannot be made whole leaves no trace
  built.add_state(weights);
  built.charge_window();
  *this = std::move(built);
}

void OptimizerState::add_state(std::span<const VariablePtr> weights) {
  if (loss_scale_ && !dynamic_scale_) {
    step_counter_ = make_variable("step_counter", DType::i64, {}, 0);
    dynamic_scale_ = make_variable("dynamic_scale", DType::f32, {}, loss_scale_->initial_scale);
  }
  std::vector<std::vector<SlotDef>> groups = optimizer_->slots();
  if (optimizer_->gradient_accumulation_steps) groups.insert(groups.begin(), {{"gradient_accumulator"}});
  if (optimizer_->use_ema) groups.insert(groups.begin(), {{"average"}});
  for (const std::vector<SlotDef>& group : groups) {
    for (const VariablePtr& weight : weights) {
      for (const SlotDef& def : group) add_slot(*weight, def);
    }
  }
  if (!scalars_.empty()) return;
  const DType dtype = weights.empty() ? DType::f32 : weights[0]->value.dtype();
  for (const SlotDef& def : optimizer_->scalars())
    scalars_.push_back(make_variable(def.name, dtype, {}, def.initial));
}

VariablePtr OptimizerState::slot(const Variable& weight, std::string_view name) const {
  const auto found = slot_of_.find({&weight, std::string(name)});
  if (found == slot_of_.end())
    fail(ErrorKind::internal, optimizer_->class_name(), "has no slot '", name, "' for '", weight.name, "'");
  return found->second;
}

VariablePtr OptimizerState::scalar(std::string_view name) const {
  for (const VariablePtr& v : scalars_) {
    if (v->name == name) return v;
  }
  fail(ErrorKind::internal, optimizer_->class_name(), "keeps no number '", name, "'");
}

Tensor OptimizerState::scaled(Trace& trace, const Tensor& loss) const {
  if (loss_scale_) return loss * trace.initial_value(dynamic_scale_);
  return optimizer_->loss_scale_factor ? loss * *optimizer_->loss_scale_factor : loss;
}

bool OptimizerState::clips() const {
  const OptimizerBase& o = *optimizer_;
  return o.clipnorm.value_or(0) > 0 || o.global_clipnorm.value_or(0) > 0 || o.clipvalue.value_or(0) > 0;
}

void OptimizerState::clip(std::vector<Tensor>& gradients) const {
  const auto squared_norm = [](const Tensor& g) { return sum(square(g)); };
  if (const double norm = optimizer_->clipnorm.value_or(0); norm > 0) {
    for (Tensor& g : gradients) {
      const Tensor length = sqrt(squared_norm(g));
      g = g * norm / maximum(length, scalar_like(length, norm));
    }
  } else if (const double all = optimizer_->global_clipnorm.value_or(0); all > 0) {
    Tensor total;
    for (const Tensor& g : gradients) {
      const Tensor part = cast(squared_norm(g), DType::f32);
      total = total.defined() ? total + part : part;
    }
    const Tensor length = sqrt(total);
    // NaN of an infinite norm, as in Keras, where zeros would hide it.
    const Tensor spoiled = length - length;  // NOLINT(misc-redundant-expression)
    const Tensor scale = all * minimum(1.0 / length, scalar_like(length, 1 / all)) + spoiled;
    for (Tensor& g : gradients) g = g * cast(scale, g.dtype());
  } else if (const double value = optimizer_->clipvalue.value_or(0); value > 0) {
    for (Tensor& g : gradients) g = plimsoll::clip(g, -value, value);
  }
}

bool OptimizerState::decays(const Variable& weight) const {
  if (optimizer_->decay_of(weight).value_or(0) == 0) return false;
  for (const std::string& pattern : optimizer_->exclude_from_weight_decay) try {
      if (std::regex_search(weight.name, std::regex(pattern))) return false;
    } catch (const std::regex_error& e) {
      fail(ErrorKind::invalid_argument, optimizer_->class_name(), "expected regular expressions in ",
           "exclude_from_weight_decay, got '", pattern, "': ", e.what());
    }
  return true;
}

Tensor OptimizerState::updated(const Step& step, const VariablePtr& weight, const Tensor& gradient) {
  TracedUpdate scope(*this, step, *weight);
  const Tensor old = step.trace.value(weight);
  scope.weight = old;
  scope.gradient = gradient;
  scope.learning_rate = cast(step.rate, old.dtype());
  scope.step = step.iteration;
  const bool decayed_here = decays(*weight) && !optimizer_->decays();
  // Where the op itself leaves out a step it can work in place; where() needs the old and the new beside each
  // other.
  const bool guarded = step.applies.defined() && optimizer_->guards() && !decayed_here;
  if (guarded) {
    scope.guard = {step.scale.defined() ? step.scale : Tensor::full(DType::f32, {}, 1), step.applies};
  } else if (step.scale.defined()) {
    scope.gradient = gradient / cast(step.scale, gradient.dtype());
  }
  if (decayed_here) {
    scope.weight = old - old * *optimizer_->decay_of(*weight) * scope.learning_rate;
  } else if (decays(*weight)) {
    scope.weight_decay = *optimizer_->decay_of(*weight);
  }
  Tensor next = optimizer_->update(scope);
  if (!guarded) next = step.if_applies(next, old);
  if (optimizer_->use_ema) {
    const VariablePtr average = slot(*weight, "average");
    const Tensor first = equal(step.iteration, scalar_like(step.iteration, 0));
    const Tensor keep = where(first, scalar_like(old, 0), scalar_like(old, optimizer_->ema_momentum));
    const Tensor mixed = keep * step.trace.value(average) + (1.0 - keep) * next;
    step.trace.update(average, step.if_finite(mixed, step.trace.initial_value(average)));
    if (const auto every = optimizer_->ema_overwrite_frequency) {
      const Tensor left = mod(step.iteration + 1.0, scalar_like(step.iteration, static_cast<double>(*every)));
      next = step.if_finite(where(equal(left, scalar_like(left, 0)), mixed, next), old);
    }
  }
  return weight->constraint ? step.if_finite(weight->constraint->apply(next), old) : next;
}

void OptimizerState::apply(Trace& trace, std::span<const VariablePtr> weights,
                           std::span<const Tensor> gradients, const NanGate& gate) {
  const Tensor steps = trace.value(iterations_);
  const Schedule& schedule = optimizer_->learning_rate.schedule;
  Step step{.trace = trace,
            .rate = schedule ? schedule->rate(cast(steps, DType::f32)) : trace.value(learning_rate_),
            .iteration = steps};
  if (loss_scale_) {
    step.finite = Tensor::full(DType::boolean, {}, 1);
    step.scale = trace.initial_value(dynamic_scale_);
  } else {
    step.finite = gate.all;
  }
  std::vector<Tensor> grads;
  for (size_t i = 0; i < weights.size(); ++i) {
    const Tensor g = cast(gradients[i], weights[i]->value.dtype());
    if (loss_scale_) step.finite = bitwise_and(step.finite, all(isfinite(g)));
    grads.push_back(!loss_scale_ && optimizer_->loss_scale_factor ? g / *optimizer_->loss_scale_factor : g);
  }
  step.applies = step.finite;
  apply_inner(std::move(step), weights, std::move(grads), gate);
}

// Keras's LossScaleOptimizer: a step that is not finite changes nothing but the scale and the count.
void OptimizerState::adapt_scale(Trace& trace, const Tensor& finite) const {
  const Tensor count = trace.value(step_counter_), scale = trace.value(dynamic_scale_);
  const Tensor none = scalar_like(count, 0);
  const auto last = static_cast<double>(loss_scale_->dynamic_growth_steps - 1);
  const Tensor grows = equal(count, scalar_like(count, last));
  trace.update(step_counter_, where(finite, where(grows, none, count + 1.0), none));
  trace.update(dynamic_scale_, where(finite, where(grows, scale * 2.0, scale), scale * 0.5));
}

void OptimizerState::accumulate(Step& step, std::span<const VariablePtr> weights,
                                std::vector<Tensor>& grads) const {
  const auto group = static_cast<double>(*optimizer_->gradient_accumulation_steps);
  const Tensor steps = step.iteration, count = scalar_like(steps, group);
  const Tensor complete = equal(mod(steps + 1.0, count), scalar_like(steps, 0));
  step.iteration = floor_divide(steps, count);
  step.applies = step.finite.defined() ? bitwise_and(step.finite, complete) : complete;
  for (size_t i = 0; i < weights.size(); ++i) {
    const VariablePtr sums = slot(*weights[i], "gradient_accumulator");
    const Tensor before = step.trace.value(sums), sum = grads[i] + before;
    step.trace.update(sums, step.if_finite(where(complete, scalar_like(sum, 0), sum), before));
    grads[i] = sum / group;
  }
}

bool OptimizerState::needs_all() const {
  return loss_scale_ || optimizer_->gradient_accumulation_steps || clips();
}

void OptimizerState::apply_inner(Step step, std::span<const VariablePtr> weights, std::vector<Tensor> grads,
                                 const NanGate& gate) {
  Trace& trace = step.trace;
  const Tensor steps = step.iteration;
  const bool alone = !optimizer_->gradient_accumulation_steps && !clips();
  if (step.scale.defined() && !alone) {
    for (Tensor& g : grads) g = g / cast(step.scale, g.dtype());
    step.scale = Tensor();
  }
  if (optimizer_->gradient_accumulation_steps) accumulate(step, weights, grads);
  clip(grads);
  const Tensor applies = step.applies;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!gate.own.empty()) step.applies = bitwise_and(applies, gate.own[i]);
    trace.update(weights[i], updated(step, weights[i], grads[i]));
  }
  trace.update(iterations_, step.if_finite(steps + 1.0, steps));
  if (loss_scale_) adapt_scale(trace, step.finite);
}

void OptimizerState::finalize(std::span<const VariablePtr> weights) {
  if (!optimizer_->use_ema) return;
  for (const VariablePtr& w : weights) {
    const auto found = slot_of_.find({w.get(), "average"});
    if (found == slot_of_.end()) continue;
    assign(w->value, found->second->value);
  }
}

void OptimizerState::swap_averages(std::span<const VariablePtr> weights) {
  for (const VariablePtr& w : weights) {
    const auto found = slot_of_.find({w.get(), "average"});
    if (found == slot_of_.end()) continue;
    const Tensor kept = w->value.copy();
    assign(w->value, found->second->value);
    assign(found->second->value, kept);
  }
}

void OptimizerState::keep_averages(std::span<const VariablePtr> weights) {
  for (const VariablePtr& w : weights) {
    const auto found = slot_of_.find({w.get(), "average"});
    if (found != slot_of_.end()) assign(found->second->value, w->value);
  }
}

double OptimizerState::learning_rate() const {
  if (const Schedule& schedule = optimizer_->learning_rate.schedule) {
    return schedule->rate(Tensor::full(DType::f32, {}, iterations_->value.item())).item();
  }
  return learning_rate_->value.item();
}

void OptimizerState::set_learning_rate(double rate) {
  require(!optimizer_->learning_rate.schedule, "learning_rate",
          "cannot be set: the optimizer was made with a schedule");
  *learning_rate_->value.data<float>() = static_cast<float>(rate);
}

std::vector<VariablePtr> OptimizerState::variables() const {
  std::vector<VariablePtr> all;
  if (loss_scale_) all = {scale_iterations_, scale_rate_};
  if (dynamic_scale_) all.insert(all.end(), {step_counter_, dynamic_scale_});
  const std::vector<VariablePtr> inner = inner_variables();
  all.insert(all.end(), inner.begin(), inner.end());
  return all;
}

std::vector<VariablePtr> OptimizerState::first_variables() const {
  std::vector<VariablePtr> all;
  if (loss_scale_) all = {scale_iterations_, scale_rate_};
  all.push_back(iterations_);
  if (!optimizer_->learning_rate.schedule) all.push_back(learning_rate_);
  return all;
}

size_t OptimizerState::scalar_count() const { return first_variables().size() + (dynamic_scale_ ? 2 : 0); }

std::vector<VariablePtr> OptimizerState::inner_variables() const {
  std::vector<VariablePtr> all = {iterations_};
  if (!optimizer_->learning_rate.schedule) all.push_back(learning_rate_);
  all.insert(all.end(), slots_.begin(), slots_.end());
  all.insert(all.end(), scalars_.begin(), scalars_.end());
  return all;
}

}  // namespace plimsoll
