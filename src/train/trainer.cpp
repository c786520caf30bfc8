#include "train/trainer.h"

#include <algorithm>

#include "memory/arena.h"
#include "memory/buffer.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/planned_state.h"

namespace plimsoll {
namespace {

std::vector<Tensor> add_inputs(Graph& graph, std::string_view what, const std::vector<TensorType>& types) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < types.size(); ++i)
    inputs.push_back(graph.input(concat(what, i), types[i].dtype, types[i].shape));
  return inputs;
}

bool same_types(const std::vector<Tensor>& tensors, const std::vector<TensorType>& types) {
  return std::equal(tensors.begin(), tensors.end(), types.begin(), types.end(),
                    [](const Tensor& t, const TensorType& type) { return t.type() == type; });
}

std::vector<TensorType> types_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorType> types;
  for (const Tensor& t : tensors) types.push_back(t.type());
  return types;
}

std::vector<TensorType> batched(const std::vector<TensorType>& records, int64_t n) {
  std::vector<TensorType> types;
  for (const TensorType& t : records) types.push_back({t.dtype, t.shape.inserted(0, n)});
  return types;
}

// Readers use the bytes of a batch again once nobody else holds them.
struct Emptied {
  std::vector<Tensor>& list;
  ~Emptied() { list.clear(); }
};

}  // namespace

BatchTypes BatchTypes::of(const Batch& batch) {
  return {types_of(batch.x), types_of(batch.y), types_of(batch.weights)};
}
BatchTypes BatchTypes::of(const RecordTypes& record, int64_t n) {
  return {batched(record.x, n), batched(record.y, n), batched(record.weights, n)};
}
int64_t BatchTypes::charge() const {
  int64_t sum = 0;
  for (const std::vector<TensorType>* list : {&x, &y, &weights}) {
    for (const TensorType& t : *list) sum += Buffer::charge_for(byte_size(t.dtype, t.shape));
  }
  return sum;
}

Trainer::Trainer(Layer network) : network_(std::move(network)), arena_(std::make_shared<Arena>()) {}

void Trainer::compile(const CompileArgs& args) {
  auto optimizer = std::make_unique<OptimizerState>(args.optimizer);
  // What does not fit the outputs is said now, where they are known.
  if (!net().outputs().empty()) Objective(args, net().output_names());
  CompileArgs kept = args;
  args_ = std::move(kept);
  optimizer_ = std::move(optimizer);
  objective_ = nullptr;
  programs_.clear();
}

void Trainer::set_threads(int threads) {
  if (threads == args_.threads) return;
  args_.threads = threads;
  programs_.clear();
}

void Trainer::set_class_weight(const std::map<int64_t, double>& weights) {
  if (weights == class_weight_) return;
  class_weight_ = weights;
  programs_.remove_if([](const Ready& r) { return r.kind == StepKind::train; });
}

// Keras's class_weight_to_sample_weights: a class without a weight weighs 1.
Tensor Trainer::class_weights(const Tensor& y) const {
  Tensor label = y;
  if (y.rank() > 1) label = y.dim(-1) == 1 ? squeeze(y, -1) : argmax(y, -1);
  require(label.rank() == 1, "fit", "class_weight needs one class per sample, got targets of shape ",
          y.shape());
  if (is_float(label.dtype())) label = round(label);
  label = cast(label, DType::i64);
  Tensor weight = Tensor::full(DType::f32, {}, 1);
  for (const auto& [index, value] : class_weight_) {
    weight = where(equal(label, scalar_like(label, static_cast<double>(index))),
                   Tensor::full(DType::f32, {}, value), weight);
  }
  return weight;
}

