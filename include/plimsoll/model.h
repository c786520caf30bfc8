// Models: Sequential and functional ones, with Keras's compile, fit, evaluate and predict.
//
//   Sequential model({Input({28, 28, 1}), Conv2D(32, 3), MaxPooling2D(2), Flatten(), Dense(10)});
//   model.compile({.optimizer = Adam(1e-3), .loss = "mse"});
//   History h = model.fit(x, y, {.batch_size = 128, .epochs = 3});
//
// A Model is a handle, or none; copies share the layers and the training state. One thread at a time for each
// model; several models may train at once.
#pragma once

#include <concepts>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plimsoll/callbacks.h"
#include "plimsoll/data.h"
#include "plimsoll/layer.h"
#include "plimsoll/layers.h"
#include "plimsoll/losses.h"
#include "plimsoll/metrics.h"
#include "plimsoll/optimizers.h"
#include "plimsoll/tensor.h"
#include "plimsoll/watch.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// One for every output: alone, as a list, or by the outputs' names. Lists in braces are taken for names,
// {{"price", {"mae"}}, {"kind", {"accuracy"}}}; a list of lists is a std::vector.
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
struct PerOutput {
  PerOutput() = default;
  PerOutput(const char* name) : list{T(name)} {}
  PerOutput(T one) : list{std::move(one)} {}
  template <std::same_as<std::vector<T>> All>
  PerOutput(All all) : list(std::move(all)) {}
  PerOutput(std::initializer_list<T> all) requires(!kIsList<T>) : list(all) {}
  PerOutput(std::map<std::string, T> named) : by_name(std::move(named)) {}
  PerOutput(std::initializer_list<std::pair<const std::string, T>> named) : by_name(named) {}
  std::vector<T> list;
  std::map<std::string, T> by_name;
  bool empty() const { return list.empty() && by_name.empty(); }
};

// The tensors of a batch: x, {x}, {x1, x2}.
struct Tensors : std::vector<Tensor> {
  using std::vector<Tensor>::vector;
  Tensors(const Tensor& one) : std::vector<Tensor>{one} {}
  template <std::same_as<std::vector<Tensor>> All>
  Tensors(All all) : std::vector<Tensor>(std::move(all)) {}
};

// A Dataset, or arrays: {x, y}, {{x1, x2}, y}, {x, y, weights}; none: as if it was not given.
struct ValidationData : std::optional<Dataset> {
  using std::optional<Dataset>::optional;
  ValidationData(std::optional<Dataset> data) : std::optional<Dataset>(std::move(data)) {}
  ValidationData(Tensors x, Tensors y, Tensors weights = {})
      : std::optional<Dataset>(Dataset::arrays(std::move(x), std::move(y), std::move(weights))), of_arrays(true) {}
  bool of_arrays = false;  // then in batches of FitArgs::validation_batch_size
};

struct CompileArgs {
  Optimizer optimizer = "rmsprop";
  PerOutput<Loss> loss = {};
  PerOutput<double> loss_weights = {};
  // Of a model with one output; of one with several, one for each.
  std::vector<Metric> metrics = {};
  std::vector<Metric> weighted_metrics = {};  // these see the sample weights, the others do not
  PerOutput<std::vector<Metric>> metrics_per_output = {};
  PerOutput<std::vector<Metric>> weighted_metrics_per_output = {};
  // With the dtype policy mixed_float16, puts a LossScaleOptimizer around the optimizer.
  bool auto_scale_loss = true;
  int threads = 0;  // 0: all cores this process may use
  // What it runs on (devices.h): "cpu", "cuda", "cuda:1". Empty: the best there is.
  std::string device = {};
};

