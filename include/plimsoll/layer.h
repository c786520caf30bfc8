// Layers. A layer is one class with its arguments as members and one function, call(), which builds its
// weights the first time and traces its computation every time:
//
//   struct Scale : LayerBase {
//     std::string_view class_name() const override { return "Scale"; }
//     Tensor call(Scope& s, const Tensor& x) override { return x * s.weight("factor", {x.dim(-1)}, "ones"); }
//   };
//   Layer layer = make_layer<Scale>();
//
// Layers are applied to Symbols to describe a model (functional API). Nothing here is thread-safe.
#pragma once

#include <concepts>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/attrs.h"
#include "plimsoll/config.h"
#include "plimsoll/initializers.h"
#include "plimsoll/print.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

class Layer;
class LayerBase;
class Trace;
struct LayerCall;

// One weight: bytes that outlive a step. Shared by the layer that made it and the programs that use it.
struct Variable {
  std::string name;  // "kernel"; "cell/kernel" where Keras keeps it in an object inside the layer
  Tensor value;      // concrete
  bool trainable = true;
  // Keras's seed generators, and the states of a stateful layer, are kept but are no weights: get_weights()
  // leaves them out, and a file need not have them.
  bool is_seed = false;
  Regularizer regularizer = {};
  Constraint constraint = {};
  std::string layer = {};  // the name of the layer that made it; Keras's path is layer/name
};
using VariablePtr = std::shared_ptr<Variable>;

struct WeightOptions {
  bool trainable = true;
  Regularizer regularizer = {};
  Constraint constraint = {};
  // Undefined (the default): the policy's variable dtype, and the value is cast to its compute dtype.
  std::optional<DType> dtype = {};
  bool is_state = false;  // kept from call to call, but no weight
};

// What was passed to a call by name: mha({q, v}, {.tensors = {{"attention_mask", m}}}).
struct Arguments {
  std::vector<std::pair<std::string, Tensor>> tensors = {};
  Attrs constants = {};
};

// What a layer's call() sees of the trace it takes part in.
class Scope {
 public:
  Scope(Trace& trace, LayerBase& layer, const Arguments& arguments)
      : trace_(trace), layer_(layer), arguments_(arguments) {}

  bool training() const;
  // The value of a weight of this layer. The first call makes it; later ones must ask for the same shape,
  // else Error{invalid_argument}. A weight that was updated in this trace has its new value.
  Tensor weight(std::string_view name, const Shape& shape, const Initializer& initializer,
                const WeightOptions& options = {});
  // The weight's value after the step, such as a moving average. Requires: weight() was called for `name`.
  void update(std::string_view name, const Tensor& next);
  // A key for random ops, different in each call and each step; the state is Keras's seed generator.
  Tensor random_key(const std::optional<int64_t>& seed, std::string_view generator = "seed_generator");
  // Makes the seed generator, as Keras does when a layer is made, without drawing from it.
  void add_seed_generator(const std::optional<int64_t>& seed, std::string_view generator = "seed_generator");
  void add_loss(const Tensor& scalar);

  // The mask Keras carries beside a tensor: bool (batch, time); undefined: none.
  Tensor mask(const Tensor& x) const;
  void set_mask(const Tensor& y, const Tensor& mask);

  Tensor argument(std::string_view name) const;  // undefined: not given
  // All that were given under one name, in order: the two initial states of an LSTM.
  std::vector<Tensor> arguments(std::string_view name) const;
  const Attr* constant(std::string_view name) const;  // nullptr: not given

  // Calls a layer inside this one.
  Tensor call(const Layer& inner, const Tensor& x);
  std::vector<Tensor> call(const Layer& inner, std::span<const Tensor> xs, const Arguments& arguments = {});

  DType compute_dtype() const;
  Trace& trace() const { return trace_; }
  LayerBase& layer() const { return layer_; }

 private:
  Trace& trace_;
  LayerBase& layer_;
  const Arguments& arguments_;
};

