// A small transformer by the functional API: learns to turn a sequence round.
#include <cstdio>
#include <random>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

using namespace plimsoll;

namespace {

constexpr int64_t kLength = 8, kWords = 12, kWidth = 32;

Symbol block(const Symbol& x) {
  const Symbol attended = MultiHeadAttention(4, kWidth / 4)({x, x});
  const Symbol h = LayerNormalization()(Add()({x, attended}));
  const Symbol inner = Dense(kWidth)(Dense(2 * kWidth, {.activation = "gelu"})(h));
  return LayerNormalization()(Add()({h, inner}));
}

Model make_model() {
  const Symbol words = Input({kLength}, {.name = "words", .dtype = DType::i32});
  const Symbol places = Input({kLength}, {.name = "places", .dtype = DType::i32});
  Symbol x = Add()({Embedding(kWords, kWidth)(words), Embedding(kLength, kWidth)(places)});
  for (int i = 0; i < 2; ++i) x = block(x);
  return Model({words, places}, {Dense(kWords, {.activation = "softmax"})(x)}, "reverser");
}

double run() {
  set_random_seed(5);
  constexpr int64_t kCount = 2048;
  std::mt19937 random(1);
  const Tensor words = Tensor::empty(DType::i32, {kCount, kLength}),
               places = Tensor::empty(DType::i32, {kCount, kLength}),
               reversed = Tensor::empty(DType::i32, {kCount, kLength});
  for (int64_t i = 0; i < kCount * kLength; ++i) {
    const int64_t k = i % kLength;
    words.data<int32_t>()[i] = static_cast<int32_t>(random() % kWords);
    places.data<int32_t>()[i] = static_cast<int32_t>(k);
    reversed.data<int32_t>()[i - k + (kLength - 1 - k)] = words.data<int32_t>()[i];
  }
  Model model = make_model();
  model.compile(
      {.optimizer = Adam(3e-3), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  return model.fit({words, places}, {reversed}, {.batch_size = 64, .epochs = 8, .verbose = 2})["accuracy"]
      .back();
}

}  // namespace

int main() {
  try {
    const double accuracy = run();
    std::printf("words put in the right place: %.3f\n", accuracy);
    return accuracy > 0.9 ? 0 : 1;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