struct FitArgs {
  int64_t batch_size = 32;
  int64_t epochs = 1;
  // 0: silent, 1: a progress bar (plain lines where there is no terminal), 2: a line per epoch.
  int verbose = 1;
  std::vector<CallbackPtr> callbacks = {};
  double validation_split = 0;
  std::vector<Tensor> validation_x = {}, validation_y = {}, validation_weights = {};
  ValidationData validation_data = {};
  bool shuffle = true;
  std::map<int64_t, double> class_weight = {};
  std::vector<Tensor> sample_weight = {};
  int64_t initial_epoch = 0;
  int64_t steps_per_epoch = 0;  // 0: to the end of the data
  int64_t validation_steps = 0;
  int64_t validation_batch_size = 0;  // 0: batch_size
  int64_t validation_freq = 1;
  std::optional<uint64_t> seed = {};  // of the order of the data; empty: drawn
  // The line of this fit(): "2GiB", "60%"; empty: only the process's, which holds in any case. A device has
  // its own: "cuda:0=4GiB", alone or behind the host's and a comma. What counts:
  // the model, the arrays given, and all that is taken while fit() runs. What does not fit is refused before
  // the first batch, with Error{out_of_memory}: the bytes needed and allowed, the largest batch that fits,
  // the heaviest layers.
  std::string memory = {};
  // "never": a batch that fits in no exact way is refused. "auto": under a line that somebody drew it is
  // trained in parts, with sums over all of it: weights equal those of whole batches to rounding, not bit by
  // bit, and fit() says so.
  std::string micro_batch = "never";
  // (optional) A folder on a disk: what the optimizer keeps for large weights lies in a file there, and is in
  // memory only while a weight is updated. The same weights bit by bit, slower steps. It stays there for
  // later fits of this model.
  std::string spill = {};
  // What to do about a loss or a gradient that is NaN or infinite (watch.h). Empty: nothing, as Keras does.
  // "raise": NonFiniteError, which names the first operation whose results are not finite and what it read.
  // "skip": the step is left out, and so are its metrics. "warn": said once, then all is as without a watch.
  // A step whose loss is not finite changes nothing. Where only a gradient is not, its own update is left
  // out, and those made before it stand, unless all are held back until the last gradient is there: that
  // takes the memory of all gradients (forecast()).
  std::string on_nan = {};
  bool hold_updates = false;
  // What to do when there is no sign of life for `stall_after` seconds (longer where more is usual): "warn"
  // logs what it waits for, "raise" throws StallError as well once that has come back, "off". A step that
  // takes longer than `step_deadline` seconds (0: none) is a stall too.
  std::string on_stall = "warn";
  double stall_after = 60;
  double step_deadline = 0;
  // (optional) Where to write what was done when, for ui.perfetto.dev.
  std::string trace = {};
};

struct EvaluateArgs {
  int64_t batch_size = 32;
  int verbose = 0;
  std::vector<Tensor> sample_weight = {};
  int64_t steps = 0;  // 0: to the end of the data
  std::vector<CallbackPtr> callbacks = {};
};

struct PredictArgs {
  int64_t batch_size = 32;
  int verbose = 0;
  int64_t steps = 0;
  std::vector<CallbackPtr> callbacks = {};
};

// What a training step over a batch would hold, in bytes, as the account counts them.
struct MemoryForecast {
  int64_t weights = 0;  // with what layers keep beside them
  int64_t state = 0;    // of the optimizer and metrics
  int64_t arena = 0;    // activations, gradients and scratch, exact
  int64_t constants = 0;
  int64_t programs = 0;  // of the steps themselves: graphs, plans, kernels with their code
  int64_t data = 0;      // batches in flight
  int64_t process = 0;   // after count_whole_process(): code, threads, and all else that the system counts
  int64_t total() const { return weights + state + arena + constants + programs + data + process; }
  // Shares of the arena at its fullest, heaviest first.
  std::vector<std::pair<std::string, int64_t>> layers = {};
  // Where the step runs on a device of a plug-in: its name, and what lies there. On the host there are then
  // no arena and no constants, but weights and state have their place there too.
  std::string device = {};
  struct OnDevice {
    int64_t weights = 0, state = 0, arena = 0, constants = 0, data = 0;
    int64_t total() const { return weights + state + arena + constants + data; }
  } on_device = {};
  // Under a line.
  int64_t line = 0;           // the one asked for; 0: none
  bool fits = true;           // false: all of this is of the plan with the smallest arena
  int64_t unlimited = 0;      // the arena without a line
  int64_t least = 0;          // the least line that would do
  int64_t largest_batch = 0;  // that fits under it; 0: none
  int64_t again = 0;          // operations that run once more in a step
  int64_t parts = 1;          // that a batch is trained in; above 1: equal to rounding, not bit by bit
  double seconds = 0;         // of a step without these, of these, and the fewest that could do; estimated
  double extra_seconds = 0;
  double least_extra = 0;
};

