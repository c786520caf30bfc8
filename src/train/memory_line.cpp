#include "train/memory_line.h"

#include <algorithm>
#include <set>

#include "memory/arena.h"
#include "memory/buffer.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

int64_t charge_of(const std::vector<VariablePtr>& variables) {
  int64_t sum = 0;
  for (const VariablePtr& v : variables)
    sum += Buffer::charge_for(byte_size(v->value.dtype(), v->value.shape()));
  return sum;
}

struct Needed {
  MemoryForecast step;
  int64_t more;  // bytes at most beside what is held now
};

// What is held, and what may be: by the process, or by one fit().
struct Line {
  int64_t held, limit;
  int64_t left() const { return limit - held; }
};

// The one that leaves less: the process's, or that of the budget, if there is one.
Line nearest(const Budget* budget) {
  const Line line{account::used(), account::limit()};
  if (budget == nullptr) return line;
  const Line own{budget->used(), budget->limit()};
  return own.left() < line.left() ? own : line;
}

// What can be made again; false if there is nothing.
bool give_up_all() {
  bool any = false;
  while (account::reclaim()) any = true;
  return any;
}

MemoryForecast as_forecast(const Trainer& trainer, const StepForecast& f, int64_t data) {
  return {.weights = charge_of(trainer.network()->all_variables()),
          .state = f.state,
          .arena = f.program.arena,
          .constants = f.program.constants,
          .programs = f.program.program,
          .data = data,
          .layers = f.program.layers};
}

// Steps over batches of `batch` records, and over the smaller last one.
Needed needed(const Trainer& trainer, const Dataset& data, int64_t batch) {
  const BatchTypes types = BatchTypes::of(data.types(), batch);
  const StepForecast f = trainer.forecast(StepKind::train, types);
  Needed n{as_forecast(trainer, f, types.charge() * data.batches_held()), 0};
  int64_t programs_to_come = f.program_to_come;
  if (const int64_t rest = data.records().value_or(0) % batch; rest > 0) {
    const StepForecast last = trainer.forecast(StepKind::train, BatchTypes::of(data.types(), rest));
    n.step.constants += last.program.constants;
    n.step.programs += last.program.program;
    programs_to_come += last.program_to_come;
  }
  const int64_t arena = trainer.arena().bytes();
  n.more = std::max<int64_t>(n.step.arena - arena, 0) + f.state_to_come + programs_to_come + n.step.data;
  return n;
}

// The largest batch below `batch` that needs no more than `left`, 0 if none: what a step needs grows with the
// batch.
int64_t largest_batch(const Trainer& trainer, const Dataset& data, int64_t batch, int64_t left) {
  int64_t fits = 0, too_large = batch;
  while (too_large - fits > 1) {
    const int64_t middle = fits + (too_large - fits) / 2;
    (needed(trainer, data, middle).more <= left ? fits : too_large) = middle;
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

void check(const Trainer& trainer, const Dataset& data, const Budget* budget) {
  const int64_t batch_size =
      std::min(data.batch_size(), std::max<int64_t>(data.records().value_or(data.batch_size()), 1));
  Line line = nearest(budget);
  Needed n = needed(trainer, data, batch_size);
  if (n.more > line.left() && give_up_all()) {
    line = nearest(budget);
    n = needed(trainer, data, batch_size);
  }
  if (n.more <= line.left()) return;
  const MemoryForecast& f = n.step;
  const int64_t fits = largest_batch(trainer, data, batch_size, line.left());
  const int64_t bytes = line.held + n.more;
  const int64_t held = bytes - f.total();
  fail(ErrorKind::out_of_memory, "fit", "a batch of ", batch_size, " needs ", memory_text(bytes),
       ", allowed are ", memory_text(line.limit), " (weights ", memory_text(f.weights),
       ", optimizer and metrics ", memory_text(f.state), ", the step ", memory_text(f.arena),
       ", its Program ", memory_text(f.programs), ", batches ", memory_text(f.data),
       held > 0 ? concat(", held already ", memory_text(held)) : std::string(), "); ",
       fits > 0 ? concat("the largest batch that fits is ", fits) : std::string("no batch fits"),
       "; heaviest layers: ", heaviest(f));
}

}  // namespace

MemoryForecast forecast_step(const Trainer& trainer, const BatchTypes& types, int64_t batches_held) {
  return as_forecast(trainer, trainer.forecast(StepKind::train, types), types.charge() * batches_held);
}

MemoryLine::MemoryLine(const std::string& memory, Trainer& trainer)
    : trainer_(trainer), budget_(memory.empty() ? nullptr : std::make_shared<Budget>(parse_memory(memory))) {}

MemoryLine::~MemoryLine() {
  if (counts_model_) trainer_.budget().set_whole(nullptr);
}

// Each buffer once: weights may be shared, and arrays given twice. What the trainer's budget has already
// comes with it.
void MemoryLine::count_held(const Dataset& data, const Dataset* validation) {
  std::set<const Buffer*> counted;
  const auto add = [&](const Tensor& t) {
    const Buffer* b = t.buffer().get();
    if (b != nullptr && b->budget().get() != &trainer_.budget() && counted.insert(b).second)
      budget_->add(b->charged());
  };
  for (const std::vector<VariablePtr>& list :
       {trainer_.network()->all_variables(), trainer_.optimizer().variables(), trainer_.metric_states()}) {
    for (const VariablePtr& v : list) add(v->value);
  }
  for (const Tensor& t : data.tensors()) add(t);
  if (validation != nullptr) {
    for (const Tensor& t : validation->tensors()) add(t);
  }
  trainer_.budget().set_whole(budget_);
  counts_model_ = true;
}

void MemoryLine::begin(const Dataset& data, const Dataset* validation) {
  if (budget_) count_held(data, validation);
  if (nearest(budget_.get()).limit == account::kNoLimit) return;
  // What is planned under a line is planned as it is then made, but the refusal is the one with the numbers.
  if (budget_) {
    scope_.emplace(budget_);
    budget_->set_refusing(false);
  }
  check(trainer_, data, budget_.get());
  if (budget_) budget_->set_refusing(true);
}

}  // namespace plimsoll
