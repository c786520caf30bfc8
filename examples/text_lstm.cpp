// An LSTM on text, letter by letter: does a string of brackets close all it opens?
#include <cstdio>
#include <random>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

using namespace plimsoll;

namespace {

constexpr int64_t kLength = 16;
enum Letter : int32_t { kPad, kOpen, kClose };

struct Texts {
  Tensor x, y;
};

Texts brackets(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Texts t{Tensor::zeros(DType::i32, {count, kLength}), Tensor::empty(DType::f32, {count, 1})};
  for (int64_t i = 0; i < count; ++i) {
    int32_t* text = t.x.data<int32_t>() + i * kLength;
    const int64_t length = 4 + static_cast<int64_t>(random() % (kLength - 3));
    int depth = 0;
    for (int64_t k = 0; k < length; ++k) {
      const bool open = depth == 0 || (depth < length - k && random() % 2 == 0);
      text[k] = open ? kOpen : kClose;
      depth += open ? 1 : -1;
    }
    if (i % 2 == 0 && depth == 0) text[length - 1] = kOpen;  // spoilt
    int sum = 0;
    for (int64_t k = 0; k < length; ++k) sum += text[k] == kOpen ? 1 : -1;
    t.y.data<float>()[i] = sum == 0 ? 1.0f : 0.0f;
  }
  return t;
}

double run() {
  set_random_seed(2);
  const Texts train = brackets(4000, 1), test = brackets(1000, 2);
  Sequential model({Input({kLength}, {.dtype = DType::i32}), Embedding(3, 8, {.mask_zero = true}), LSTM(24),
                    Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = Adam(0.01), .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  model.fit(train.x, train.y, {.batch_size = 64, .epochs = 6, .verbose = 2});
  return get_log(model.evaluate(test.x, test.y), "accuracy");
}

}  // namespace

int main() {
  try {
    const double accuracy = run();
    std::printf("accuracy on new texts: %.3f\n", accuracy);
    return accuracy > 0.9 ? 0 : 1;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