// Sizes of a tensor that a model describes; -1: not known before a batch is there (Keras's None).
struct SymbolShape : Ints {
  using Ints::Ints;
  template <std::same_as<Ints> Sizes>
  SymbolShape(Sizes sizes) : Ints(std::move(sizes)) {}
};
std::ostream& operator<<(std::ostream& out, const SymbolShape& shape);  // (None, 28, 28, 1)

// The result of a layer in a model under construction (a KerasTensor): cheap to copy.
class Symbol {
 public:
  Symbol() = default;
  Symbol(std::shared_ptr<const LayerCall> call, size_t index) : call_(std::move(call)), index_(index) {}
  bool defined() const { return call_ != nullptr; }
  // These throw Error{invalid_argument} if it is not defined.
  const SymbolShape& shape() const;
  DType dtype() const;
  const std::shared_ptr<const LayerCall>& call() const;
  size_t index() const { return index_; }
  // x[{Slice{}, 0}] as in Keras (indexing.h); the first axis is the batch.
  Symbol operator[](const Index& index) const { return (*this)[{index}]; }
  Symbol operator[](std::initializer_list<Index> indices) const;

 private:
  std::shared_ptr<const LayerCall> call_;
  size_t index_ = 0;
};

class LayerBase : public Configurable, public std::enable_shared_from_this<LayerBase> {
 public:
  static constexpr Family kFamily = Family::layer;

  // A layer implements one of these two. The first is for one tensor in, one out.
  virtual Tensor call(Scope& s, const Tensor& x);
  virtual std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs);
  // An output without a mask of its own takes over the mask of the first input.
  virtual bool passes_mask() const { return false; }
  // Floats that come in are cast to the compute dtype first. Not where they stand for integers.
  virtual bool casts_inputs() const { return true; }
  // Whether Keras's class takes the argument: its spatial dropouts do not, and a config must not have it.
  virtual bool takes_trainable() const { return true; }
  // Layers inside this one, under the names of Keras's attributes ("forward_layer").
  virtual void visit_inner(const std::function<void(std::string_view name, const Layer& inner)>&) const {}

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  // False freezes all weights of this layer and of those inside it; programs are made anew at the next
  // compile().
  bool trainable() const { return trainable_; }
  void set_trainable(bool on);
  // "float32", "bfloat16", "mixed_bfloat16", "float64", ...; empty: the global one when the layer is built.
  const std::string& dtype_policy() const { return dtype_policy_; }
  void set_dtype_policy(std::string policy);
  void set_dtype_policy_of(const LayerBase& other) { dtype_policy_ = other.dtype_policy_; }
  DType compute_dtype() const;
  DType variable_dtype() const;
  // Of each output, divided by the size of the batch; joins the loss. Every layer may have one.
  const Regularizer& activity_regularizer() const { return activity_regularizer_; }
  void set_activity_regularizer(Regularizer r) { activity_regularizer_ = std::move(r); }

  bool built() const { return built_; }
  // This layer's own variables, in the order they were made.
  const std::vector<VariablePtr>& variables() const { return variables_; }
  VariablePtr find_variable(std::string_view name) const;  // nullptr if there is none
  VariablePtr add_variable(Variable variable);
  // Of this layer and those inside, as Keras orders them; without seed generators.
  std::vector<VariablePtr> weights() const;
  std::vector<VariablePtr> trainable_weights() const;
  std::vector<VariablePtr> non_trainable_weights() const;
  std::vector<VariablePtr> all_variables() const;  // seed generators too
  std::vector<Tensor> get_weights() const;         // copies
  // Throws before anything is changed if the number, a shape or a dtype differs.
  void set_weights(std::span<const Tensor> values);
  int64_t count_params() const;

  // Of its first call in a model that is still there, as Keras has them. Throw Error{invalid_argument} if it
  // was not called on Symbols, or has several of what is asked for.
  Symbol input() const;
  Symbol output() const;
  SymbolShape input_shape() const { return input().shape(); }
  SymbolShape output_shape() const { return output().shape(); }

 protected:
  // For fields() of a class whose Keras config has a place for it; else it is written only where there is
  // one.
  void activity_field(Fields& f) { f("activity_regularizer", activity_regularizer_); }

 private:
  friend class Trace;
  friend class Layer;
  friend Symbol symbol_of(const Layer& input);
  std::shared_ptr<const LayerCall> first_call() const;
  std::string name_;
  std::string dtype_policy_;
  bool trainable_ = true;
  bool built_ = false;
  Regularizer activity_regularizer_;
  std::vector<VariablePtr> variables_;
  std::weak_ptr<const LayerCall> first_call_;
};

