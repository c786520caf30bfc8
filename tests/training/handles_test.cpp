// Handles that hold nothing, default-constructed or moved away: every public member gives an Error, none
// crashes.
#include <gtest/gtest.h>

#include <functional>

#include "plimsoll/activations.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/npy.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

using Calls = std::vector<std::pair<const char*, std::function<void()>>>;

// Each call throws an Error that says what was expected, and that is the caller's to mend.
void expect_errors(const char* type, const Calls& calls) {
  for (const auto& [name, call] : calls) {
    try {
      call();
      ADD_FAILURE() << type << "." << name << " did not throw";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument) << type << "." << name << ": " << e.what();
      EXPECT_NE(std::string(e.what()).find("expected"), std::string::npos)
          << type << "." << name << ": " << e.what();
    } catch (const std::exception& e) {
      ADD_FAILURE() << type << "." << name << " threw no Error but: " << e.what();
    }
  }
}

template <class T>
void use(const T&) {}

Calls model_calls(Model& m) {
  const Tensor x = Tensor::zeros(DType::f32, {4, 2});
  return {
      {"compile", [&] { m.compile({.loss = "mse"}); }},
      {"compiled", [&] { use(m.compiled()); }},
      {"compile_args", [&] { use(m.compile_args()); }},
      {"set_threads", [&] { m.set_threads(1); }},
      {"fit", [&, x] { m.fit(x, x); }},
      {"fit list", [&, x] { m.fit(std::vector<Tensor>{x}, std::vector<Tensor>{x}); }},
      {"fit data", [&, x] { m.fit(Dataset::arrays({x}, {x})); }},
      {"evaluate", [&, x] { m.evaluate(x, x); }},
      {"evaluate data", [&, x] { m.evaluate(Dataset::arrays({x}, {x})); }},
      {"predict", [&, x] { m.predict(x); }},
      {"predict data", [&, x] { m.predict(Dataset::arrays({x})); }},
      {"train_on_batch", [&, x] { m.train_on_batch({x}, {x}); }},
      {"test_on_batch", [&, x] { m.test_on_batch({x}, {x}); }},
      {"predict_on_batch", [&, x] { m.predict_on_batch({x}); }},
      {"stop_training", [&] { m.stop_training(); }},
      {"stop_evaluating", [&] { m.stop_evaluating(); }},
      {"stop_predicting", [&] { m.stop_predicting(); }},
      {"learning_rate", [&] { use(m.learning_rate()); }},
      {"set_learning_rate", [&] { m.set_learning_rate(1); }},
      {"name", [&] { use(m.name()); }},
      {"network", [&] { use(m.network()); }},
      {"Layer", [&] { use(static_cast<Layer>(m)); }},
      {"()", [&] { m(Input({2})); }},
      {"() list", [&] { m(std::vector<Symbol>{Input({2})}); }},
      {"layers", [&] { use(m.layers()); }},
      {"get_layer", [&] { m.get_layer("dense"); }},
      {"inputs", [&] { use(m.inputs()); }},
      {"outputs", [&] { use(m.outputs()); }},
      {"summary", [&] { m.summary(); }},
      {"get_weights", [&] { m.get_weights(); }},
      {"set_weights", [&] { m.set_weights({}); }},
      {"count_params", [&] { m.count_params(); }},
      {"save", [&] { m.save("/tmp/no_model.keras"); }},
      {"save h5", [&] { m.save("/tmp/no_model.h5"); }},
      {"save_weights", [&] { m.save_weights("/tmp/no_model.weights.h5"); }},
      {"load_weights", [&] { m.load_weights("/tmp/no_model.weights.h5"); }},
      {"to_json", [&] { m.to_json(); }},
      {"body", [&] { use(&m.body()); }},
      {"forecast", [&] { forecast(m, 4); }},
  };
}

TEST(Handles, NoModel) {
  Model none;
  EXPECT_FALSE(none);
  expect_errors("Model", model_calls(none));
}

