// What a user can get wrong: an Error that says so, or what Keras does; never a crash, and the model stays as
// usable as before.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor numbers(const Shape& shape, uint64_t seed = 1) {
  return testing::fill(DType::f32, shape, -1, 1, seed);
}

struct Misuse : ::testing::Test {
  Misuse() {
    set_random_seed(3);
    model = Sequential({Input({4}), Dense(6, {.activation = "relu"}), Dense(2)});
    model.compile({.optimizer = Adam(0.01), .loss = "mse", .metrics = {"mae"}});
  }

  // It throws an Error of this kind, and afterwards the model has the weights it had and trains.
  void expect_refused(const std::string& what, const std::function<void()>& call,
                      ErrorKind kind = ErrorKind::invalid_argument) {
    const std::vector<Tensor> before = model.get_weights();
    try {
      call();
      ADD_FAILURE() << what << ": nothing was thrown";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), kind) << what << ": " << e.what();
    } catch (const std::exception& e) {
      ADD_FAILURE() << what << ": not an Error but " << typeid(e).name() << ": " << e.what();
    }
    const std::vector<Tensor> after = model.get_weights();
    ASSERT_EQ(before.size(), after.size()) << what;
    for (size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(testing::bit_difference(after[i], before[i]), "") << what;
    expect_trains(what);
  }
  void expect_trains(const std::string& what) {
    const History h = model.fit(x, y, {.batch_size = 8, .verbose = 0});
    EXPECT_TRUE(std::isfinite(h["loss"].at(0))) << what;
  }

  Sequential model;
  Tensor x = numbers({16, 4}), y = numbers({16, 2}, 2);
};

TEST_F(Misuse, FitBeforeCompile) {
  Sequential fresh({Input({4}), Dense(2)});
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { fresh.fit(x, y); }, [&] { fresh.evaluate(x, y); }, [&] { fresh.train_on_batch({x}, {y}); },
           [&] { fresh.test_on_batch({x}, {y}); }, [&] { fresh.learning_rate(); },
           [&] { fresh.set_learning_rate(1); }, [&] { fresh.compile_args(); }, [&] { forecast(fresh, 4); }}) {
    EXPECT_THROW(call(), Error);
  }
  EXPECT_EQ(fresh.predict(x).dim(0), 16);
}

TEST_F(Misuse, AModelWithoutAnInputIsBuiltByItsData) {
  Sequential late({Dense(3, {.activation = "relu"}), Dense(2)});
  EXPECT_THROW(forecast(late, 4), Error);
  late.compile({.loss = "mse"});
  EXPECT_TRUE(late.get_weights().empty());
  late.fit(x, y, {.verbose = 0});
  EXPECT_EQ(late.get_weights().size(), 4u);
  EXPECT_THROW(late.fit(numbers({16, 5}), y, {.verbose = 0}), Error);
}

TEST_F(Misuse, TargetsThatDoNotFit) {
  expect_refused("other columns", [&] { model.fit(x, numbers({16, 3}), {.verbose = 0}); });
  expect_refused("other rows", [&] { model.fit(x, numbers({15, 2}), {.verbose = 0}); });
  expect_refused("one row in a batch", [&] { model.train_on_batch({x}, {numbers({1, 2})}); });
  expect_refused("other rows in a batch", [&] { model.train_on_batch({x}, {numbers({3, 2})}); });
  expect_refused("two targets", [&] { model.fit({x}, {y, y}, {.verbose = 0}); });
  expect_refused("no target", [&] { model.fit({x}, {}, {.verbose = 0}); });
  expect_refused("no target to evaluate", [&] { model.evaluate({x}, {}); });
  expect_refused("a scalar", [&] { model.fit(x, Tensor::full(DType::f32, {}, 1), {.verbose = 0}); });
  expect_refused("a complex target", [&] {
    model.fit(x, Tensor::zeros(DType::c64, {16, 2}), {.verbose = 0});
  });
}