struct History {
  std::vector<int64_t> epoch;
  std::vector<std::pair<std::string, std::vector<double>>> history;
  bool interrupted = false;  // by Ctrl-C
  int64_t left_out = 0;      // steps, by on_nan = "skip"
  // Throws Error{not_found} listing the names there are, the nearest first.
  const std::vector<double>& operator[](std::string_view name) const;
};

class Functional;
struct ModelBody;

// Of no model (default-constructed, or moved away) every function but bool throws Error{invalid_argument}.
//
// A class derived from Model with layers as members and its own call() is a model too, as in Keras:
//
//   struct Net : Model {
//     Layer hidden = Dense(32, {.activation = "relu"}), out = Dense(10);
//     Symbol call(const Symbol& x) override { return out(hidden(x)); }
//   };
//
// call() runs once, when the first data or build() says what the inputs are, and its calls become a
// functional model: files hold that one. Copies made before share the layers only.
class Model {
 public:
  Model();  // none
  Model(std::vector<Symbol> inputs, std::vector<Symbol> outputs, std::string name = "");
  Model(const Symbol& input, const Symbol& output, std::string name = "")
      : Model(std::vector<Symbol>{input}, std::vector<Symbol>{output}, std::move(name)) {}
  Model(std::vector<Symbol> inputs, const Symbol& output, std::string name = "")
      : Model(std::move(inputs), std::vector<Symbol>{output}, std::move(name)) {}
  Model(const Symbol& input, std::vector<Symbol> outputs, std::string name = "")
      : Model(std::vector<Symbol>{input}, std::move(outputs), std::move(name)) {}
  explicit Model(Layer network);  // a Functional or Sequential layer
  virtual ~Model();
  Model(const Model&);
  Model(Model&&) noexcept;
  Model& operator=(const Model&);
  Model& operator=(Model&&) noexcept;

  // Of a derived class: one or the other.
  virtual Symbol call(const Symbol& x);
  virtual std::vector<Symbol> call_many(const std::vector<Symbol>& xs);
  // Runs call() of a derived class on inputs of these shapes: model.build({-1, 28, 28}), the batch first.
  void build(const SymbolShape& input) { build(std::vector<SymbolShape>{input}); }
  void build(const std::vector<SymbolShape>& inputs);

  void compile(const CompileArgs& args);
  bool compiled() const;
  // Of the last compile(); throws Error{invalid_argument} before one.
  const CompileArgs& compile_args() const;
  // From the next step on; 0: all cores this process may use. The optimizer's state stays.
  void set_threads(int threads);
  // As CompileArgs::device, from the next step on. Throws Error{not_found} naming the devices there are.
  void set_device(const std::string& device);
  History fit(const Tensor& x, const Tensor& y, const FitArgs& args = {});
  History fit(Tensors x, Tensors y, const FitArgs& args = {});
  // Batches come from the data set; args.batch_size and args.shuffle are not looked at.
  History fit(const Dataset& data, const FitArgs& args = {});
  // Loss and metrics by name.
  Logs evaluate(const Tensor& x, const Tensor& y, const EvaluateArgs& args = {});
  Logs evaluate(Tensors x, Tensors y, const EvaluateArgs& args = {});
  Logs evaluate(const Dataset& data, const EvaluateArgs& args = {});
  Tensor predict(const Tensor& x, const PredictArgs& args = {});  // of a model with one output
  std::vector<Tensor> predict(std::vector<Tensor> x, const PredictArgs& args = {});
  std::vector<Tensor> predict(std::initializer_list<Tensor> x, const PredictArgs& args = {}) {
    return predict(std::vector<Tensor>(x), args);  // a list of one is a list too
  }
  std::vector<Tensor> predict(const Dataset& data, const PredictArgs& args = {});
  Logs train_on_batch(const Tensors& x, const Tensors& y, const Tensors& weight = {});
  Logs test_on_batch(const Tensors& x, const Tensors& y, const Tensors& weight = {});
  Tensor predict_on_batch(const Tensor& x);  // of a model with one output
  std::vector<Tensor> predict_on_batch(const std::vector<Tensor>& x);
  std::vector<Tensor> predict_on_batch(std::initializer_list<Tensor> x) {
    return predict_on_batch(std::vector<Tensor>(x));  // a list of one is a list too
  }
  // A callback's word to fit(), evaluate() and predict(): end after this step.
  void stop_training();
  void stop_evaluating();
  void stop_predicting();
  // Of the next step. Setting it throws Error{invalid_argument} where a schedule decides.
  double learning_rate() const;
  void set_learning_rate(double rate);

