// The memory line of one fit(): planned before the first batch, held while it runs.
#pragma once

#include <string>

#include "plimsoll/model.h"
#include "train/trainer.h"

namespace plimsoll {

MemoryForecast forecast_step(const Trainer& trainer, const BatchTypes& types, int64_t batches_held);

// Draws the line given as `memory` (empty: leaves the process's) and puts the one before back when it ends.
class MemoryLine {
 public:
  explicit MemoryLine(const std::string& memory);
  ~MemoryLine();
  MemoryLine(const MemoryLine&) = delete;
  MemoryLine& operator=(const MemoryLine&) = delete;

  // Throws Error{out_of_memory} with the numbers if training on this data would cross the line.
  // Makes the line effective.
  void check(const Trainer& trainer, const Dataset& data);

 private:
  int64_t before_, limit_;
};

}  // namespace plimsoll