TEST_F(Misuse, PredictionsWithoutARowForEachRecord) {
  const Tensor x = numbers({5, 4});
  const Symbol in = Input({4});
  Model turned({in}, {transpose(in, {1, 0}), matmul(in, transpose(in, {1, 0})), mean(in)});
  const std::vector<Tensor> ys = turned.predict({x}, {.batch_size = 8, .verbose = 0});
  EXPECT_EQ(ys[0].shape(), (Shape{4, 5}));
  EXPECT_EQ(ys[1].shape(), (Shape{5, 5}));
  EXPECT_EQ(ys[2].shape(), Shape{});
  // (4, 2), (4, 2), (4, 1): no tensor can be made of these.
  expect_refused("batches that differ", [&] { turned.predict({x}, {.batch_size = 2, .verbose = 0}); });
  Model square({in}, {matmul(in, transpose(in, {1, 0}))});
  expect_refused("a last, smaller batch", [&] { square.predict({x}, {.batch_size = 3, .verbose = 0}); });
  Model whole({in}, {transpose(in, {1, 0})});
  const Tensor y = whole.predict(numbers({6, 4}), {.batch_size = 2, .verbose = 0});
  EXPECT_EQ(y.shape(), (Shape{12, 2}));  // as NumPy joins them in Keras
}

TEST_F(Misuse, InputsThatDoNotFit) {
  expect_refused("other features", [&] { model.fit(numbers({16, 5}), y, {.verbose = 0}); });
  expect_refused("other features to predict", [&] { model.predict(numbers({16, 5})); });
  expect_refused("two inputs", [&] { model.predict(std::vector<Tensor>{x, x}); });
  expect_refused("no input", [&] { model.predict(std::vector<Tensor>()); });
  expect_refused("no input to fit", [&] { model.fit(std::vector<Tensor>(), {y}); });
  expect_refused("a batch without tensors", [&] { model.train_on_batch({}, {}); });
  expect_refused("too many axes", [&] { model.predict(numbers({16, 4, 2})); });
}

