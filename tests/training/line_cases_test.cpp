// Generated cases of (model, batch, line): each trains with never a byte over the line, or raises before the
// first batch, changes nothing, and names a line that does.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "memory/budget.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

class Generated {
 public:
  explicit Generated(uint32_t seed) : random_(seed) {
    set_random_seed(seed);
    const bool image = below(2) == 0;
    sample_ = image ? Shape{8, 8, 1 + below(3)} : Shape{4 + below(60)};
    Sequential m({Input(Ints(sample_.begin(), sample_.end()))});
    for (int64_t i = 2 + below(5); i > 0; --i) image ? add_image_layer(m) : add_dense_layer(m);
    if (image) m.add(Flatten());
    m.add(Dense(3));
    const char* const optimizers[] = {"sgd", "adam", "rmsprop"};
    m.compile({.optimizer = optimizers[below(3)], .loss = "mse", .threads = static_cast<int>(1 + below(2))});
    model = m;
    batch = 8 + below(120);
    rows = batch * (1 + below(2)) + below(batch);
    const MemoryForecast f = forecast(model, batch);
    const int64_t data = 4 * rows * (sample_.elements() + 3);
    line = f.total() - f.arena + data + f.arena * (20 + below(90)) / 100 + below(2) * 2 * f.programs;
  }

  // The most that was held; counts batches in `batches`.
  int64_t fit(int64_t under) {
    int64_t peak = 0;
    const auto count = [&](int64_t) { ++batches; };
    const auto read = [&](const Logs&) { peak = Budget::current()->peak(); };
    const CallbackPtr look = LambdaCallback({.on_train_end = read, .on_train_batch_begin = count});
    model.fit(Tensor::full(DType::f32, sample_.inserted(0, rows), 0.5), Tensor::zeros(DType::f32, {rows, 3}),
              {.batch_size = batch, .verbose = 0, .callbacks = {look}, .memory = std::to_string(under)});
    return peak;
  }

  Model model;
  int64_t batch = 0, rows = 0, line = 0, batches = 0;

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
  void add_dense_layer(Sequential& m) {
    const char* const activations[] = {"relu", "tanh", "gelu", "linear"};
    m.add(Dense(8 + below(120), {.activation = activations[below(4)]}));
    if (below(4) == 0) m.add(Dropout(0.3));
    if (below(4) == 0) m.add(LayerNormalization());
  }
  void add_image_layer(Sequential& m) {
    m.add(Conv2D(4 + below(12), 3, {.padding = "same", .activation = below(2) == 0 ? "relu" : "tanh"}));
    if (below(2) == 0) m.add(BatchNormalization());
    if (below(4) == 0) m.add(Dropout(0.2));
  }

  std::mt19937 random_;
  Shape sample_;
};

std::vector<char> bytes_of(const Model& model) {
  std::vector<char> all;
  for (const Tensor& t : model.get_weights()) {
    const char* const bytes = static_cast<const char*>(read_bytes(t));
    all.insert(all.end(), bytes, bytes + byte_size(t.dtype(), t.shape()));
  }
  return all;
}

void run_case(uint32_t seed, int* refused) {
  Generated g(seed);
  const std::vector<char> before = bytes_of(g.model);
  int64_t least = 0;
  try {
    EXPECT_LE(g.fit(g.line), g.line);
    return;
  } catch (const MemoryLineError& e) {
    ++*refused;
    EXPECT_EQ(g.batches, 0);
    EXPECT_EQ(bytes_of(g.model), before);
    EXPECT_EQ(e.numbers().line, g.line);
    EXPECT_LT(e.numbers().largest_batch, g.batch);
    least = e.numbers().least;
  }
  EXPECT_GT(least, g.line);
  // The same model trains on with the line it was told.
  EXPECT_LE(g.fit(least), least);
  EXPECT_GT(g.batches, 0);
}

TEST(LineCases, EachTrainsOrRaisesBeforeTheFirstBatch) {
  int refused = 0;
  constexpr uint32_t kCases = 120;
  for (uint32_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(seed);
    try {
      run_case(seed, &refused);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 10);
  EXPECT_LT(refused, 110);
}

}  // namespace
}  // namespace plimsoll