struct CallOptions {
  std::vector<std::pair<std::string, Symbol>> tensors = {};  // by name: {"initial_state", h}
  Attrs constants = {};                                      // {"use_causal_mask", true}, {"training", false}
};

// A handle to a layer, or none; copies share the layer, and a layer called twice shares its weights.
class Layer {
 public:
  Layer() = default;
  Layer(std::shared_ptr<LayerBase> layer) : layer_(std::move(layer)) {}
  Layer(const Symbol& input);  // the Input it came from, for Sequential

  // Builds the weights if need be. Throws Error naming the layer if it does not fit the input.
  Symbol operator()(const Symbol& x, const CallOptions& options = {}) const;
  Symbol operator()(const std::vector<Symbol>& xs, const CallOptions& options = {}) const;
  // For layers with several outputs, such as an LSTM with return_state.
  std::vector<Symbol> outputs(const std::vector<Symbol>& xs, const CallOptions& options = {}) const;
  // On values: Dense(2)(tensor). What it computes is made ready anew in each call, so this is for looking at what
  // a layer does; a Model keeps its steps. Not in a layer's own call(), which has Scope::call() for that.
  Tensor operator()(const Tensor& x, bool training = false) const;
  Tensor operator()(const std::vector<Tensor>& xs, bool training = false) const;
  std::vector<Tensor> outputs(const std::vector<Tensor>& xs, bool training = false) const;

  // Throw Error{invalid_argument} where there is no layer.
  LayerBase* operator->() const { return &**this; }
  LayerBase& operator*() const;
  LayerBase* get() const { return layer_.get(); }  // nullptr: none
  const std::shared_ptr<LayerBase>& pointer() const { return layer_; }
  explicit operator bool() const { return layer_ != nullptr; }
  bool operator==(const Layer& other) const = default;

 private:
  std::shared_ptr<LayerBase> layer_;
};

// One application of a layer in a functional model.
struct LayerCall {
  Layer layer;
  std::vector<Symbol> inputs;  // positional ones
  CallOptions options;
  struct Output {
    SymbolShape shape;
    DType dtype;
  };
  std::vector<Output> outputs;
};

// A name for a layer of this class that no other has had: "dense", "dense_1".
std::string unique_layer_name(std::string_view class_name);
// The number counted on for names starts again at none; for tests and notebooks that build the same model
// again.
void clear_session();
// The policy of layers that are given none: "float32" at first.
void set_dtype_policy(std::string policy);
const std::string& global_dtype_policy();

// A dtype policy as the option dtype takes it: "float64", "mixed_bfloat16", DType::f64. Empty: the global
// one.
struct PolicyName : std::string {
  using std::string::string;
  PolicyName(DType dtype) : std::string(name_of(dtype)) {}
};

Layer own_layer(std::shared_ptr<LayerBase> layer, std::string name, const PolicyName& dtype = {});
template <class Options>
requires requires(const Options& o) {
  o.name;
  o.dtype;
}
Layer own_layer(std::shared_ptr<LayerBase> layer, const Options& options) {
  return own_layer(std::move(layer), options.name, options.dtype);
}
// Your own layer: make_layer<Scale>(arguments of its constructor...).
template <class T, class... Args>
Layer make_layer(Args&&... args) {
  return own_layer(std::make_shared<T>(std::forward<Args>(args)...), "");
}

}  // namespace plimsoll
#pragma GCC visibility pop