void Trainer::trace_step(Trace& trace, StepKind kind, const BatchTypes& types, const Parts& parts) const {
  Graph& graph = trace.graph();
  const std::vector<Tensor> x = add_inputs(graph, "x", types.x);
  StepTargets t;
  t.y_true = add_inputs(graph, "y", types.y);
  t.weights = add_inputs(graph, "w", types.weights);
  t.y_pred = trace.call(network_, x);
  if (kind == StepKind::predict) {
    for (size_t i = 0; i < t.y_pred.size(); ++i) graph.output(concat("y", i), t.y_pred[i]);
    return;
  }
  if (parts.objective == nullptr) {
    std::vector<std::string> names = net().output_names();
    for (size_t i = names.size(); i < t.y_pred.size(); ++i) names.push_back(concat("output_", i));
    parts.objective = std::make_unique<Objective>(args_, std::move(names));
  }
  if (kind == StepKind::train && !class_weight_.empty()) {
    require(t.y_true.size() == 1 && t.weights.empty(), "fit",
            "class_weight needs a model with one output and no sample weights");
    t.weights = {class_weights(t.y_true[0])};
  }
  graph.set_layer("loss");
  std::vector<Tensor> extra = trace.losses();
  const std::vector<VariablePtr> weights = network_->trainable_weights();
  for (const VariablePtr& v : weights) {
    if (v->regularizer) extra.push_back(v->regularizer->loss(trace.initial_value(v)));
  }
  const Objective::Loss loss = parts.objective->trace_loss(trace, t, extra);
  graph.set_layer("metrics");
  parts.objective->trace_metrics(trace, t);
  if (kind == StepKind::train) {
    std::vector<Tensor> values;
    for (const VariablePtr& v : weights) values.push_back(trace.initial_value(v));
    parts.optimizer->build(weights);
    const std::vector<Tensor> grads = gradients(parts.optimizer->scaled(loss.minimized), values);
    graph.set_layer("optimizer");
    parts.optimizer->apply(trace, weights, grads);
  }
  graph.output("loss", loss.logged);
  trace.add_updates();
}

CompileOptions Trainer::compile_options() const {
  CompileOptions options;
  options.threads = args_.threads;
  options.arena = arena_;
  return options;
}

Program& Trainer::make_program(StepKind kind, BatchTypes types) {
  Graph graph;
  Trace trace(graph, kind == StepKind::train);
  std::unique_ptr<Objective> first;  // whose sums may be half made until there is a program
  trace_step(trace, kind, types, {optimizer_.get(), objective_ ? objective_ : first});
  programs_.push_back({kind, std::move(types), Program::compile(graph, compile_options())});
  if (first) objective_ = std::move(first);
  return programs_.back().program;
}

StepForecast Trainer::forecast(StepKind kind, const BatchTypes& types) const {
  require(compiled(), "forecast",
          "the model is not compiled; call compile() with an optimizer and a loss first");
  // Copies share the variables there are; those the step would add are the copies' alone.
  OptimizerState optimizer = *optimizer_;
  std::unique_ptr<Objective> objective = objective_ ? std::make_unique<Objective>(*objective_) : nullptr;
  Graph graph;
  Trace trace(graph, kind == StepKind::train);
  {
    const PlannedState planned;
    trace_step(trace, kind, types, {&optimizer, objective});
  }
  StepForecast f{.program = Program::forecast(graph, compile_options())};
  std::vector<VariablePtr> there = optimizer_->variables(), all = optimizer.variables();
  const auto add = [](std::vector<VariablePtr>& list, const std::vector<VariablePtr>& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  add(there, metric_states());
  if (objective) add(all, objective->states());
  for (const VariablePtr& v : all) {
    const int64_t bytes = byte_size(v->value.dtype(), v->value.shape());
    f.state += bytes;
    if (std::find(there.begin(), there.end(), v) == there.end()) f.state_to_come += Buffer::charge_for(bytes);
  }
  return f;
}

void Trainer::prepare(StepKind kind, const BatchTypes& types) {
  for (const Ready& r : programs_) {
    if (r.kind == kind && r.types == types) return;
  }
  make_program(kind, types);
}

Program& Trainer::program(StepKind kind, const Batch& batch) {
  for (Ready& r : programs_) {
    if (r.kind == kind && same_types(batch.x, r.types.x) && same_types(batch.y, r.types.y) &&
        same_types(batch.weights, r.types.weights)) {
      return r.program;
    }
  }
  return make_program(kind, BatchTypes::of(batch));
}

void Trainer::step(StepKind kind, const Batch& batch) {
  require(compiled(), "fit", "the model is not compiled; call compile() with an optimizer and a loss first");
  Program& p = program(kind, batch);
  const Emptied emptied{inputs_};
  for (const std::vector<Tensor>* list : {&batch.x, &batch.y, &batch.weights})
    inputs_.insert(inputs_.end(), list->begin(), list->end());
  outputs_.resize(1);
  p.run(inputs_, outputs_);
  last_loss_ = outputs_[0].item();
}

std::vector<Tensor> Trainer::predict(std::span<const Tensor> x) {
  const Batch batch{{x.begin(), x.end()}, {}, {}};
  return program(StepKind::predict, batch)(x);
}

Logs Trainer::logs() const { return objective_ ? objective_->logs() : Logs{{"loss", 0.0}}; }

void Trainer::reset_metrics() {
  if (objective_) objective_->reset();
}

std::vector<VariablePtr> Trainer::metric_states() const {
  return objective_ ? objective_->states() : std::vector<VariablePtr>();
}

}  // namespace plimsoll
