// The memory line of one fit(): planned before the first batch, held while it runs.
#pragma once

#include <string>

#include "plimsoll/model.h"
#include "train/trainer.h"

namespace plimsoll {

// How many batches are held at once: by the reader, by the step, and ahead.
inline constexpr int64_t kBatchesInFlight = 3;

MemoryForecast forecast_step(Trainer& trainer, const BatchTypes& types);

// Draws the line given as `memory` (empty: leaves the process's) and puts the one before back when it ends.
class MemoryLine {
 public:
  explicit MemoryLine(const std::string& memory);
  ~MemoryLine();
  MemoryLine(const MemoryLine&) = delete;
  MemoryLine& operator=(const MemoryLine&) = delete;

  // Throws Error{out_of_memory} with the numbers if training on such batches would cross the line; the
  // trainer is then as it was. Makes the line effective.
  void check(Trainer& trainer, const RecordTypes& record, int64_t batch_size);

 private:
  int64_t before_, limit_;
};

}  // namespace plimsoll
