// A training step planned under a line: what it holds, whether it fits, and if not, what would.
#pragma once

#include <functional>

#include "train/trainer.h"

namespace plimsoll {

// Bytes a step needs beside its arena.
using Beside = std::function<int64_t(const StepForecast&)>;

struct StepPlan {
  StepForecast step;
  bool fits = true;
  int64_t beside = 0;
  int64_t arena_line = 0;  // what the arena may have
  int64_t need = 0;        // arena and the rest, without a line
  int64_t bytes() const { return step.program.arena + beside; }
};

// Steps of this kind with no more than `room` bytes for the arena and what is beside it. Where they cannot
// fit, the plan with the smallest arena.
StepPlan plan_step(const Trainer& trainer, StepKind kind, const BatchTypes& types, int64_t room,
                   const Beside& beside);

// The largest batch below `batch` for which `fits` holds, 0 if none: what a step needs grows with the batch.
int64_t largest_batch(int64_t batch, const std::function<bool(int64_t)>& fits);

// What a fit() of this model alone holds with such batches, under a line (kNoLimit: none).
MemoryForecast forecast_step(const Trainer& trainer, const std::function<BatchTypes(int64_t)>& types,
                             int64_t batch, int64_t batches_held, int64_t line);

}  // namespace plimsoll
