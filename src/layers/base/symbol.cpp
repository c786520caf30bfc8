// Symbols: what a layer makes of symbolic inputs is found by tracing it alone, on sizes made up for those not
// known.
#include <algorithm>
#include <ostream>

#include "layers/base/functional.h"
#include "layers/base/input_layer.h"
#include "layers/base/trace.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/core.h"

namespace plimsoll {
namespace {

// Two sizes for a batch and two for any other axis that is not known: a size of the result that differs
// between the two traces is not known either. Large enough for the windows of image models; where they are
// not, for the long cuts of models of sequences.
struct MadeUp {
  int64_t batch, other;
};
struct Sizes {
  MadeUp first, second;
};
constexpr Sizes kSizes{{2, 224}, {3, 256}}, kLarge{{2, 224 << 8}, {3, 256 << 8}};

Shape made_up(const SymbolShape& shape, const MadeUp& sizes) {
  Ints known = shape;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] < 0) known[i] = i == 0 ? sizes.batch : sizes.other;
  }
  return Shape(known);
}

std::vector<TensorType> trace_types(const LayerCall& call, const MadeUp& sizes) {
  Graph graph;
  Trace trace(graph, false);
  const auto stand_in = [&](const Symbol& x) {
    return graph.input("x", x.dtype(), made_up(x.shape(), sizes));
  };
  std::vector<Tensor> inputs;
  for (const Symbol& x : call.inputs) inputs.push_back(stand_in(x));
  Arguments arguments{{}, call.options.constants};
  for (const auto& [name, x] : call.options.tensors) arguments.tensors.emplace_back(name, stand_in(x));
  std::vector<TensorType> types;
  for (const Tensor& y : trace.call(call.layer, inputs, arguments)) types.push_back(y.type());
  return types;
}

bool has_unknown_sizes(const LayerCall& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(), [](const Symbol& x) {
    return std::any_of(x.shape().begin() + (x.shape().empty() ? 0 : 1), x.shape().end(),
                       [](int64_t n) { return n < 0; });
  });
}

void infer_outputs(LayerCall& call, const Sizes& sizes) {
  const std::vector<TensorType> first = trace_types(call, sizes.first);
  const std::vector<TensorType> second = trace_types(call, sizes.second);
  const bool alike =
      std::equal(first.begin(), first.end(), second.begin(), second.end(),
                 [](const TensorType& a, const TensorType& b) { return a.shape.rank() == b.shape.rank(); });
  require(alike, call.layer->name(), "gives results of another rank for another size of batch");
  for (size_t i = 0; i < first.size(); ++i) {
    SymbolShape shape(first[i].shape.begin(), first[i].shape.end());
    for (size_t k = 0; k < shape.size(); ++k) {
      if (shape[k] != second[i].shape[static_cast<int>(k)]) shape[k] = -1;
    }
    call.outputs.push_back({std::move(shape), first[i].dtype});
  }
}

void infer_outputs(LayerCall& call) {
  try {
    infer_outputs(call, kSizes);
  } catch (const Error&) {
    if (!has_unknown_sizes(call)) throw;
    try {
      return infer_outputs(call, kLarge);
    } catch (const Error&) {
      // It was not the size: the first error says what.
    }
    throw;
  }
}

const LayerCall::Output& output_of(const LayerCall& call, size_t index) {
  require(index < call.outputs.size(), "symbol", "expected one of the ", call.outputs.size(),
          " outputs of its layer, got number ", index);
  return call.outputs[index];
}

}  // namespace

const std::shared_ptr<const LayerCall>& Symbol::call() const {
  require(call_ != nullptr, "symbol",
          "expected the result of a layer or of Input(), got an undefined symbol");
  return call_;
}
const SymbolShape& Symbol::shape() const { return output_of(*call(), index_).shape; }
DType Symbol::dtype() const { return output_of(*call(), index_).dtype; }

std::ostream& operator<<(std::ostream& out, const SymbolShape& shape) { return out << text_of(shape); }

std::shared_ptr<const LayerCall> LayerBase::first_call() const {
  std::shared_ptr<const LayerCall> call = first_call_.lock();
  require(call != nullptr, name_, "has no input or output: it was not called in a model yet");
  return call;
}

Symbol LayerBase::input() const {
  const std::shared_ptr<const LayerCall> call = first_call();
  if (call->inputs.empty()) return {call, 0};  // an Input
  require(call->inputs.size() == 1, name_, "has ", call->inputs.size(), " inputs, not one");
  return call->inputs[0];
}

Symbol LayerBase::output() const {
  const std::shared_ptr<const LayerCall> call = first_call();
  require(call->outputs.size() == 1, name_, "has ", call->outputs.size(), " outputs, not one");
  return {call, 0};
}

LayerBase& Layer::operator*() const {
  require(layer_ != nullptr, "layer",
          "expected a layer, got none (a default-constructed handle, or one that ", "was moved away)");
  return *layer_;
}

Layer::Layer(const Symbol& input) : layer_(input.defined() ? input.call()->layer.pointer() : nullptr) {
  require(dynamic_cast<InputLayer*>(layer_.get()) != nullptr, "layer",
          "expected a layer or the result of Input(), got another tensor");
}

std::vector<Symbol> Layer::outputs(const std::vector<Symbol>& xs, const CallOptions& options) const {
  require(layer_ != nullptr, "layer", "expected a layer, got none");
  for (const Symbol& x : xs)
    require(x.defined(), layer_->name(), "expected inputs that are defined, got an undefined symbol");
  for (const auto& [name, x] : options.tensors)
    require(x.defined(), layer_->name(), "expected a defined '", name, "', got an undefined symbol");
  auto call = std::make_shared<LayerCall>(LayerCall{*this, xs, options, {}});
  infer_outputs(*call);
  if (layer_->first_call_.expired()) layer_->first_call_ = call;
  std::vector<Symbol> ys;
  for (size_t i = 0; i < call->outputs.size(); ++i) ys.emplace_back(call, i);
  return ys;
}

Symbol Layer::operator()(const std::vector<Symbol>& xs, const CallOptions& options) const {
  const std::vector<Symbol> ys = outputs(xs, options);
  require(ys.size() == 1, layer_->name(), "has ", ys.size(), " outputs: call outputs()");
  return ys[0];
}

Symbol Layer::operator()(const Symbol& x, const CallOptions& options) const {
  return (*this)(std::vector<Symbol>{x}, options);
}

std::vector<Tensor> InputLayer::call_many(Scope&, std::span<const Tensor> xs) {
  return {xs.begin(), xs.end()};
}

Symbol symbol_of(const Layer& input) {
  const auto& layer = dynamic_cast<const InputLayer&>(*input);
  auto call = std::make_shared<LayerCall>(LayerCall{input, {}, {}, {{layer.batch_shape, layer.dtype}}});
  input->first_call_ = call;
  return {std::move(call), 0};
}

DTypeName::DTypeName(const char* name) : dtype(DType::f32) {
  const std::optional<DType> found = dtype_from_name(name);
  require(found.has_value(), "dtype", "expected a dtype such as \"float32\" or \"int32\", got '", name, "'");
  dtype = *found;
}

Symbol Input(const SymbolShape& shape, const InputOptions& options) {
  auto layer = std::make_shared<InputLayer>();
  layer->batch_shape = {options.batch_size.value_or(-1)};
  layer->batch_shape.insert(layer->batch_shape.end(), shape.begin(), shape.end());
  layer->dtype = options.dtype;
  return symbol_of(own_layer(std::move(layer), options.name));
}

}  // namespace plimsoll
