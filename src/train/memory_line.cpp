#include "train/memory_line.h"

#include <algorithm>

#include "memory/account.h"
#include "memory/arena.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

int64_t bytes_of(const std::vector<VariablePtr>& variables) {
  int64_t sum = 0;
  for (const VariablePtr& v : variables) sum += byte_size(v->value.dtype(), v->value.shape());
  return sum;
}

struct Needed {
  MemoryForecast step;
  int64_t bytes;  // what the account would show at most: what is held now, and what is to come
};

MemoryForecast as_forecast(const Trainer& trainer, const StepForecast& f, int64_t data) {
  return {.weights = bytes_of(trainer.network()->all_variables()),
          .state = f.state,
          .arena = f.program.arena,
          .constants = f.program.constants,
          .data = data,
          .layers = f.program.layers};
}

// Steps over batches of `batch` records, and over the smaller last one.
Needed needed(const Trainer& trainer, const Dataset& data, int64_t batch) {
  const BatchTypes types = BatchTypes::of(data.types(), batch);
  const StepForecast f = trainer.forecast(StepKind::train, types);
  Needed n{as_forecast(trainer, f, types.charge() * data.batches_held()), 0};
  if (const int64_t rest = data.records().value_or(0) % batch; rest > 0)
    n.step.constants +=
        trainer.forecast(StepKind::train, BatchTypes::of(data.types(), rest)).program.constants;
  const int64_t arena = trainer.arena().bytes();
  n.bytes = account::used() - arena + std::max(n.step.arena, arena) + f.state_to_come + n.step.constants +
            n.step.data;
  return n;
}

// The largest batch below `batch` that stays under the limit, 0 if none: what a step needs grows with the
// batch.
int64_t largest_batch(const Trainer& trainer, const Dataset& data, int64_t batch, int64_t limit) {
  int64_t fits = 0, too_large = batch;
  while (too_large - fits > 1) {
    const int64_t middle = fits + (too_large - fits) / 2;
    (needed(trainer, data, middle).bytes <= limit ? fits : too_large) = middle;
  }
  return fits;
}

std::string heaviest(const MemoryForecast& f) {
  constexpr size_t kShown = 3;
  std::string list;
  for (size_t i = 0; i < std::min(kShown, f.layers.size()); ++i) {
    const auto& [layer, bytes] = f.layers[i];
    list += concat(list.empty() ? "" : ", ", layer.empty() ? "(no layer)" : layer, " ", memory_text(bytes));
  }
  return list;
}

}  // namespace

MemoryForecast forecast_step(const Trainer& trainer, const BatchTypes& types, int64_t batches_held) {
  return as_forecast(trainer, trainer.forecast(StepKind::train, types), types.charge() * batches_held);
}

MemoryLine::MemoryLine(const std::string& memory)
    : before_(account::limit()), limit_(memory.empty() ? before_ : parse_memory(memory)) {}
MemoryLine::~MemoryLine() { account::set_limit(before_); }

void MemoryLine::check(const Trainer& trainer, const Dataset& data) {
  if (limit_ == account::kNoLimit) return;
  const int64_t batch_size =
      std::min(data.batch_size(), std::max<int64_t>(data.records().value_or(data.batch_size()), 1));
  const auto [f, bytes] = needed(trainer, data, batch_size);
  if (bytes <= limit_) return account::set_limit(limit_);
  const int64_t fits = largest_batch(trainer, data, batch_size, limit_);
  const int64_t held = bytes - f.total();
  fail(ErrorKind::out_of_memory, "fit", "a batch of ", batch_size, " needs ", memory_text(bytes),
       ", allowed are ", memory_text(limit_), " (weights ", memory_text(f.weights),
       ", optimizer and metrics ", memory_text(f.state), ", the step ", memory_text(f.arena), ", batches ",
       memory_text(f.data), held > 0 ? concat(", held already ", memory_text(held)) : std::string(), "); ",
       fits > 0 ? concat("the largest batch that fits is ", fits) : std::string("no batch fits"),
       "; heaviest layers: ", heaviest(f));
}

}  // namespace plimsoll
