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

// Keras's reduce_weighted_values.
Tensor reduce_loss(const Tensor& values, const Tensor& weight, std::string_view reduction) {
  Tensor v = values;
  if (weight.defined()) {
    Tensor w = cast(weight, v.dtype());
    while (w.rank() < v.rank()) w = expand_dims(w, -1);
    v = v * w;
  }
  if (reduction == "sum") return sum(v);
  return mean(v);
}

}  // namespace

Trainer::Trainer(Layer network) : network_(std::move(network)), arena_(std::make_shared<Arena>()) {}

void Trainer::compile(const CompileArgs& args) {
  auto optimizer = std::make_unique<OptimizerState>(args.optimizer);
  args_ = args;
  optimizer_ = std::move(optimizer);
  losses_ = args.loss.list;
  loss_mean_.emplace("loss", Metric());
  metrics_.clear();
  for (const Metric& m : args.metrics) metrics_.emplace_back(0, MetricState(m->name, m));
  programs_.clear();
}

Tensor Trainer::trace_losses(Trace& trace, const std::vector<Tensor>& y_true, const std::vector<Tensor>& y_pred,
                             const std::vector<Tensor>& weights) {
  require(y_true.size() == y_pred.size() && losses_.size() == y_pred.size(), "compile", "expected a target and a loss for each of ",
          y_pred.size(), " outputs, got ", y_true.size(), " targets and ", losses_.size(), " losses");
  Tensor total;
  const auto add = [&](const Tensor& part) { total = total.defined() ? total + part : part; };
  for (size_t i = 0; i < y_pred.size(); ++i) {
    const Tensor pred = is_float(y_pred[i].dtype()) ? cast(y_pred[i], DType::f32) : y_pred[i];
    add(reduce_loss(losses_[i]->call(y_true[i], pred), i < weights.size() ? weights[i] : Tensor(), losses_[i]->reduction));
  }
  for (const Tensor& extra : trace.losses()) add(cast(extra, DType::f32));
  for (const VariablePtr& v : network_->trainable_weights()) {
    if (v->regularizer) add(v->regularizer->loss(trace.initial_value(v)));
  }
  return total;
}

Program Trainer::make_program(StepKind kind, const Batch& batch) {
  Graph graph;
  Trace trace(graph, kind == StepKind::train);
  const std::vector<Tensor> x = add_inputs(graph, "x", batch.x);
  const std::vector<Tensor> y = add_inputs(graph, "y", batch.y);
  const std::vector<Tensor> w = add_inputs(graph, "w", batch.weights);
  const std::vector<Tensor> predicted = trace.call(network_, x);
  if (kind == StepKind::predict) {
    for (size_t i = 0; i < predicted.size(); ++i) graph.output(concat("y", i), predicted[i]);
  } else {
    const Tensor loss = trace_losses(trace, y, predicted, w);
    const double samples = static_cast<double>(batch.size());
    loss_mean_->add_to_mean(trace, loss, Tensor::full(DType::f32, {}, samples));
    for (auto& [output, metric] : metrics_) {
      metric.update(trace, y[output], predicted[output], output < w.size() ? w[output] : Tensor());
    }
    if (kind == StepKind::train) {
      const std::vector<VariablePtr> weights = network_->trainable_weights();
      std::vector<Tensor> values;
      for (const VariablePtr& v : weights) values.push_back(trace.initial_value(v));
      optimizer_->apply(trace, weights, gradients(loss, values));
    }
    graph.output("loss", loss);
    trace.add_updates();
  }
  CompileOptions options;
  options.threads = args_.threads;
  options.arena = arena_;
  return Program::compile(graph, options);
}

Program& Trainer::program(StepKind kind, const Batch& batch) {
  Key key{kind, {}};
  for (const std::vector<Tensor>* list : {&batch.x, &batch.y, &batch.weights}) {
    for (const Tensor& t : *list) key.second.push_back(t.type().str());
    key.second.emplace_back("|");
  }
  auto found = programs_.find(key);
  if (found == programs_.end()) found = programs_.emplace(key, make_program(kind, batch)).first;
  return found->second;
}

void Trainer::step(StepKind kind, const Batch& batch) {
  require(compiled(), "fit", "the model is not compiled; call compile() with an optimizer and a loss first");
  Program& p = program(kind, batch);
  inputs_ = batch.x;
  inputs_.insert(inputs_.end(), batch.y.begin(), batch.y.end());
  inputs_.insert(inputs_.end(), batch.weights.begin(), batch.weights.end());
  outputs_.resize(1);
  p.run(inputs_, outputs_);
  last_loss_ = outputs_[0].item();
}

std::vector<Tensor> Trainer::predict(std::span<const Tensor> x) {
  const Batch batch{{x.begin(), x.end()}, {}, {}};
  return program(StepKind::predict, batch)(x);
}

Logs Trainer::logs() const {
  Logs logs = {{"loss", loss_mean_->result()}};
  for (const auto& [output, metric] : metrics_) logs.emplace_back(metric.name(), metric.result());
  return logs;
}

void Trainer::reset_metrics() {
  loss_mean_->reset();
  for (auto& [output, metric] : metrics_) metric.reset();
}

}  // namespace plimsoll