  const std::string& name() const;
  const Layer& network() const;  // the model as a layer, for use inside another one
  operator Layer() const { return network(); }
  Symbol operator()(const Symbol& x) { return (*this)(std::vector<Symbol>{x}); }
  Symbol operator()(const Symbol& x) const { return network()(x); }
  // On values, as predict_on_batch().
  Tensor operator()(const Tensor& x) { return predict_on_batch(x); }
  Symbol operator()(const std::vector<Symbol>& xs);
  Symbol operator()(const std::vector<Symbol>& xs) const { return network()(xs); }
  const std::vector<Layer>& layers() const;
  // Throws Error{not_found} listing the names there are, the nearest first.
  Layer get_layer(std::string_view name) const;
  const std::vector<Symbol>& inputs() const;
  const std::vector<Symbol>& outputs() const;
  // What losses, metrics and files call the outputs: keys where Python has a dict, else the layers' names.
  std::vector<std::string> output_names() const;
  // Of a model with one; these throw Error{invalid_argument} if it has several, or has seen no input yet.
  const Symbol& input() const;
  const Symbol& output() const;
  const SymbolShape& input_shape() const { return input().shape(); }
  const SymbolShape& output_shape() const { return output().shape(); }
  std::string summary() const;
  std::vector<Tensor> get_weights() const { return network()->get_weights(); }
  void set_weights(std::span<const Tensor> values) { network()->set_weights(values); }
  int64_t count_params() const { return network()->count_params(); }

  // Files (src/keras_io): the suffix says which: .keras, .h5, .weights.h5. Written beside and renamed.
  void save(const std::filesystem::path& path) const;
  void save_weights(const std::filesystem::path& path) const;
  // All or nothing: an Error leaves weights and optimizer as they were. Until the last is read the new ones
  // are held beside the old.
  void load_weights(const std::filesystem::path& path);
  std::string to_json() const;

  ModelBody& body() const;
  explicit operator bool() const { return body_ != nullptr; }

 protected:
  std::shared_ptr<ModelBody> body_;

 private:
  void begin();           // gives a derived class an empty network
  Functional* waiting();  // that network, until call() has run
  // Run a derived class's call() on inputs like these, unless it was run before.
  using InputType = LayerCall::Output;
  void build_for(const std::vector<InputType>& types);
  void build_for(const std::vector<Tensor>& xs);
  void build_for(const Dataset& data);
};

class Sequential : public Model {
 public:
  Sequential(std::vector<Layer> layers = {}, std::string name = "");
  Sequential(std::initializer_list<Layer> layers) : Sequential(std::vector<Layer>(layers)) {}
  // A model that was compiled keeps its loss and metrics, and gets a fresh optimizer.
  void add(const Layer& layer);
  void pop();  // the last layer; throws Error{invalid_argument} if there is none but the Input
};

// Plans a training step without running it. Requires: the model is compiled and knows its inputs. Targets are
// taken to be as the loss wants them: class numbers for sparse cross-entropies, else tensors like the
// outputs. `memory`, `micro_batch` and `hold_updates` (optional): as in FitArgs; what a fit() of this model
// alone would do under that line. A model that runs on a device is judged by the line of that device.
MemoryForecast forecast(const Model& model, int64_t batch_size, const std::string& memory = "",
                        const std::string& micro_batch = "never", bool hold_updates = false);

// Throws Error{bad_file} with the place, {unsupported} naming a layer that is not known.
Model load_model(const std::filesystem::path& path);
Model model_from_json(std::string_view json);

// What a file says of itself; empty where it does not.
struct ModelFileInfo {
  std::string kind;
  int64_t bytes = 0;
  std::string keras_version, backend, date_saved;
  std::string writer;                                           // "plimsoll" in .keras files of ours
  bool has_model = false;                                       // else weights alone, or a description
  std::vector<std::pair<std::string, TensorType>> arrays = {};  // of HDF5 files, by path
};
// Throws Error{bad_file} with the place, {not_found}.
ModelFileInfo describe_model_file(const std::filesystem::path& path);

}  // namespace plimsoll
#pragma GCC visibility pop
