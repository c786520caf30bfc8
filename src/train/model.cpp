// The Model class: building and looking. fit.cpp has what runs.
#include "plimsoll/model.h"

#include <typeinfo>

#include "common/names.h"
#include "layers/base/functional.h"
#include "plimsoll/error.h"
#include "train/callbacks/monitor.h"
#include "train/model_body.h"

namespace plimsoll {

Model::Model() = default;
Model::~Model() = default;
Model::Model(const Model&) = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(const Model&) = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::Model(std::vector<Symbol> inputs, std::vector<Symbol> outputs, std::string name)
    : Model(own_layer(std::make_shared<Functional>(std::move(inputs), std::move(outputs)), std::move(name))) {
}
Model::Model(Layer network) {
  require(dynamic_cast<Network*>(network.get()) != nullptr, "model", "expected a network of layers");
  // As in Keras, a model keeps the policy that was the global one when it was made.
  if (network->dtype_policy().empty()) network->set_dtype_policy(global_dtype_policy());
  body_ = std::make_shared<ModelBody>(std::move(network));
}

Symbol Model::call(const Symbol&) {
  fail(ErrorKind::invalid_argument, "model",
       "a class derived from Model needs its own call() or call_many()");
}
std::vector<Symbol> Model::call_many(const std::vector<Symbol>& xs) {
  require(xs.size() == 1, "model", "call() takes one input, got ", xs.size(), ": override call_many()");
  return {call(xs[0])};
}

void Model::begin() {
  const bool is_own = typeid(*this) != typeid(Model) && typeid(*this) != typeid(Sequential);
  if (body_ == nullptr && is_own) *this = Model(own_layer(std::make_shared<Functional>(), ""));
}

Functional* Model::waiting() {
  begin();
  auto* network = dynamic_cast<Functional*>(body().network.get());
  return network != nullptr && network->inputs().empty() ? network : nullptr;
}

void Model::build_for(const std::vector<InputType>& types) {
  Functional* const network = waiting();
  if (network == nullptr) return;
  std::vector<Symbol> inputs;
  for (const InputType& t : types) {
    require(!t.shape.empty(), "model", "expected inputs whose first axis is the batch, got a scalar");
    const DType dtype = is_float(t.dtype) ? network->variable_dtype() : t.dtype;
    inputs.push_back(Input({t.shape.begin() + 1, t.shape.end()}, {.dtype = dtype}));
  }
  std::vector<Symbol> outputs = call_many(inputs);
  network->set(std::move(inputs), std::move(outputs));
}

void Model::build_for(const std::vector<Tensor>& xs) {
  if (waiting() == nullptr) return;
  std::vector<InputType> types;
  for (const Tensor& x : xs) types.push_back({{x.shape().begin(), x.shape().end()}, x.dtype()});
  build_for(types);
}

void Model::build_for(const Dataset& data) {
  if (waiting() == nullptr) return;
  std::vector<InputType> types;
  for (const TensorType& x : data.x_types()) {
    types.push_back({{-1}, x.dtype});
    types.back().shape.insert(types.back().shape.end(), x.shape.begin(), x.shape.end());
  }
  build_for(types);
}

void Model::build(const std::vector<SymbolShape>& inputs) {
  std::vector<InputType> types;
  for (const SymbolShape& shape : inputs) types.push_back({shape, DType::f32});
  build_for(types);
}

ModelBody& Model::body() const {
  require(body_ != nullptr, "model", "expected a model, got none (a default-constructed Model, or one that ",
          "was moved away, or a derived class that has seen no data yet: call build(), compile() or fit())");
  return *body_;
}

void Model::compile(const CompileArgs& args) {
  begin();
  body().trainer.compile(args);
}
bool Model::compiled() const { return body().trainer.compiled(); }
const CompileArgs& Model::compile_args() const {
  require(compiled(), name(), "is not compiled");
  return body().trainer.args();
}
void Model::set_threads(int threads) {
  require(threads >= 0, name(), "expected a number of threads >= 0, got ", threads);
  body().trainer.set_threads(threads);
}
void Model::set_device(const std::string& device) { body().trainer.set_device(device); }
void Model::stop_training() { body().stop_training = true; }
void Model::stop_evaluating() { body().stop_evaluating = true; }
void Model::stop_predicting() { body().stop_predicting = true; }
double Model::learning_rate() const {
  require(body().trainer.compiled(), name(), "has no learning rate before compile()");
  return body().trainer.optimizer().learning_rate();
}
void Model::set_learning_rate(double rate) {
  require(body().trainer.compiled(), name(), "has no learning rate before compile()");
  body().trainer.optimizer().set_learning_rate(rate);
}
const std::string& Model::name() const { return body().network->name(); }
const Layer& Model::network() const { return body().network; }
const std::vector<Layer>& Model::layers() const { return body().net().layers(); }
const std::vector<Symbol>& Model::inputs() const { return body().net().inputs(); }
const std::vector<Symbol>& Model::outputs() const { return body().net().outputs(); }
std::vector<std::string> Model::output_names() const { return body().net().output_names(); }

namespace {
const Symbol& only(const std::vector<Symbol>& symbols, const Model& model, std::string_view what) {
  require(!symbols.empty(), model.name(), "has no ", what, " yet: begin with an Input, or call build() or fit()");
  require(symbols.size() == 1, model.name(), "has ", symbols.size(), " ", what, "s: call ", what, "s()");
  return symbols[0];
}
}  // namespace

const Symbol& Model::input() const { return only(inputs(), *this, "input"); }
const Symbol& Model::output() const { return only(outputs(), *this, "output"); }

Layer Model::get_layer(std::string_view name) const {
  std::vector<std::string> names;
  for (const Layer& layer : layers()) {
    if (layer->name() == name) return layer;
    names.push_back(layer->name());
  }
  fail(ErrorKind::not_found, this->name(), "has no layer called '", name,
       "'; there are: ", nearest_first(name, std::move(names)));
}

Sequential::Sequential(std::vector<Layer> layers, std::string name)
    : Model(own_layer(std::make_shared<SequentialLayer>(), std::move(name))) {
  for (const Layer& layer : layers) add(layer);
}

void Sequential::add(const Layer& layer) {
  static_cast<SequentialLayer&>(*network()).add(layer);
  body().trainer.network_changed();
}
void Sequential::pop() {
  static_cast<SequentialLayer&>(*network()).pop();
  body().trainer.network_changed();
}

const std::vector<double>& History::operator[](std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [key, values] : history) {
    if (key == name) return values;
    names.push_back(key);
  }
  fail(ErrorKind::not_found, "history", "there is no '", name,
       "'; there are: ", nearest_first(name, std::move(names)));
}

const double* find_log(const Logs& logs, std::string_view name) {
  for (const auto& [key, value] : logs) {
    if (key == name) return &value;
  }
  return nullptr;
}

double Logs::operator[](std::string_view name) const { return get_log(*this, name); }

double get_log(const Logs& logs, std::string_view name) {
  if (const double* found = find_log(logs, name)) return *found;
  fail(ErrorKind::not_found, "logs", "there is no '", name,
       "'; there are: ", nearest_first(name, log_names(logs)));
}

Symbol Model::operator()(const std::vector<Symbol>& xs) {
  std::vector<InputType> types;
  for (const Symbol& x : xs) types.push_back({x.shape(), x.dtype()});
  build_for(types);
  return network()(xs);
}

}  // namespace plimsoll
