#include "train/trainer.h"

#include "memory/arena.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

std::vector<Tensor> add_inputs(Graph& graph, std::string_view what, const std::vector<Tensor>& values) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    inputs.push_back(graph.input(concat(what, i), values[i].dtype(), values[i].shape()));
  }
  return inputs;
}

template <class Visit>
void each_tensor(const Batch& batch, Visit visit) {
  for (const std::vector<Tensor>* list : {&batch.x, &batch.y, &batch.weights}) {
    for (const Tensor& t : *list) visit(t);
  }
}

bool same_types(const Batch& batch, const std::vector<TensorType>& types) {
  size_t i = 0;
  bool same = true;
  each_tensor(batch, [&](const Tensor& t) { same = same && i < types.size() && t.type() == types[i++]; });
  return same && i == types.size();
}

}  // namespace

Trainer::Trainer(Layer network) : network_(std::move(network)), arena_(std::make_shared<Arena>()) {}

void Trainer::compile(const CompileArgs& args) {
  auto optimizer = std::make_unique<OptimizerState>(args.optimizer);
  // What does not fit the outputs is said now, where they are known.
  if (!net().outputs().empty()) Objective(args, net().output_names());
  args_ = args;
  optimizer_ = std::move(optimizer);
  objective_ = nullptr;
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
  require(label.rank() == 1, "fit", "class_weight needs one class per sample, got targets of shape ", y.shape());
  if (is_float(label.dtype())) label = round(label);
  label = cast(label, DType::i64);
  Tensor weight = Tensor::full(DType::f32, {}, 1);
  for (const auto& [index, value] : class_weight_) {
    weight = where(equal(label, scalar_like(label, static_cast<double>(index))), Tensor::full(DType::f32, {}, value), weight);
  }
  return weight;
}

void Trainer::trace_step(Trace& trace, StepKind kind, const Batch& batch) {
  Graph& graph = trace.graph();
  const std::vector<Tensor> x = add_inputs(graph, "x", batch.x);
  StepTargets t;
  t.y_true = add_inputs(graph, "y", batch.y);
  t.weights = add_inputs(graph, "w", batch.weights);
  t.y_pred = trace.call(network_, x);
  if (kind == StepKind::predict) {
    for (size_t i = 0; i < t.y_pred.size(); ++i) graph.output(concat("y", i), t.y_pred[i]);
    return;
  }
  if (objective_ == nullptr) {
    std::vector<std::string> names = net().output_names();
    for (size_t i = names.size(); i < t.y_pred.size(); ++i) names.push_back(concat("output_", i));
    objective_ = std::make_unique<Objective>(args_, std::move(names));
  }
  if (kind == StepKind::train && !class_weight_.empty()) {
    require(t.y_true.size() == 1 && t.weights.empty(), "fit", "class_weight needs a model with one output and no sample weights");
    t.weights = {class_weights(t.y_true[0])};
  }
  graph.set_layer("loss");
  std::vector<Tensor> extra = trace.losses();
  const std::vector<VariablePtr> weights = network_->trainable_weights();
  for (const VariablePtr& v : weights) {
    if (v->regularizer) extra.push_back(v->regularizer->loss(trace.initial_value(v)));
  }
  const Objective::Loss loss = objective_->trace_loss(trace, t, extra);
  graph.set_layer("metrics");
  objective_->trace_metrics(trace, t);
  if (kind == StepKind::train) {
    std::vector<Tensor> values;
    for (const VariablePtr& v : weights) values.push_back(trace.initial_value(v));
    optimizer_->build(weights);
    const std::vector<Tensor> grads = gradients(optimizer_->scaled(loss.minimized), values);
    graph.set_layer("optimizer");
    optimizer_->apply(trace, weights, grads);
  }
  graph.output("loss", loss.logged);
  trace.add_updates();
}

Program Trainer::make_program(StepKind kind, const Batch& batch) {
  Graph graph;
  Trace trace(graph, kind == StepKind::train);
  trace_step(trace, kind, batch);
  CompileOptions options;
  options.threads = args_.threads;
  options.arena = arena_;
  return Program::compile(graph, options);
}

Program& Trainer::program(StepKind kind, const Batch& batch) {
  for (Ready& r : programs_) {
    if (r.kind == kind && r.x == batch.x.size() && r.y == batch.y.size() && same_types(batch, r.types)) return r.program;
  }
  Ready ready{kind, {}, batch.x.size(), batch.y.size(), make_program(kind, batch)};
  each_tensor(batch, [&](const Tensor& t) { ready.types.push_back(t.type()); });
  programs_.push_back(std::move(ready));
  return programs_.back().program;
}

void Trainer::step(StepKind kind, const Batch& batch) {
  require(compiled(), "fit", "the model is not compiled; call compile() with an optimizer and a loss first");
  Program& p = program(kind, batch);
  inputs_.clear();
  each_tensor(batch, [&](const Tensor& t) { inputs_.push_back(t); });
  outputs_.resize(1);
  p.run(inputs_, outputs_);
  inputs_.clear();  // readers use the bytes of a batch again once nobody else holds them
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