TEST(Handles, AModelMovedAway) {
  Sequential from({Input({2}), Dense(2)});
  const Sequential to = std::move(from);
  EXPECT_TRUE(to);
  expect_errors("moved Sequential", model_calls(from));  // NOLINT(bugprone-use-after-move)
  expect_errors("moved Sequential", {{"add", [&] { from.add(Dense(1)); }}});
}

TEST(Handles, NoSymbol) {
  const Symbol none;
  const Symbol x = Input({2});
  expect_errors("Symbol", {{"shape", [&] { use(none.shape()); }},
                           {"dtype", [&] { use(none.dtype()); }},
                           {"call", [&] { use(none.call()); }},
                           {"into a layer", [&] { Dense(2)(none); }},
                           {"into a layer by name",
                            [&] {
                              Dense(2)(x, CallOptions{.tensors = {{"initial_state", none}}});
                            }},
                           {"as a layer", [&] { use(Layer(none)); }},
                           {"as an input", [&] { Model({none}, {x}); }},
                           {"as an output", [&] { Model({x}, {none}); }}});
  Symbol from = Input({2});
  const Symbol to = std::move(from);
  EXPECT_EQ(to.shape().size(), 2u);
  expect_errors("moved Symbol", {{"shape", [&] { use(from.shape()); }}});  // NOLINT(bugprone-use-after-move)
  expect_errors("Symbol of a call that has no such output",
                {{"shape", [&] { use(Symbol(x.call(), 7).shape()); }},
                 {"dtype", [&] { use(Symbol(x.call(), 7).dtype()); }}});
}

TEST(Handles, NoLayer) {
  const Layer none;
  const Symbol x = Input({2});
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_FALSE(none);
  expect_errors("Layer", {{"()", [&] { none(x); }},
                          {"() list", [&] { none(std::vector<Symbol>{x}); }},
                          {"outputs", [&] { none.outputs({x}); }},
                          {"->", [&] { use(none->name()); }},
                          {"*", [&] { use((*none).name()); }},
                          {"in Sequential",
                           [&] {
                             Sequential({x, none});
                           }},
                          {"in Model", [&] { use(Model(none)); }},
                          {"in Bidirectional",
                           [&] {
                             Bidirectional(none)(Input({3, 2}));
                           }},
                          {"in TimeDistributed",
                           [&] {
                             TimeDistributed(none)(Input({3, 2}));
                           }},
                          {"in own_layer", [&] { own_layer(nullptr, "x"); }}});
}

template <class T>
void expect_empty_ref(const char* type) {
  const T none;
  EXPECT_FALSE(none);
  expect_errors(type, {{"->", [&] { use(none->class_name()); }}, {"*", [&] { use((*none).class_name()); }}});
  expect_errors(type, {{"of a null pointer", [&] { use(T(nullptr)->class_name()); }}});
}

TEST(Handles, NoObject) {
  expect_empty_ref<Optimizer>("Optimizer");
  expect_empty_ref<Loss>("Loss");
  expect_empty_ref<Metric>("Metric");
  expect_empty_ref<Schedule>("Schedule");
  expect_empty_ref<Initializer>("Initializer");
  expect_empty_ref<Regularizer>("Regularizer");
  expect_empty_ref<Constraint>("Constraint");
  Sequential model({Input({2}), Dense(2)});
  expect_errors("compile",
                {{"no optimizer", [&] { model.compile({.optimizer = Optimizer(), .loss = "mse"}); }},
                 {"no metric", [&] { model.compile({.loss = "mse", .metrics = {Metric()}}); }},
                 {"no schedule", [&] { Adam(Schedule()); }},
                 {"nothing to scale for", [&] { LossScaleOptimizer(Optimizer()); }}});
  expect_errors("Dense",
                {{"no initializer", [&] { Dense(2, {.kernel_initializer = Initializer()})(Input({2})); }}});
}

