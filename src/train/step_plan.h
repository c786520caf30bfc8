// Steps planned under a line: what they hold, whether they fit, and if not, what would.
#pragma once

#include <functional>
#include <optional>

#include "train/trainer.h"

namespace plimsoll {

// Steps that share one arena: one whose time matters, and others beside it, each with its Choices. Which ways
// there are to run them together does not depend on the room, and the cheapest that fits is taken: so less
// room never means more bytes, more room never a slower step, and the least room that does is known.
class StepPlans {
 public:
  // What counts beside `beside`.
  enum class Where {
    host,            // the arena, Programs and constants
    device,          // the arena and constants
    host_of_device,  // Programs and constants
  };
  // The first step is the one that matters.
  StepPlans(std::vector<StepChoices> steps, int64_t beside, Where where = Where::host);

  struct Picked {
    std::vector<Choice> choices;  // by step
    int64_t arena = 0;            // the largest of theirs
    int64_t bytes = 0;            // all that counts
    int64_t beside = 0;           // of these, all but the arena
    // Whether something does not run as it is.
    bool changed() const;
  };
  // The cheapest of so many bytes in all; nothing: there is none.
  std::optional<Picked> within(int64_t room);
  // The fewest bytes.
  Picked least();
  // The cheapest with such an arena, or else the smallest there is.
  Picked with_arena(int64_t line);
  Picked as_they_are();

  // From now on batches may be cut.
  void consent_to_parts();
  const StepChoices& step(size_t i) const { return steps_[i]; }
  MemoryReport report(size_t step, const Picked& picked, int64_t arena_line);
  TrainerPlan plan(const Picked& picked, int64_t arena_line) const;

 private:
  int64_t arena_charge(int64_t bytes) const;
  int64_t beside(size_t step, int64_t held) const;
  Picked pick(std::vector<Choice> choices) const;
  Choices::Fits with_line(size_t step, int64_t line) const;
  Picked others_at_best() const;
  template <class Visit>
  void each_way_of_others(Visit visit);
  std::optional<Picked> main_within(int64_t room, const Picked& others);

  std::vector<StepChoices> steps_;
  int64_t beside_;
  Where where_;
};

// The largest batch below `batch` for which `fits` holds, 0 if none: what a step needs grows with the batch.
int64_t largest_batch(int64_t batch, const std::function<bool(int64_t)>& fits);

// Of a batch for the model, targets as its losses want them. Throws Error{invalid_argument} if a size is not
// known.
BatchTypes batch_types(const Model& model, int64_t batch_size);

// What a fit() holds whose training step is `main`: with the optimizer's and metrics' state, and batches of
// so many bytes.
MemoryForecast forecast_of_report(const Trainer& trainer, const MemoryReport& main, int64_t state,
                                  int64_t batch, int64_t batches_held);

// What a fit() of this model alone holds with such batches, under a line (kNoLimit: none): the host's, or
// that of the device the model runs on.
MemoryForecast forecast_step(const Trainer& trainer, const std::function<BatchTypes(int64_t)>& types,
                             int64_t batch, int64_t batches_held, int64_t line, bool micro_batch);

// What FitArgs::micro_batch says. Throws Error{invalid_argument} for anything but "auto" and "never".
bool may_cut_batch(const std::string& micro_batch);

}  // namespace plimsoll
