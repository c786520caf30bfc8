// What a user's model gets from the policy: layers must not turn halves back into float32 on the way.
#include <gtest/gtest.h>

#include "plimsoll/model.h"

namespace plimsoll {
namespace {

class Policy {
 public:
  explicit Policy(std::string name) { set_dtype_policy(std::move(name)); }
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  ~Policy() { set_dtype_policy("float32"); }
};

Model images() {
  Sequential model({Input({48, 48, 3})});
  for (const int64_t filters : {16, 32}) {
    for (const Layer& layer :
         {Conv2D(filters, 3, {.activation = "relu"}), BatchNormalization(), MaxPooling2D(2)}) {
      model.add(layer);
    }
  }
  for (const Layer& layer : {GlobalAveragePooling2D(), Dropout(0.5), Dense(10, {.activation = "softmax"})})
    model.add(layer);
  return model;
}

Model words() {
  const Symbol ids = Input({64}, {.dtype = DType::i32});
  Symbol x = Embedding(20000, 64)(ids);
  x = LayerNormalization()(Add()({x, MultiHeadAttention(4, 16)({x, x})}));
  x = LayerNormalization()(Add()({x, Dense(64)(Dense(256, {.activation = "gelu"})(x))}));
  return Model({ids}, {Dense(10, {.activation = "softmax"})(GlobalAveragePooling1D()(x))});
}

MemoryForecast planned(Model (*make)(), const std::string& policy) {
  const Policy during(policy);
  Model model = make();
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy"});
  return forecast(model, 64);
}

TEST(HalvesOfLayers, AStepUnderAMixedPolicyPlansLittleMoreThanHalf) {
  constexpr int64_t kTable = int64_t{20000} * 64 * sizeof(float);  // of the words
  for (const auto& [make, table] : {std::pair(&images, int64_t{0}), std::pair(&words, kTable)}) {
    const int64_t full = planned(make, "float32").arena;
    EXPECT_LE(planned(make, "mixed_bfloat16").arena, full * 56 / 100);
    // With a scaled loss every gradient is there, in halves, and known to be finite, before the first weight
    // changes: half as many bytes as the weights have, but for a table, whose gradient are the rows looked
    // up.
    const MemoryForecast scaled = planned(make, "mixed_float16");
    EXPECT_LE(scaled.arena, full * 56 / 100 + (scaled.weights - table) / 2);
  }
}

}  // namespace
}  // namespace plimsoll
