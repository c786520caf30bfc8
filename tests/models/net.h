// Net: Keras's layers as a few functions over the graph API, for the models that tests, benchmarks and
// examples share. Weights live in a Weights store by name, so that a training and a predicting graph use the
// same bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/graph.h"
#include "plimsoll/ops.h"

namespace plimsoll::models {

struct Weight {
  std::string name;  // "conv2d_1/kernel"
  Tensor storage;
};

// Keeps the order in which weights were first asked for. New ones are drawn from a hash of (seed, name):
// tests in Python make the same ones (tests/golden/inputs.py).
class Weights {
 public:
  explicit Weights(uint64_t seed = 1) : seed_(seed) {}
  const Tensor& uniform(const std::string& name, DType dtype, const Shape& shape, double limit);
  const Tensor& full(const std::string& name, DType dtype, const Shape& shape, double value);
  const std::deque<Weight>& all() const { return all_; }
  const Tensor* find(std::string_view name) const;

 private:
  const Tensor& keep(const std::string& name, Tensor storage);
  uint64_t seed_;
  std::deque<Weight> all_;  // references stay valid
};

struct Trainable {
  std::string name;
  Tensor variable;  // symbolic
};

struct Conv {
  int64_t filters = 1;
  int64_t size = 3;
  int64_t stride = 1;
  int64_t groups = 1;
  bool same = false;  // padding
  bool bias = true;
  std::string_view activation = "linear";
};

// What weights are kept in, and what is computed in: Keras's policies "float32", "mixed_bfloat16",
// "bfloat16".
struct Precision {
  DType weights = DType::f32, compute = DType::f32;
};
inline constexpr Precision kMixedBf16 = {DType::f32, DType::bf16};
inline constexpr Precision kBf16 = {DType::bf16, DType::bf16};

class Net {
 public:
  Net(Graph& graph, Weights& weights, bool training, Precision precision = {})
      : graph_(graph), weights_(weights), training_(training), precision_(precision) {}

  Tensor dense(const Tensor& x, int64_t units, std::string_view activation = "linear");
  Tensor conv2d(const Tensor& x, const Conv& c);
  Tensor max_pool2d(const Tensor& x, int64_t window = 2, int64_t stride = 2, int64_t pad = 0);
  Tensor batch_norm(const Tensor& x, double epsilon = 1e-3);
  Tensor layer_norm(const Tensor& x, double epsilon = 1e-3);
  Tensor flatten(const Tensor& x);
  Tensor dropout(const Tensor& x, double rate);
  Tensor embedding(const Tensor& indices, int64_t vocabulary, int64_t width);
  Tensor lstm(const Tensor& x, int64_t units);  // the last output
  Tensor lstm_sequence(const Tensor& x, int64_t units);
  Tensor self_attention(const Tensor& x, int64_t heads, int64_t width);

  // Adds an Adam update for every weight used so far, from d(loss)/d(weight).
  void adam(const Tensor& loss, double learning_rate = 1e-3);

  Graph& graph() { return graph_; }
  Weights& weights() { return weights_; }
  bool training() const { return training_; }
  const Precision& precision() const { return precision_; }

 private:
  std::vector<Tensor> lstm_outputs(const Tensor& x, int64_t units);
  // "dense" becomes "dense", "dense_1", ... in order of use; nodes made from now on carry that name.
  std::string begin(std::string_view kind);
  Tensor glorot(const std::string& layer, const char* name, const Shape& shape, int64_t fan_in,
                int64_t fan_out);
  Tensor constant_weight(const std::string& layer, const char* name, const Shape& shape, double value);
  // The same in the dtype it is kept in: normalisations want it so.
  Tensor kept_weight(const std::string& layer, const char* name, const Shape& shape, double value);
  Tensor state(const std::string& name, DType dtype, const Shape& shape, double value);
  Tensor project(const std::string& layer, const char* part, const Tensor& x, int64_t units,
                 std::string_view activation);
  Tensor step();

  Graph& graph_;
  Weights& weights_;
  bool training_;
  Precision precision_;
  std::vector<std::pair<std::string, int>> counts_;
  std::vector<Trainable> trainable_;
};

}  // namespace plimsoll::models
