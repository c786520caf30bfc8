#include "train/step_plan.h"

#include <algorithm>

#include "device/device.h"
#include "memory/buffer.h"
#include "memory/resident.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

int64_t charge_of(const std::vector<VariablePtr>& variables) {
  int64_t sum = 0;
  for (const VariablePtr& v : variables)
    sum += Buffer::charge_for(byte_size(v->value.dtype(), v->value.shape()));
  return sum;
}

MemoryForecast on_host(const Trainer& trainer, const StepForecast& f, int64_t data) {
  const MemoryReport& p = f.program;
  return {.weights = charge_of(trainer.network()->all_variables()),
          .state = f.state,
          .arena = p.arena,
          .constants = p.constants,
          .programs = p.program,
          .data = data,
          .process = resident::whole_process(),
          .layers = p.layers,
          .fits = p.fits,
          .unlimited = p.unlimited,
          .again = p.again,
          .parts = p.parts,
          .seconds = p.seconds,
          .extra_seconds = p.extra_seconds,
          .least_extra = p.least_extra};
}

// What a device holds while batches of these types are trained on; inputs have two places.
MemoryForecast with_device(const Trainer& trainer, MemoryForecast m, int64_t batch) {
  if (!trainer.device()) return m;
  m.device = trainer.device()->name();
  m.on_device = {
      .weights = m.weights, .state = m.state, .arena = m.arena, .constants = m.constants, .data = 2 * batch};
  m.arena = m.constants = 0;
  return m;
}

}  // namespace

bool may_cut_batch(const std::string& micro_batch) {
  require(micro_batch == "auto" || micro_batch == "never", "fit",
          "expected micro_batch \"auto\" or \"never\", got \"", micro_batch, "\"");
  return micro_batch == "auto";
}

void lower_line(StepPlan& p, int64_t most, const Trainer& trainer, StepKind kind, const BatchTypes& types,
                bool micro_batch) {
  p.arena_line = std::min(p.arena_line, most);
  p.fits = p.step.program.arena <= p.arena_line;
  if (!p.fits || p.step.program.parts == 1) return;
  p.step = trainer.forecast(kind, types, p.arena_line, micro_batch);
  p.fits = p.step.program.fits;
}

StepPlan plan_step(const Trainer& trainer, StepKind kind, const BatchTypes& types, int64_t room,
                   bool micro_batch, const Beside& beside) {
  StepPlan p{.step = trainer.forecast(kind, types, account::kNoLimit, micro_batch)};
  p.beside = beside(p.step);
  p.arena_line = room == account::kNoLimit ? room : room - p.beside;
  p.need = p.bytes();
  // A plan under a line has more nodes, so that its Program takes more of the room.
  constexpr int kTries = 3;
  for (int i = 0; i < kTries && p.step.program.arena > p.arena_line; ++i) {
    p.step = trainer.forecast(kind, types, std::max<int64_t>(p.arena_line, 0), micro_batch);
    p.beside = beside(p.step);
    if (!p.step.program.fits) break;
    p.arena_line = std::min(p.arena_line, room - p.beside);
  }
  lower_line(p, p.arena_line, trainer, kind, types, micro_batch);
  if (!p.fits && p.step.program.fits) {
    p.step = trainer.forecast(kind, types, 0, micro_batch);
    p.beside = beside(p.step);
    p.arena_line = room - p.beside;
    lower_line(p, p.arena_line, trainer, kind, types, micro_batch);
  }
  return p;
}

int64_t largest_batch(int64_t batch, const std::function<bool(int64_t)>& fits) {
  int64_t good = 0, too_large = batch;
  while (too_large - good > 1) {
    const int64_t middle = good + (too_large - good) / 2;
    (fits(middle) ? good : too_large) = middle;
  }
  return good;
}

int64_t least_room(StepPlan smallest, const std::function<StepPlan(int64_t)>& plan) {
  constexpr int kTries = 8;
  constexpr int64_t kPart = 100;
  int64_t room = smallest.least();
  for (int i = 0; i < kTries && room < smallest.need && !plan(room).fits; ++i)
    room = std::min(smallest.need, room + room / kPart + 1);
  if (smallest.step.program.parts == 1) return room;
  // Of a batch in many parts the arena is small and the Program large: fewer may need less in all.
  for (int64_t too_small = 0; room - too_small > room / 50;) {
    const int64_t middle = too_small + (room - too_small) / 2;
    (plan(middle).fits ? room : too_small) = middle;
  }
  return room;
}

MemoryForecast forecast_step(const Trainer& trainer, const std::function<BatchTypes(int64_t)>& types,
                             int64_t batch, int64_t batches_held, int64_t line, bool micro_batch) {
  const auto plan = [&](int64_t n, int64_t room) {
    const int64_t data = types(n).charge() * batches_held;
    return plan_step(trainer, StepKind::train, types(n), room, micro_batch, [&](const StepForecast& f) {
      return on_host(trainer, f, data).total() - f.program.arena;
    });
  };
  const int64_t data = types(batch).charge();
  if (trainer.device()) line = account::kNoLimit;  // the line of the host says nothing about its arena
  const StepPlan p = plan(batch, line);
  MemoryForecast m = on_host(trainer, p.step, data * batches_held);
  m.fits = p.fits;
  if (line == account::kNoLimit) return with_device(trainer, std::move(m), data);
  m.line = line;
  m.least = least_room(plan(batch, 0), [&](int64_t room) { return plan(batch, room); });
  if (m.process > 0) m.least += resident::noise();
  const auto fits = [&](int64_t n) { return plan(n, line).fits; };
  m.largest_batch = p.fits ? batch : largest_batch(batch, fits);
  if (p.fits) {
    // Above it: doubling, then between.
    constexpr int64_t kMost = int64_t{1} << 20;
    int64_t too_large = 2 * batch;
    while (too_large < kMost && fits(too_large)) m.largest_batch = std::exchange(too_large, 2 * too_large);
    m.largest_batch =
        std::max(m.largest_batch,
                 largest_batch(too_large, [&](int64_t n) { return n <= m.largest_batch || fits(n); }));
  }
  return m;
}

}  // namespace plimsoll
