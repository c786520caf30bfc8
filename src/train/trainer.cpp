#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "memory/arena.h"
#include "memory/buffer.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/devices.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/optimizers/loss_scale.h"
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

// Each tensor of a batch has a row for each sample; a loss of complex numbers has no meaning.
void check_rows(const BatchTypes& types) {
  std::optional<int64_t> rows;
  for (const std::vector<TensorType>* list : {&types.x, &types.y, &types.weights}) {
    for (const TensorType& t : *list) {
      require(t.shape.rank() > 0, "batch", "expected tensors with an axis of samples, got a scalar");
      if (!rows) rows = t.shape[0];
      require(t.shape[0] == *rows, "batch", "expected ", *rows, " samples as in the first tensor, got ",
              t.shape[0]);
    }
  }
  for (const std::vector<TensorType>* list : {&types.y, &types.weights}) {
    for (const TensorType& t : *list)
      require(!is_complex(t.dtype), "batch", "expected targets and weights of real numbers, got ", t);
  }
}

// What the programs of a model may take together: some six of ResNet-50's training step, or hundreds of small
// ones. Those that only read the weights may keep copies of them: for four programs that counts nothing.
constexpr int64_t kMostProgramBytes = 64 << 20;
constexpr int64_t kCopiesOfWeights = 4;

constexpr std::string_view kOneAtATime = "expected one step at a time of a model (give each thread its own)";

const TensorType& type_of(const Tensor& tensor) { return tensor.type(); }
const TensorType& type_of(const TensorType& type) { return type; }