TEST(Handles, NoTensor) {
  const Tensor none;
  const Tensor x = Tensor::zeros(DType::f32, {2, 2});
  Graph graph;
  expect_errors("Tensor", {{"data", [&] { use(none.data()); }},
                           {"data<T>", [&] { use(none.data<float>()); }},
                           {"item", [&] { use(none.item()); }},
                           {"graph", [&] { use(&none.graph()); }},
                           {"graph of a concrete one", [&] { use(&x.graph()); }},
                           {"of a graph without such a value", [&] { use(Tensor(graph, 7)); }},
                           {"copy", [&] { use(none.copy()); }},
                           {"dim", [&] { use(none.dim(0)); }},
                           {"read_bytes", [&] { use(read_bytes(none)); }},
                           {"assign to", [&] { assign(none, x); }},
                           {"assign from", [&] { assign(x, none); }},
                           {"assign none to none", [&] { assign(none, none); }},
                           {"write_bytes", [&] { write_bytes(none, [](void*) {}); }},
                           {"+", [&] { use(none + x); }},
                           {"+ none", [&] { use(none + none); }},
                           {"+ right", [&] { use(x + none); }},
                           {"+ number", [&] { use(none + 1.0); }},
                           {"exp", [&] { use(exp(none)); }},
                           {"matmul", [&] { use(matmul(x, none)); }},
                           {"sum", [&] { use(sum(none)); }},
                           {"reshape", [&] { use(reshape(none, {1})); }},
                           {"concatenate",
                            [&] {
                              use(concatenate(std::vector<Tensor>{x, none}, 0));
                            }},
                           {"cast", [&] { use(cast(none, DType::f64)); }},
                           {"where", [&] { use(where(none, x, x)); }},
                           {"gradients", [&] { use(gradients(none, std::vector<Tensor>{x})); }},
                           {"gradients of concrete", [&] { use(gradients(x, std::vector<Tensor>{x})); }},
                           {"graph.constant", [&] { use(graph.constant(none)); }},
                           {"graph.variable", [&] { use(graph.variable("v", none)); }},
                           {"graph.output", [&] { graph.output("y", none); }},
                           {"graph.update", [&] { graph.update(none, none); }},
                           {"graph.capture", [&] { use(graph.capture(none)); }},
                           {"activate", [&] { use(activate("relu", none)); }},
                           {"write_npy", [&] { write_npy("/tmp/no_tensor.npy", none); }},
                           {"write_npz",
                            [&] {
                              write_npz("/tmp/no_tensor.npz", {{"x", none}});
                            }},
                           {"write_csv", [&] { write_csv("/tmp/no_tensor.csv", none); }},
                           {"Dataset", [&] { Dataset::arrays({none}); }}});
  Sequential model({Input({2}), Dense(2)});
  model.compile({.loss = "mse"});
  expect_errors("Model given no tensor",
                {{"fit x", [&] { model.fit(none, x); }},
                 {"fit y", [&] { model.fit(x, none); }},
                 {"predict", [&] { model.predict(none); }},
                 {"train_on_batch", [&] { model.train_on_batch({none}, {x}); }},
                 {"predict_on_batch", [&] { model.predict_on_batch({none}); }},
                 {"set_weights",
                  [&] {
                    model.set_weights(std::vector<Tensor>{none, none});
                  }},
                 {"sample_weight", [&] { model.fit(x, x, {.sample_weight = {none}}); }},
                 {"validation", [&] { model.fit(x, x, {.validation_x = {none}, .validation_y = {x}}); }}});
}

