// A model, a batch and a line, made from a seed.
#pragma once

#include <random>

#include "plimsoll/model.h"

namespace plimsoll::testing {

class Generated {
 public:
  // `scale` multiplies batches and widths: 1 for models of some 100 KiB to some MiB.
  explicit Generated(uint32_t seed, int64_t scale = 1);

  // Trains one epoch under the lines there are, and that of the fit if `memory` names one; counts the batches
  // begun.
  void fit(const std::string& memory = "", std::vector<CallbackPtr> callbacks = {});

  Model model;
  std::string micro_batch;  // of the fit: "auto" for odd seeds
  int64_t batch = 0, rows = 0, batches = 0;
  // Of what the step needs beside its arena, with a share of the arena from 20 to 110 percent.
  int64_t line = 0;

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
  Sequential dense_network();
  Sequential image_network();
  Sequential sequence_network();

  std::mt19937 random_;
  int64_t scale_;
  Shape sample_;
  Tensor x_, y_;
};

// Of all weights, to compare.
std::vector<char> bytes_of(const Model& model);

}  // namespace plimsoll::testing