// Of a Batch or its BatchTypes.
template <class Lists>
size_t hash_step(StepKind kind, const Lists& lists) {
  auto hash = static_cast<size_t>(kind);
  for (const auto* list : {&lists.x, &lists.y, &lists.weights}) {
    for (const auto& item : *list) {
      hash = hash * 31 + static_cast<size_t>(type_of(item).dtype);
      for (const int64_t size : type_of(item).shape) hash = hash * 1000003 + static_cast<size_t>(size);
    }
    hash = hash * 31 + list->size();
  }
  return hash;
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

static std::unique_ptr<OptimizerState> make_optimizer(const CompileArgs& args, const LayerBase& network) {
  const bool half = args.auto_scale_loss && network.dtype_policy() == "mixed_float16";
  return std::make_unique<OptimizerState>(half ? with_loss_scale(args.optimizer) : args.optimizer);
}

int64_t Trainer::Ready::bytes() const {
  const MemoryReport& m = program.memory();
  return m.program + m.kept + m.constants;
}

Trainer::Trainer(Layer network)
    : network_(std::move(network)), budget_(std::make_shared<Budget>()), arena_(std::make_shared<Arena>()) {}

void Trainer::compile(const CompileArgs& args) {
  require(args.threads >= 0, "compile", "expected a number of threads >= 0, got ", args.threads);
  const InUse::Turn turn(in_use_, "compile", kOneAtATime);
  const BudgetScope scope(budget_);
  std::shared_ptr<Device> device = find_device(args.device);
  std::unique_ptr<OptimizerState> optimizer = make_optimizer(args, *network_);
  // What does not fit the outputs is said now, where they are known.
  if (!net().outputs().empty()) Objective(args, net().output_names());
  CompileArgs kept = args;
  args_ = std::move(kept);
  optimizer_ = std::move(optimizer);
  device_ = std::move(device);
  objective_ = nullptr;
  forget_programs();
}

void Trainer::network_changed() {
  const InUse::Turn turn(in_use_, "model", kOneAtATime);
  forget_programs();
  objective_ = nullptr;
  if (!compiled()) return;
  const BudgetScope scope(budget_);
  optimizer_ = make_optimizer(args_, *network_);
}

void Trainer::set_threads(int threads) {
  if (threads == args_.threads) return;
  args_.threads = threads;
  forget_programs();
}

void Trainer::set_device(const std::string& name) {
  std::shared_ptr<Device> device = find_device(name);
  args_.device = name;
  if (device_ == device) return;
  device_ = std::move(device);
  forget_programs();
}

const std::shared_ptr<Device>& Trainer::device() const {
  if (!device_) device_ = find_device(args_.device);
  return *device_;
}

void Trainer::spill_to(const std::string& folder) {
  require(compiled(), "spill", "the model is not compiled; call compile() with an optimizer first");
  require(!device(), "spill", "the optimizer's state is on a device: only that of the host can be in a file");
  const InUse::Turn turn(in_use_, "fit", kOneAtATime);
  if (optimizer_->spill_to(folder)) forget_programs();
}

void Trainer::set_plan(TrainerPlan plan) {
  const InUse::Turn turn(in_use_, "fit", kOneAtATime);
  plan_ = std::move(plan);
  programs_.drop_if([&](const Ready& r) {
    const MemoryReport& m = r.program.memory();
    const std::shared_ptr<const Recipe> wanted = planned(r.kind, r.types);
    if (wanted) return m.parts != wanted->parts || m.recipe->execs != wanted->execs;
    return m.arena > plan_.arena_line || m.again > 0 || m.parts > 1;
  });
  if (arena_->bytes() > plan_.arena_line) arena_->trim(plan_.arena_line);
}

std::shared_ptr<const Recipe> Trainer::planned(StepKind kind, const BatchTypes& types) const {
  const auto found = std::ranges::find_if(
      plan_.steps, [&](const TrainerPlan::Step& s) { return s.kind == kind && s.types == types; });
  return found == plan_.steps.end() ? nullptr : found->recipe;
}

void Trainer::set_parts(int64_t parts) {
  parts_ = parts;
  forget_programs();
}

void Trainer::forget_programs() {
  programs_.drop_if([](const Ready&) { return true; });
}

void Trainer::set_class_weight(const std::map<int64_t, double>& weights) {
  for (const auto& [label, weight] : weights)
    require(std::isfinite(weight), "fit", "expected finite class weights, got ", weight, " for class ",
            label);
  if (weights == class_weight_) return;
  class_weight_ = weights;
  programs_.drop_if([](const Ready& r) { return r.kind == StepKind::train; });
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

// What layers and metrics have given variables so far, these get only if `applies`.
void Trainer::gate_updates(Trace& trace, const Tensor& applies, const Objective& objective) const {
  std::vector<VariablePtr> all = network_->all_variables();
  for (const VariablePtr& v : objective.states()) all.push_back(v);
  for (const VariablePtr& v : all) {
    const Tensor now = trace.value(v), before = trace.initial_value(v);
    if (now.id() != before.id()) trace.update(v, where(applies, now, before));
  }
}

// A step that is not finite is the business of an optimizer that scales the loss: to it belongs the loss
// alone.
Tensor Trainer::trace_update(Trace& trace, const Parts& parts, std::span<const VariablePtr> weights,
                             const Tensor& loss, std::span<const Tensor> grads) const {
  const bool scales = parts.optimizer->loss_scale() != nullptr;
  NanWatching watching = watching_;
  if (watching == NanWatching::each && parts.optimizer->needs_all()) watching = NanWatching::held;
  const NanGate gate = make_nan_gate(loss, scales ? std::span<const Tensor>() : grads, watching);
  if (gate.all.defined()) gate_updates(trace, gate.all, *parts.objective);
  parts.optimizer->apply(trace, weights, grads, gate);
  return gate.finite;
}

void Trainer::trace_step(Trace& trace, StepKind kind, const BatchTypes& types, const Parts& parts) const {
  check_rows(types);
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
  Tensor finite;
  if (kind == StepKind::train) {
    std::vector<Tensor> values;
    for (const VariablePtr& v : weights) values.push_back(trace.initial_value(v));
    parts.optimizer->build(weights);
    const std::vector<Tensor> grads = gradients(parts.optimizer->scaled(trace, loss.minimized), values);
    graph.set_layer("optimizer");
    finite = trace_update(trace, parts, weights, loss.minimized, grads);
  }
  graph.output("loss", loss.logged);
  if (finite.defined()) graph.output("finite", finite);
  trace.add_updates();
}

CompileOptions Trainer::compile_options() const {
  CompileOptions options;
  options.threads = args_.threads;
  options.arena = arena_;
  options.device = device();
  options.parts = parts_;
  return options;
}

Trainer::Programs::Loan Trainer::make_program(StepKind kind, BatchTypes types) {
  const BudgetScope scope(budget_);
  Graph graph;
  Trace trace(graph, kind == StepKind::train);
  std::unique_ptr<Objective> first;  // whose sums may be half made until there is a program
  trace_step(trace, kind, types, {optimizer_.get(), objective_ ? objective_ : first});
  const size_t hash = hash_step(kind, types);
  CompileOptions options = compile_options();
  options.recipe = planned(kind, types);
  options.memory = plan_.arena_line == account::kNoLimit ? -1 : plan_.arena_line;
  options.micro_batch = plan_.micro_batch;
  Ready ready{kind, std::move(types), watching(kind), Program::compile(graph, options), index_ranges(graph)};
  const int64_t bytes = ready.bytes();
  Programs::Loan loan = programs_.add(hash, std::move(ready), bytes);
  const int64_t copy = network_->count_params() * static_cast<int64_t>(sizeof(float));
  programs_.keep_within(kMostProgramBytes + kCopiesOfWeights * copy);
  if (first) objective_ = std::move(first);
  return loan;
}

Trainer::Traced Trainer::trace_to_plan(StepKind kind, const BatchTypes& types) const {
  Traced made{std::make_shared<Graph>(), {}, objective_ ? std::make_unique<Objective>(*objective_) : nullptr};
  if (optimizer_) made.optimizer = *optimizer_;
  Trace trace(*made.graph, kind == StepKind::train);
  const PlannedState planned;
  trace_step(trace, kind, types, {made.optimizer ? &*made.optimizer : nullptr, made.objective});
  return made;
}

StepChoices Trainer::choices(StepKind kind, const BatchTypes& types, bool micro_batch) const {
  require(compiled() || kind == StepKind::predict, "forecast",
          "the model is not compiled; call compile() with an optimizer and a loss first");
  StepChoices made{kind, types, compile_options(), nullptr};
  made.options.micro_batch = micro_batch;
  const Traced traced = trace_to_plan(kind, types);
  const Graph& graph = *traced.graph;
  const std::optional<OptimizerState>& optimizer = traced.optimizer;
  const std::unique_ptr<Objective>& objective = traced.objective;
  made.choices = std::make_unique<Choices>(graph, made.options);
  made.choices->forget([this, kind, types] { return trace_to_plan(kind, types).graph; });
  has_program(kind, types, &made.there);
  if (kind == StepKind::predict) {
    for (const GraphOutput& y : graph.outputs())
      made.results += Buffer::charge_for(byte_size(graph.type(y.value).dtype, graph.type(y.value).shape));
    return made;
  }
  std::vector<VariablePtr> there = optimizer_->variables(), all = optimizer->variables();
  const auto add = [](std::vector<VariablePtr>& list, const std::vector<VariablePtr>& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  add(there, metric_states());
  if (objective) add(all, objective->states());
  made.state = optimizer->spill_window();
  made.state_to_come = made.state - optimizer_->spill_window();
  for (const VariablePtr& v : all) {
    if (optimizer->is_spilled(*v)) continue;
    const int64_t charge = Buffer::charge_for(byte_size(v->value.dtype(), v->value.shape()));
    made.state += charge;
    if (std::find(there.begin(), there.end(), v) == there.end()) made.state_to_come += charge;
  }
  return made;
}

bool Trainer::has_program(StepKind kind, const BatchTypes& types, int64_t* bytes) const {
  return programs_.has(hash_step(kind, types), [&](const Ready& r) {
    const bool same = r.kind == kind && r.watching == watching(kind) && r.types == types;
    if (same && bytes != nullptr) *bytes = r.program.memory().program + r.program.memory().constants;
    return same;
  });
}

void Trainer::prepare(StepKind kind, const BatchTypes& types) {
  const InUse::Turn turn(in_use_, "fit", kOneAtATime);
  if (!has_program(kind, types)) make_program(kind, types);
}

Trainer::Programs::Loan Trainer::program(StepKind kind, const Batch& batch) {
  const auto same = [&](const Ready& r) {
    return r.kind == kind && r.watching == watching(kind) && same_types(batch.x, r.types.x) &&
           same_types(batch.y, r.types.y) && same_types(batch.weights, r.types.weights);
  };
  Programs::Loan found = programs_.find(hash_step(kind, batch), same);
  return found ? std::move(found) : make_program(kind, BatchTypes::of(batch));
}

void Trainer::put_inputs(const Batch& batch) {
  for (const std::vector<Tensor>* list : {&batch.x, &batch.y, &batch.weights})
    inputs_.insert(inputs_.end(), list->begin(), list->end());
}

void Trainer::step(StepKind kind, const Batch& batch) {
  require(compiled(), "fit", "the model is not compiled; call compile() with an optimizer and a loss first");
  const InUse::Turn turn(in_use_, "fit", kOneAtATime);
  const Programs::Loan ready = program(kind, batch);
  const Emptied emptied{inputs_};
  put_inputs(batch);
  check_indices(ready->ranges, inputs_);
  outputs_.resize(ready->watching == NanWatching::off ? 1 : 2);
  ready->program.run(inputs_, outputs_);
  last_loss_ = outputs_[0].item();
  expected_seconds_ = ready->program.memory().seconds + ready->program.memory().extra_seconds;
  finite_ = outputs_.size() < 2 || outputs_[1].item() != 0;
}

NonFinite Trainer::find_nonfinite(const Batch& batch) {
  const InUse::Turn turn(in_use_, "fit", kOneAtATime);
  const Programs::Loan ready = program(StepKind::train, batch);
  if (ready->watching == NanWatching::off) return {};
  const Emptied emptied{inputs_};
  put_inputs(batch);
  return ready->program.find_nonfinite(inputs_, 1);
}

std::vector<Tensor> Trainer::predict(std::span<const Tensor> x) {
  const InUse::Turn turn(in_use_, "predict", kOneAtATime);
  const Batch batch{{x.begin(), x.end()}, {}, {}};
  const Programs::Loan ready = program(StepKind::predict, batch);
  check_indices(ready->ranges, x);
  return ready->program(x);
}

Logs Trainer::logs() const { return objective_ ? objective_->logs() : Logs{{"loss", 0.0}}; }

void Trainer::reset_metrics() {
  if (objective_) objective_->reset();
}

std::vector<VariablePtr> Trainer::metric_states() const {
  return objective_ ? objective_->states() : std::vector<VariablePtr>();
}

}  // namespace plimsoll
