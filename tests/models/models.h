// The models that benchmarks and tests train: those of the bench table, four small ones for parity with
// PyTorch, and further ones to run under a memory line (bench/line_steps.cpp). Each is a function from inputs to logits; the loss is binary or sparse categorical
// cross-entropy.
#pragma once

#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "models/net.h"

namespace plimsoll::models {

struct Model {
  std::string_view name;
  Shape sample;  // of one example
  int64_t batch;
  int64_t classes;     // 1: binary
  int64_t vocabulary;  // 0: the inputs are floats in [0, 1)
  Tensor (*logits)(Net& net, const Tensor& x);
};

// How GoogleTest shows a model.
inline void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

std::span<const Model> bench_models();
std::span<const Model> parity_models();
std::span<const Model>
device_models();  // further ones of the bench table, too large or too small for a CPU's
const Model& get_model(std::string_view name);  // throws Error{not_found}

// Inputs "x", "y"; output "loss"; updates every weight with Adam.
Graph train_graph(const Model& model, Weights& weights, int64_t batch, Precision precision = {});
// Input "x"; output "p": probabilities.
Graph predict_graph(const Model& model, Weights& weights, int64_t batch, Precision precision = {});
// {x, y}, drawn from a hash of the seed.
std::vector<Tensor> sample_batch(const Model& model, int64_t batch, uint64_t seed = 7);

}  // namespace plimsoll::models
