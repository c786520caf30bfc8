// The Model class: building and looking. fit.cpp has what runs.
#include "plimsoll/model.h"

#include "common/names.h"
#include "layers/base/functional.h"
#include "plimsoll/error.h"
#include "train/callbacks/monitor.h"
#include "train/model_body.h"

namespace plimsoll {

Model::Model() = default;
Model::Model(std::vector<Symbol> inputs, std::vector<Symbol> outputs, std::string name)
    : Model(own_layer(std::make_shared<Functional>(std::move(inputs), std::move(outputs)), std::move(name))) {
}
Model::Model(Layer network) {
  require(dynamic_cast<Network*>(network.get()) != nullptr, "model", "expected a network of layers");
  // As in Keras, a model keeps the policy that was the global one when it was made.
  if (network->dtype_policy().empty()) network->set_dtype_policy(global_dtype_policy());
  body_ = std::make_shared<ModelBody>(std::move(network));
}

ModelBody& Model::body() const {
  require(body_ != nullptr, "model", "expected a model, got none (a default-constructed Model, or one that ",
          "was moved away)");
  return *body_;
}

void Model::compile(const CompileArgs& args) { body().trainer.compile(args); }
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

void Sequential::add(const Layer& layer) { static_cast<SequentialLayer&>(*network()).add(layer); }

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

Tensor Model::operator()(const Tensor& x) {
  const std::vector<Tensor> ys = predict_on_batch({x});
  require(ys.size() == 1, name(), "has ", ys.size(), " outputs: call predict_on_batch()");
  return ys[0];
}

}  // namespace plimsoll