TEST_F(Misuse, BatchSizes) {
  for (const int64_t size : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    const std::string what = "batch_size " + std::to_string(size);
    expect_refused(what, [&] { model.fit(x, y, {.batch_size = size, .verbose = 0}); });
    expect_refused(what, [&] { model.evaluate(x, y, {.batch_size = size}); });
    expect_refused(what, [&] { model.predict(x, {.batch_size = size}); });
  }
  model.fit(x, y, {.batch_size = 1'000'000'000, .verbose = 0});
}

TEST_F(Misuse, NegativeNumbers) {
  expect_refused("epochs", [&] { model.fit(x, y, {.epochs = -1, .verbose = 0}); });
  expect_refused("initial_epoch", [&] { model.fit(x, y, {.verbose = 0, .initial_epoch = -1}); });
  expect_refused("steps_per_epoch", [&] { model.fit(x, y, {.verbose = 0, .steps_per_epoch = -1}); });
  expect_refused("validation_steps",
                 [&] { model.fit(x, y, {.verbose = 0, .validation_split = 0.5, .validation_steps = -1}); });
  expect_refused("validation_batch_size", [&] {
    model.fit(x, y, {.verbose = 0, .validation_split = 0.5, .validation_batch_size = -1});
  });
  expect_refused("validation_freq", [&] { model.fit(x, y, {.verbose = 0, .validation_freq = 0}); });
  expect_refused("evaluate steps", [&] { model.evaluate(x, y, {.steps = -1}); });
  expect_refused("predict steps", [&] { model.predict(x, {.steps = -1}); });
  expect_refused("threads", [&] { model.set_threads(-1); });
  expect_refused("compile threads", [&] { model.compile({.loss = "mse", .threads = -1}); });
}

TEST_F(Misuse, ValidationSplits) {
  for (const double split : {1.0, -0.1, 1.5, kNan, -kNan, 0.9999}) {
    expect_refused("validation_split " + std::to_string(split),
                   [&] { model.fit(x, y, {.verbose = 0, .validation_split = split}); });
  }
}

TEST_F(Misuse, ValidationThatDoesNotFitIsRefusedBeforeTraining) {
  const Tensor bad = numbers({4, 3});
  expect_refused("validation_x",
                 [&] { model.fit(x, y, {.verbose = 0, .validation_x = {bad}, .validation_y = {y}}); });
  expect_refused("validation_x of the same rows", [&] {
    model.fit(x, y, {.verbose = 0, .validation_x = {numbers({16, 3})}, .validation_y = {y}});
  });
  expect_refused("validation_y", [&] {
    model.fit(x, y, {.verbose = 0, .validation_x = {x}, .validation_y = {numbers({16, 3})}});
  });
  expect_refused("validation_data", [&] {
    model.fit(x, y, {.verbose = 0, .validation_data = Dataset::arrays({numbers({16, 3})}, {y})});
  });
  expect_refused("validation without targets",
                 [&] { model.fit(x, y, {.verbose = 0, .validation_data = Dataset::arrays({x})}); });
}

TEST_F(Misuse, Weights) {
  expect_refused("NaN class weight", [&] { model.fit(x, y, {.verbose = 0, .class_weight = {{0, kNan}}}); });
  expect_refused("infinite class weight", [&] {
    model.fit(x, y, {.verbose = 0, .class_weight = {{0, HUGE_VAL}}});
  });
  expect_refused("both", [&] {
    model.fit(x, y, {.verbose = 0, .class_weight = {{0, 1.0}}, .sample_weight = {numbers({16})}});
  });
  expect_refused("too few", [&] { model.fit(x, y, {.verbose = 0, .sample_weight = {numbers({15})}}); });
  expect_refused("too many", [&] {
    model.fit(x, y, {.verbose = 0, .sample_weight = {numbers({16}), numbers({16})}});
  });
  expect_refused("loss_weights", [&] { model.compile({.loss = "mse", .loss_weights = {1.0, 2.0}}); });
  expect_refused("NaN loss weight", [&] { model.compile({.loss = "mse", .loss_weights = {kNan}}); });
}

TEST_F(Misuse, NoData) {
  const Tensor none_x = Tensor::zeros(DType::f32, {0, 4}), none_y = Tensor::zeros(DType::f32, {0, 2});
  expect_refused("fit", [&] { model.fit(none_x, none_y, {.verbose = 0}); });
  expect_refused("evaluate", [&] { model.evaluate(none_x, none_y); });
  expect_refused("predict", [&] { model.predict(none_x); });
  expect_refused("a generator that ends at once", [&] {
    model.fit(Dataset::generator([](int64_t) { return [](Record&) { return false; }; },
                                 {{{DType::f32, {4}}}, {{DType::f32, {2}}}}),
              {.verbose = 0});
  });
}

// Each hook in turn throws something that is none of ours: it comes out as it is, and the next fit() runs.
TEST_F(Misuse, CallbacksThatThrow) {
  struct Odd {};
  const auto thrown = [] { throw Odd(); };
  const auto with = [&](auto set) {
    LambdaCallbackOptions o;
    set(o);
    return std::vector<CallbackPtr>{LambdaCallback(o)};
  };
  const FitArgs base{.batch_size = 8, .epochs = 2, .verbose = 0, .validation_split = 0.5, .memory = "100MiB"};
  using Options = LambdaCallbackOptions;
  const std::vector<std::function<void(Options&)>> hooks = {
      [&](Options& o) { o.on_train_begin = thrown; },
      [&](Options& o) { o.on_train_end = [&](const Logs&) { thrown(); }; },
      [&](Options& o) { o.on_epoch_begin = [&](int64_t) { thrown(); }; },
      [&](Options& o) { o.on_epoch_end = [&](int64_t, Logs&) { thrown(); }; },
      [&](Options& o) { o.on_train_batch_begin = [&](int64_t) { thrown(); }; },
      [&](Options& o) { o.on_train_batch_end = [&](int64_t, const Logs&) { thrown(); }; },
      [&](Options& o) { o.on_test_begin = thrown; },
      [&](Options& o) { o.on_test_end = [&](const Logs&) { thrown(); }; },
      [&](Options& o) { o.on_test_batch_begin = [&](int64_t) { thrown(); }; },
      [&](Options& o) { o.on_test_batch_end = [&](int64_t, const Logs&) { thrown(); }; },
  };
  for (size_t i = 0; i < hooks.size(); ++i) {
    FitArgs args = base;
    args.callbacks = with(hooks[i]);
    EXPECT_THROW(model.fit(x, y, args), Odd) << i;
    expect_trains("hook " + std::to_string(i));
  }
  const std::vector<std::function<void(Options&)>> passes = {
      [&](Options& o) { o.on_predict_begin = thrown; },
      [&](Options& o) { o.on_predict_end = thrown; },
      [&](Options& o) { o.on_predict_batch_begin = [&](int64_t) { thrown(); }; },
      [&](Options& o) { o.on_predict_batch_end = [&](int64_t, const std::vector<Tensor>&) { thrown(); }; },
  };
  for (const auto& hook : passes) {
    EXPECT_THROW(model.predict(x, {.callbacks = with(hook)}), Odd);
    EXPECT_EQ(model.predict(x).dim(0), 16);
  }
  EXPECT_EQ(memory_use().limit, std::numeric_limits<int64_t>::max());
}

TEST_F(Misuse, GeneratorsThatThrowOrChangeTheirMind) {
  const auto data = [&](std::function<void(Record&, int)> change, int64_t ahead) {
    return Dataset::generator(
               [change](int64_t) {
                 return [change, n = 0](Record& r) mutable {
                   r.x = {Tensor::zeros(DType::f32, {4})};
                   r.y = {Tensor::zeros(DType::f32, {2})};
                   change(r, n);
                   return ++n <= 24;
                 };
               },
               {{{DType::f32, {4}}}, {{DType::f32, {2}}}})
        .batch(4)
        .prefetch(ahead);
  };
  struct Odd {};
  for (const int64_t ahead : {0, 2}) {
    EXPECT_THROW(model.fit(data(
                               [](Record&, int n) {
                                 if (n == 9) throw Odd();
                               },
                               ahead),
                           {.verbose = 0}),
                 Odd);
    expect_trains("odd generator");
    EXPECT_THROW(model.fit(data(
                               [](Record&, int n) {
                                 if (n == 9) throw std::runtime_error("mine");
                               },
                               ahead),
                           {.verbose = 0}),
                 std::runtime_error);
    const auto refused = [&](std::function<void(Record&, int)> change) {
      EXPECT_THROW(model.fit(data(std::move(change), ahead), {.verbose = 0}), Error);
      expect_trains("generator");
    };
    refused([](Record& r, int n) {
      if (n == 9) r.x = {Tensor::zeros(DType::f32, {5})};
    });
    refused([](Record& r, int n) {
      if (n == 9) r.x = {Tensor::zeros(DType::f64, {4})};
    });
    refused([](Record& r, int n) {
      if (n == 9) r.x = {};
    });
    refused([](Record& r, int n) {
      if (n == 9) r.x = {Tensor()};
    });
    refused([](Record& r, int n) {
      if (n == 9) r.y.push_back(r.y[0]);
    });
  }
}

TEST_F(Misuse, GeneratorsThatReplaceTheModel) {
  const Dataset data = Dataset::generator(
                           [&](int64_t) {
                             return [&, n = 0](Record& r) mutable {
                               r.x = {Tensor::zeros(DType::f32, {4})};
                               r.y = {Tensor::zeros(DType::f32, {2})};
                               if (n == 9) model = Sequential();
                               return ++n <= 24;
                             };
                           },
                           {{{DType::f32, {4}}}, {{DType::f32, {2}}}})
                           .batch(4);
  const auto again = [&] {
    model = Sequential({Input({4}), Dense(2)});
    model.compile({.loss = "mse"});
  };
  EXPECT_EQ(model.fit(data, {.epochs = 2, .verbose = 0})["loss"].size(), 2u);
  again();
  EXPECT_EQ(model.evaluate(data).size(), 1u);
  again();
  EXPECT_EQ(model.predict(data).at(0).dim(0), 24);
}

TEST_F(Misuse, OneOptimizerForTwoModels) {
  const auto trained = [&](const Optimizer& first, const Optimizer& second) {
    std::vector<Tensor> all;
    std::vector<Sequential> models;
    for (const Optimizer& o : {first, second}) {
      set_random_seed(4);
      models.push_back(Sequential({Input({4}), Dense(2)}));
      models.back().compile({.optimizer = o, .loss = "mse"});
    }
    for (int i = 0; i < 3; ++i) {
      for (Sequential& m : models) m.fit(x, y, {.verbose = 0, .shuffle = false});
    }
    for (const Sequential& m : models) {
      for (const Tensor& w : m.get_weights()) all.push_back(w);
    }
    return all;
  };
  const Optimizer shared = Adam(0.05);
  const std::vector<Tensor> got = trained(shared, shared), want = trained(Adam(0.05), Adam(0.05));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(testing::bit_difference(got[i], want[i]), "");
}

TEST_F(Misuse, CallbacksThatTurnOnTheirModel) {
  const auto at_batch = [&](std::function<void()> act) {
    return FitArgs{.batch_size = 4,
                   .epochs = 2,
                   .verbose = 0,
                   .callbacks = {LambdaCallback({.on_train_batch_end =
                                                     [act](int64_t batch, const Logs&) {
                                                       if (batch == 1) act();
                                                     }})},
                   .validation_split = 0.25};
  };
  EXPECT_THROW(model.fit(x, y, at_batch([&] { model.fit(x, y, {.verbose = 0}); })), Error);
  expect_trains("fit in fit");
  model.fit(x, y, at_batch([&] { model.compile({.optimizer = SGD(0.01), .loss = "mae"}); }));
  expect_trains("compile in fit");
  model.fit(x, y, at_batch([&] { model.evaluate(x, y); }));
  model.fit(x, y, at_batch([&] { model.predict(x); }));
  model.fit(x, y, at_batch([&] { model.train_on_batch({x}, {y}); }));
  model.fit(x, y, at_batch([&] { model.set_threads(1); }));
  model.fit(x, y, at_batch([&] { model.set_weights(model.get_weights()); }));
  model.fit(x, y, at_batch([&] { model.save(::testing::TempDir() + "in_fit.keras"); }));
  model.fit(x, y, at_batch([&] { model.load_weights(::testing::TempDir() + "in_fit.keras"); }));
  model.fit(x, y, at_batch([&] { model.get_layer(model.layers().back()->name()); }));
  const Model copy = model;
  model.fit(x, y, at_batch([&] { model = Sequential(); }));
  EXPECT_EQ(copy.get_weights().size(), 4u);
}

TEST_F(Misuse, LinesThatMakeNoSense) {
  for (const char* line :
       {"abc", "0", "-5", "10 parsecs", "200%", "nan", "1e400GiB", "99999999999999999999"}) {
    expect_refused(line, [&] { model.fit(x, y, {.verbose = 0, .memory = line}); });
  }
  expect_refused(
      "1", [&] { model.fit(x, y, {.verbose = 0, .memory = "1"}); }, ErrorKind::out_of_memory);
}

TEST_F(Misuse, LabelsAndIndicesOutOfRange) {
  Sequential labels({Input({4}), Dense(3, {.activation = "softmax"})});
  labels.compile({.loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  Tensor wild = Tensor::zeros(DType::i32, {16});
  wild.data<int32_t>()[3] = 1 << 30;
  wild.data<int32_t>()[5] = -7;
  EXPECT_THROW(labels.fit(x, wild, {.verbose = 0}), Error);
  labels.fit(x, Tensor::zeros(DType::i32, {16}), {.verbose = 0});
  Tensor index = Tensor::zeros(DType::i32, {2, 2});
  index.data<int32_t>()[1] = 1 << 30;
  index.data<int32_t>()[2] = std::numeric_limits<int32_t>::min();
  Sequential words({Input({2}, {.dtype = DType::i32}), Embedding(5, 3)});
  EXPECT_THROW(words.predict(index), Error);
  // What is computed is not looked at before the step; there nothing may be read or written outside.
  const Symbol tokens = Input({2}, {.dtype = DType::i32});
  Model computed({tokens}, {Embedding(5, 3)(tokens + tokens)});
  index.data<int32_t>()[1] = 1 << 29;
  EXPECT_EQ(computed.predict(index).shape(), (Shape{2, 2, 3}));
}

TEST_F(Misuse, NothingToTrainOrToMinimize) {
  Sequential frozen({Input({4}), Dense(2)});
  frozen.network()->set_trainable(false);
  frozen.compile({.loss = "mse"});
  frozen.fit(x, y, {.verbose = 0});
  Sequential bare({Input({4}), Activation("relu")});
  bare.compile({.loss = "mse"});
  bare.fit(x, x, {.verbose = 0});
  Sequential aimless({Input({4}), Dense(2)});
  aimless.compile({});
  EXPECT_THROW(aimless.fit(x, y, {.verbose = 0}), Error);
}

TEST_F(Misuse, FilesAndPatternsOfCallbacks) {
  const auto with = [&](const CallbackPtr& c) { model.fit(x, y, {.verbose = 0, .callbacks = {c}}); };
  const auto fails = [&](const char* what, const std::function<void()>& call) {
    EXPECT_THROW(call(), Error) << what;
    expect_trains(what);
  };
  fails("checkpoint folder", [&] { with(ModelCheckpoint("/proc/none/of/this.keras")); });
  fails("checkpoint name", [&] { with(ModelCheckpoint("/tmp/{nothing}.keras")); });
  fails("checkpoint suffix", [&] { ModelCheckpoint("/tmp/model.pt"); });
  fails("backup folder", [&] { with(BackupAndRestore("/proc/none/of/this")); });
  fails("csv file", [&] { with(CSVLogger("/proc/none/of/this.csv")); });
  fails("regular expression", [&] {
    auto adam = AdamW(0.01);
    adam->exclude_from_weight_decay = {"("};
    Sequential m({Input({4}), Dense(2)});
    m.compile({.optimizer = adam, .loss = "mse"});
    m.fit(x, y, {.verbose = 0});
  });
  fails("the mode of a monitor", [&] { EarlyStopping({.mode = "sideways"}); });
  with(EarlyStopping({.monitor = "no such log"}));
}

TEST_F(Misuse, NamesThatAreNotThere) {
  const auto says = [](const std::function<void()>& call, const std::string& text) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown, expected: " << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  };
  Sequential m({Input({4}), Dense(2, {.name = "hidden"}), Dense(2, {.name = "result"})});
  says([&] { m.get_layer("hiden"); }, "there are: hidden, ");
  says([&] { Optimizer("adm"); }, "there are: adam, ");
  says([&] { Loss("mze"); }, "there are: mae, mse");
  says([&] { Metric("acuracy"); }, "there are: accuracy, ");
  says([&] { Initializer("he_norml"); }, "there are: he_normal, ");
  says([&] { Dense(2, {.activation = "rellu"})(Input({4})); }, "there are: relu, ");
  const History h = model.fit(x, y, {.verbose = 0});
  says([&] { h["los"]; }, "there are: loss, mae");
  says([&] { get_log(model.evaluate(x, y), "ma"); }, "there are: mae, loss");
  says(
      [&] {
        model.compile({.loss = PerOutput<Loss>(std::map<std::string, Loss>{{"dens", "mse"}})});
      },
      "there are: dense");
}

// The counts go through the account; the thresholds themselves take nothing.
TEST_F(Misuse, MoreThresholdsThanMemory) {
  for (const Metric& metric : {AUC({.num_thresholds = int64_t{1} << 52}),
                               PrecisionAtRecall(0.5, {.num_thresholds = int64_t{1} << 52})}) {
    Sequential m({Input({4}), Dense(1, {.activation = "sigmoid"})});
    m.compile({.loss = "mse", .metrics = {metric}});
    expect_refused(
        metric->name,
        [&] {
          m.evaluate(x, numbers({x.shape()[0], 1}));
        },
        ErrorKind::out_of_memory);
  }
}

}  // namespace
}  // namespace plimsoll