TEST(Handles, ADataSetMovedAway) {
  const Tensor x = Tensor::zeros(DType::f32, {4, 2});
  Dataset from = Dataset::arrays({x});
  const Dataset to = std::move(from);
  EXPECT_EQ(to.records(), 4);
  const Dataset& d = from;  // NOLINT(bugprone-use-after-move)
  Sequential model({Input({2}), Dense(2)});
  model.compile({.loss = "mse"});
  expect_errors("Dataset", {{"shuffle", [&] { d.shuffle(1); }},
                            {"take", [&] { d.take(1); }},
                            {"skip", [&] { d.skip(1); }},
                            {"repeat", [&] { d.repeat(1); }},
                            {"batch", [&] { d.batch(1); }},
                            {"map", [&] { d.map([](Record&) {}); }},
                            {"prefetch", [&] { d.prefetch(1); }},
                            {"skip_bad", [&] { d.skip_bad(); }},
                            {"in_memory", [&] { d.in_memory(); }},
                            {"random_access", [&] { d.random_access(); }},
                            {"records", [&] { d.records(); }},
                            {"batches", [&] { d.batches(); }},
                            {"batch_size", [&] { d.batch_size(); }},
                            {"batches_held", [&] { d.batches_held(); }},
                            {"types", [&] { d.types(); }},
                            {"x_types", [&] { d.x_types(); }},
                            {"y_types", [&] { d.y_types(); }},
                            {"class_names", [&] { d.class_names(); }},
                            {"tensors", [&] { d.tensors(); }},
                            {"read", [&] { d.read(); }},
                            {"fit", [&] { model.fit(d); }},
                            {"evaluate", [&] { model.evaluate(d); }},
                            {"predict", [&] { model.predict(d); }},
                            {"validation_data", [&] { model.fit(x, x, {.validation_data = d}); }},
                            {"generator of none", [&] { Dataset::generator(nullptr, {}); }},
                            {"map of none", [&] { to.map(nullptr); }}});
}

TEST(Handles, AProgramMovedAway) {
  Graph graph;
  graph.output("y", exp(graph.input("x", DType::f32, {2})));
  Program from = Program::compile(graph);
  Program to = std::move(from);
  const Tensor x = Tensor::zeros(DType::f32, {2});
  std::vector<Tensor> ys(1);
  expect_errors("Program", {{"run", [&] { from.run(std::vector<Tensor>{x}, ys); }},  // NOLINT
                            {"()", [&] { from(std::vector<Tensor>{x}); }},
                            {"memory", [&] { use(from.memory()); }},
                            {"text", [&] { use(from.text()); }},
                            {"steps", [&] { use(from.steps()); }},
                            {"profile", [&] { from.profile(std::vector<Tensor>{x}, 1); }},
                            {"no input", [&] { to(std::vector<Tensor>{Tensor()}); }}});
  from = std::move(to);
  EXPECT_EQ(from(std::vector<Tensor>{x}).size(), 1u);
}

TEST(Handles, ACallbackWithoutAModel) {
  Sequential model({Input({2}), Dense(2)});
  model.compile({.loss = "mse"});
  const Tensor x = Tensor::zeros(DType::f32, {4, 2});
  expect_errors("no callback", {{"fit", [&] { model.fit(x, x, {.callbacks = {nullptr}}); }},
                                {"evaluate", [&] { model.evaluate(x, x, {.callbacks = {nullptr}}); }},
                                {"predict", [&] { model.predict(x, {.callbacks = {nullptr}}); }},
                                {"LearningRateScheduler", [&] { LearningRateScheduler(nullptr); }}});
  const CallbackPtr alone = ReduceLROnPlateau();
  Logs logs;
  EXPECT_THROW(alone->model(), Error);
  EXPECT_THROW(alone->on_epoch_end(0, logs), Error);
  LambdaCallback({})->on_train_begin();  // nothing was given, nothing is called
}

TEST(Handles, ACallbackKeepsTheModelItWasGiven) {
  const CallbackPtr kept = LambdaCallback({});
  {
    Sequential model({Input({2}), Dense(2)});
    model.predict(Tensor::zeros(DType::f32, {4, 2}), {.callbacks = {kept}});
  }
  EXPECT_EQ(kept->model().layers().size(), 2u);
}

}  // namespace
}  // namespace plimsoll
