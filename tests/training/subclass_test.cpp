// Models that are classes derived from Model, with their own call().
#include <gtest/gtest.h>

#include <filesystem>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll {
namespace {

using testing::bit_difference;

struct Net : Model {
  Layer hidden =
      Dense(8, {.activation = "relu", .kernel_initializer = GlorotUniform({.seed = 1}), .name = "hidden"});
  Layer out = Dense(1, {.kernel_initializer = GlorotUniform({.seed = 2}), .name = "out"});
  int calls = 0;
  Symbol call(const Symbol& x) override {
    ++calls;
    return out(hidden(x)) + x[{Slice{}, Slice{0, 1}}];
  }
};

// The same by hand.
Model functional() {
  Net parts;
  const Symbol x = Input({3});
  return Model(x, parts.out(parts.hidden(x)) + x[{Slice{}, Slice{0, 1}}]);
}

const Tensor kX = testing::fill(DType::f32, {40, 3}, -1, 1, 1);
const Tensor kY = sum(kX, {1}, true);
const FitArgs kQuiet{.batch_size = 8, .epochs = 3, .verbose = 0, .seed = 1};

TEST(Subclass, TrainsAsTheFunctionalModelDoes) {
  Net net;
  Model other = functional();
  net.compile({.optimizer = "sgd", .loss = "mse"});
  other.compile({.optimizer = "sgd", .loss = "mse"});
  const History h = net.fit(kX, kY, kQuiet);
  EXPECT_EQ(h["loss"], other.fit(kX, kY, kQuiet)["loss"]);
  EXPECT_LT(h["loss"].back(), h["loss"].front());
  EXPECT_EQ(bit_difference(net.predict(kX), other.predict(kX)), "");
  EXPECT_EQ(net.evaluate(kX, kY)["loss"], other.evaluate(kX, kY)["loss"]);
  EXPECT_EQ(net.calls, 1);
  EXPECT_EQ(net.count_params(), 3 * 8 + 8 + 8 + 1);
}

TEST(Subclass, SavesItsWeightsAndAModelThatNeedsNoClass) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "plimsoll_subclass";
  std::filesystem::create_directories(folder);
  Net net;
  const Tensor wanted = net(kX);
  net.save(folder / "net.keras");
  net.save_weights(folder / "net.weights.h5");
  EXPECT_EQ(bit_difference(load_model(folder / "net.keras")(kX), wanted), "");
  Net other;
  other.hidden = Dense(8, {.activation = "relu"});
  other.out = Dense(1);
  other.build({-1, 3});
  EXPECT_NE(bit_difference(other(kX), wanted), "");
  other.load_weights(folder / "net.weights.h5");
  EXPECT_EQ(bit_difference(other(kX), wanted), "");
  std::filesystem::remove_all(folder);
}

struct TwoWays : Model {
  Layer shared = Dense(4, {.kernel_initializer = "ones"});
  std::vector<Symbol> call_many(const std::vector<Symbol>& xs) override {
    return {shared(xs[0]) + shared(xs[1]), shared(xs[0]) / 2.0};
  }
};

TEST(Subclass, TakesSeveralInputsAndStandsInOtherModels) {
  TwoWays both;
  const std::vector<Tensor> ys = both.predict({kX, kX});
  EXPECT_EQ(testing::difference(ys[0], ys[1] * 4.0, 1e-6), "");
  Net one;
  EXPECT_EQ(bit_difference(one.predict({kX})[0], one.predict(kX)),
            "");  // a list of one output, not its first row
  Net inner;
  const Symbol x = Input({3});
  Model outer(x, inner(x) * 2.0);
  EXPECT_EQ(testing::difference(outer(kX), inner(kX) * 2.0, 1e-6), "");
}

TEST(Subclass, CanBeMovedBeforeItIsTrained) {
  const auto make = [] {
    Net net;
    net.compile({.optimizer = "sgd", .loss = "mse"});
    return net;
  };
  Net net = make();
  Net moved = std::move(net);
  EXPECT_LT(moved.fit(kX, kY, kQuiet)["loss"].back(), 10);
}

TEST(Subclass, SaysWhatIsMissing) {
  struct Empty : Model {};
  Empty empty;
  EXPECT_THROW(empty.summary(), Error);
  EXPECT_THROW(empty.predict(kX), Error);
  Model none;
  EXPECT_THROW(none.compile({}), Error);
  EXPECT_THROW(none.fit(kX, kY), Error);
}

}  // namespace
}  // namespace plimsoll
