// A training step planned under a line: what it holds, whether it fits, and if not, what would.
#pragma once

#include <algorithm>
#include <functional>

#include "train/trainer.h"

namespace plimsoll {

// Bytes a step needs beside its arena.
using Beside = std::function<int64_t(const StepForecast&)>;

struct StepPlan {
  StepForecast step;
  bool fits = true;
  int64_t beside = 0;
  int64_t arena_line = 0;    // what the arena may have
  int64_t need = 0;          // arena and the rest, without a line
  int64_t others_arena = 0;  // of the steps beside it, if that is larger
  int64_t bytes() const { return std::max(step.program.arena, others_arena) + beside; }
  // Of a plan for no room: values made again need a larger Program, which may take what they save.
  int64_t least() const { return std::min(need, bytes()); }
};

// Steps of this kind with no more than `room` bytes for the arena and what is beside it. Where they cannot
// fit, the plan with the smallest arena. micro_batch: a batch may be cut.
StepPlan plan_step(const Trainer& trainer, StepKind kind, const BatchTypes& types, int64_t room,
                   bool micro_batch, const Beside& beside);

// The largest batch below `batch` for which `fits` holds, 0 if none: what a step needs grows with the batch.
int64_t largest_batch(int64_t batch, const std::function<bool(int64_t)>& fits);

// The least room of which `plan` says that it fits, from one that may be too small on: what is beside the
// arena depends on the plan.
int64_t least_room(StepPlan smallest, const std::function<StepPlan(int64_t room)>& plan);

// Of a batch for the model, targets as its losses want them. Throws Error{invalid_argument} if a size is not
// known.
BatchTypes batch_types(const Model& model, int64_t batch_size);

// What a fit() of this model alone holds with such batches, under a line (kNoLimit: none).
MemoryForecast forecast_step(const Trainer& trainer, const std::function<BatchTypes(int64_t)>& types,
                             int64_t batch, int64_t batches_held, int64_t line, bool micro_batch);

// Lowers the line of a plan that fits to `most`, and looks again where that may be too little: a batch in parts
// has not the same bytes under every line.
void lower_line(StepPlan& p, int64_t most, const Trainer& trainer, StepKind kind, const BatchTypes& types,
                bool micro_batch);

// What FitArgs::micro_batch says. Throws Error{invalid_argument} for anything but "auto" and "never".
bool may_cut_batch(const std::string& micro_batch);

}  // namespace plimsoll
