// The Model class: building and looking. fit.cpp has what runs.
#include "plimsoll/model.h"

#include "layers/base/functional.h"
#include "plimsoll/error.h"
#include "train/model_body.h"

namespace plimsoll {

Model::Model() = default;
Model::Model(std::vector<Symbol> inputs, std::vector<Symbol> outputs, std::string name)
    : Model(own_layer(std::make_shared<Functional>(std::move(inputs), std::move(outputs)), std::move(name))) {
}
Model::Model(Layer network) {
  require(dynamic_cast<Network*>(network.get()) != nullptr, "model", "expected a network of layers");
  body_ = std::make_shared<ModelBody>(std::move(network));
}

void Model::compile(const CompileArgs& args) { body_->trainer.compile(args); }
bool Model::compiled() const { return body_->trainer.compiled(); }
const CompileArgs& Model::compile_args() const {
  require(compiled(), name(), "is not compiled");
  return body_->trainer.args();
}
void Model::set_threads(int threads) {
  require(threads >= 0, name(), "expected a number of threads >= 0, got ", threads);
  body_->trainer.set_threads(threads);
}
void Model::stop_training() { body_->stop_training = true; }
double Model::learning_rate() const {
  require(body_->trainer.compiled(), name(), "has no learning rate before compile()");
  return body_->trainer.optimizer().learning_rate();
}
void Model::set_learning_rate(double rate) {
  require(body_->trainer.compiled(), name(), "has no learning rate before compile()");
  body_->trainer.optimizer().set_learning_rate(rate);
}
const std::string& Model::name() const { return body_->network->name(); }
const Layer& Model::network() const { return body_->network; }
const std::vector<Layer>& Model::layers() const { return body_->net().layers(); }
const std::vector<Symbol>& Model::inputs() const { return body_->net().inputs(); }
const std::vector<Symbol>& Model::outputs() const { return body_->net().outputs(); }

Layer Model::get_layer(std::string_view name) const {
  for (const Layer& layer : layers()) {
    if (layer->name() == name) return layer;
  }
  fail(ErrorKind::not_found, this->name(), "has no layer called '", name, "'");
}

Sequential::Sequential(std::vector<Layer> layers, std::string name)
    : Model(own_layer(std::make_shared<SequentialLayer>(), std::move(name))) {
  for (const Layer& layer : layers) add(layer);
}

void Sequential::add(const Layer& layer) { static_cast<SequentialLayer&>(*network()).add(layer); }

const std::vector<double>& History::operator[](std::string_view name) const {
  std::string known;
  for (const auto& [key, values] : history) {
    if (key == name) return values;
    known += (known.empty() ? "" : ", ") + key;
  }
  fail(ErrorKind::not_found, "history", "there is no '", name, "'; there are: ", known);
}

const double* find_log(const Logs& logs, std::string_view name) {
  for (const auto& [key, value] : logs) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace plimsoll
