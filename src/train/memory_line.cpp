#include "train/memory_line.h"

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

// What the account would show at most: what is held now, with weights and state, and what the plan adds.
int64_t needed(const Trainer& trainer, const MemoryForecast& f) {
  return account::used() - trainer.arena().bytes() + std::max(f.arena, trainer.arena().bytes()) +
         f.constants + f.data;
}

// The largest batch below `batch` that stays under the limit, 0 if none: what a step needs grows with the
// batch.
int64_t largest_batch(Trainer& trainer, const RecordTypes& record, int64_t batch, int64_t limit) {
  int64_t fits = 0, too_large = batch;
  while (too_large - fits > 1) {
    const int64_t middle = fits + (too_large - fits) / 2;
    const bool ok = needed(trainer, forecast_step(trainer, BatchTypes::of(record, middle))) <= limit;
    (ok ? fits : too_large) = middle;
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

MemoryForecast forecast_step(Trainer& trainer, const BatchTypes& types) {
  const MemoryReport report = trainer.forecast(StepKind::train, types);
  std::vector<VariablePtr> state = trainer.optimizer().variables();
  const std::vector<VariablePtr> sums = trainer.metric_states();
  state.insert(state.end(), sums.begin(), sums.end());
  return {.weights = bytes_of(trainer.network()->all_variables()),
          .state = bytes_of(state),
          .arena = report.arena,
          .constants = report.constants,
          .data = types.bytes() * kBatchesInFlight,
          .layers = report.layers};
}

MemoryLine::MemoryLine(const std::string& memory)
    : before_(account::limit()), limit_(memory.empty() ? before_ : parse_memory(memory)) {}
MemoryLine::~MemoryLine() { account::set_limit(before_); }

void MemoryLine::check(Trainer& trainer, const RecordTypes& record, int64_t batch_size) {
  if (limit_ == account::kNoLimit) return;
  const bool was_fresh = trainer.optimizer().variables().size() <= 2;
  const MemoryForecast f = forecast_step(trainer, BatchTypes::of(record, batch_size));
  const int64_t bytes = needed(trainer, f);
  if (bytes <= limit_) return account::set_limit(limit_);
  const int64_t fits = largest_batch(trainer, record, batch_size, limit_);
  if (was_fresh) trainer.forget();
  const int64_t held = bytes - f.total();
  fail(ErrorKind::out_of_memory, "fit", "a batch of ", batch_size, " needs ", memory_text(bytes),
       ", allowed are ", memory_text(limit_), " (weights ", memory_text(f.weights),
       ", optimizer and metrics ", memory_text(f.state), ", the step ", memory_text(f.arena), ", batches ",
       memory_text(f.data), held > 0 ? concat(", held already ", memory_text(held)) : std::string(), "); ",
       fits > 0 ? concat("the largest batch that fits is ", fits) : std::string("no batch fits"),
       "; heaviest layers: ", heaviest(f));
}

}  // namespace plimsoll
