#include "train/step_plan.h"

#include <algorithm>

#include "device/device.h"
#include "memory/buffer.h"
#include "memory/host.h"
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

MemoryForecast on_host(const MemoryReport& p, int64_t weights, int64_t state, int64_t data) {
  return {.weights = weights,
          .state = state,
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

StepPlans::StepPlans(std::vector<StepChoices> steps, int64_t beside, Where where)
    : steps_(std::move(steps)), beside_(beside), where_(where) {}

bool StepPlans::Picked::changed() const {
  return std::ranges::any_of(choices,
                             [](const Choice& c) { return c.recipe->parts > 1 || !c.recipe->execs.empty(); });
}

// What a program that there is holds goes when another is made in its place.
int64_t StepPlans::beside(size_t step, int64_t held) const {
  const StepChoices& s = steps_[step];
  if (where_ == Where::device) return s.there == 0 ? s.choices->as_it_is().constants : 0;
  return held - s.there;
}

StepPlans::Picked StepPlans::pick(std::vector<Choice> choices) const {
  Picked p{.choices = std::move(choices), .beside = beside_};
  const size_t first = steps_.size() - p.choices.size();
  for (size_t i = 0; i < p.choices.size(); ++i) {
    const Choice& c = p.choices[i];
    p.arena = std::max(p.arena, c.arena);
    p.beside += beside(first + i, c.held());
  }
  p.bytes = p.beside + arena_charge(p.arena);
  return p;
}

// Whole pages, where it counts.
int64_t StepPlans::arena_charge(int64_t bytes) const {
  if (where_ == Where::host_of_device) return 0;
  return where_ == Where::host ? host::round_up(bytes, host::page_size()) : bytes;
}

void StepPlans::consent_to_parts() {
  for (StepChoices& s : steps_) s.choices->consent_to_parts();
}

StepPlans::Picked StepPlans::as_they_are() {
  std::vector<Choice> choices;
  for (const StepChoices& s : steps_) choices.push_back(s.choices->as_it_is());
  return pick(std::move(choices));
}

StepPlans::Picked StepPlans::with_arena(int64_t line) {
  for (StepChoices& s : steps_) {
    if (s.choices->as_it_is().arena > line) line = std::max(line, s.choices->smallest().arena);
  }
  std::vector<Choice> choices;
  for (StepChoices& s : steps_)
    choices.push_back(*s.choices->cheapest([&](int64_t arena, int64_t) { return arena <= line; }));
  return pick(std::move(choices));
}

// A Program that takes more than the whole step with its arena is of no use, where it counts.
Choices::Fits StepPlans::with_line(size_t step, int64_t line) const {
  const Choice& whole = steps_[step].choices->as_it_is();
  const int64_t most = where_ == Where::device ? account::kNoLimit : whole.arena + whole.held();
  return [line, most](int64_t arena, int64_t held) { return arena <= line && held <= most; };
}

// Each way to run the other steps, from the largest arena down, until `visit` says false.
template <class Visit>
void StepPlans::each_way_of_others(Visit visit) {
  for (int64_t line = account::kNoLimit;;) {
    std::vector<Choice> choices;
    for (size_t i = 1; i < steps_.size(); ++i) {
      auto c = steps_[i].choices->cheapest(with_line(i, line));
      if (!c) return;
      choices.push_back(std::move(*c));
    }
    const Picked others = pick(std::move(choices));
    if (!visit(others) || others.arena == 0) return;
    line = others.arena - 1;
  }
}

std::optional<StepPlans::Picked> StepPlans::main_within(int64_t room, const Picked& others) {
  StepChoices& main = steps_[0];
  std::optional<Choice> found = main.choices->cheapest([&](int64_t arena, int64_t held) {
    const int64_t more = arena_charge(std::max(arena, others.arena)) + beside(0, held);
    return more <= room - others.beside;
  });
  if (!found) return std::nullopt;
  std::vector<Choice> choices = {std::move(*found)};
  choices.insert(choices.end(), others.choices.begin(), others.choices.end());
  return pick(std::move(choices));
}

// As if the other steps took nothing of the arena, and no more than they must beside it: no way is cheaper.
StepPlans::Picked StepPlans::others_at_best() const {
  Picked p{.choices = {}, .beside = beside_};
  for (size_t i = 1; i < steps_.size(); ++i) {
    p.choices.push_back(steps_[i].choices->as_it_is());
    p.beside += beside(i, steps_[i].choices->least_held());
  }
  return p;
}

std::optional<StepPlans::Picked> StepPlans::within(int64_t room) {
  const auto price = [](const Picked& p) {
    return std::pair(p.choices[0].recipe->parts > 1, p.choices[0].extra_seconds());
  };
  std::optional<Picked> best;
  const std::optional<Picked> bound = main_within(room, others_at_best());
  if (!bound) return best;
  each_way_of_others([&](const Picked& others) {
    std::optional<Picked> p = main_within(room, others);
    if (p && (!best || price(*p) < price(*best))) best = std::move(p);
    return !best || price(*bound) < price(*best);
  });
  return best;
}

StepPlans::Picked StepPlans::least() {
  Picked best = as_they_are();
  each_way_of_others([&](const Picked& others) {
    while (std::optional<Picked> p = main_within(best.bytes - 1, others)) best = std::move(*p);
    return true;
  });
  return best;
}

MemoryReport StepPlans::report(size_t step, const Picked& picked, int64_t arena_line) {
  return steps_[step].choices->report(picked.choices[step], arena_line);
}

TrainerPlan StepPlans::plan(const Picked& picked, int64_t arena_line) const {
  TrainerPlan plan{.arena_line = arena_line, .micro_batch = steps_[0].options.micro_batch};
  for (size_t i = 0; i < steps_.size(); ++i)
    plan.steps.push_back({steps_[i].kind, steps_[i].types, picked.choices[i].recipe});
  return plan;
}

int64_t largest_batch(int64_t batch, const std::function<bool(int64_t)>& fits) {
  int64_t good = 0, too_large = batch;
  while (too_large - good > 1) {
    const int64_t middle = good + (too_large - good) / 2;
    (fits(middle) ? good : too_large) = middle;
  }
  return good;
}

MemoryForecast forecast_of_report(const Trainer& trainer, const MemoryReport& main, int64_t state,
                                  int64_t batch, int64_t batches_held) {
  const int64_t weights = charge_of(trainer.network()->all_variables());
  return with_device(trainer, on_host(main, weights, state, batch * batches_held), batch);
}

MemoryForecast forecast_step(const Trainer& trainer, const std::function<BatchTypes(int64_t)>& types,
                             int64_t batch, int64_t batches_held, int64_t line, bool micro_batch) {
  const bool on_device = trainer.device() != nullptr;
  const int64_t weights = charge_of(trainer.network()->all_variables());
  const auto plans = [&](int64_t n) {
    std::vector<StepChoices> steps;
    steps.push_back(trainer.choices(StepKind::train, types(n), micro_batch));
    steps[0].there = 0;
    const int64_t model = weights + steps[0].state, data = types(n).charge();
    if (on_device) return StepPlans(std::move(steps), model + 2 * data, StepPlans::Where::device);
    return StepPlans(std::move(steps), model + data * batches_held + resident::whole_process());
  };
  StepPlans steps = plans(batch);
  const std::optional<StepPlans::Picked> found = steps.within(line);
  const StepPlans::Picked p = found ? *found : steps.least();
  const MemoryReport main = steps.report(0, p, line == account::kNoLimit ? line : line - p.beside);
  MemoryForecast m =
      forecast_of_report(trainer, main, steps.step(0).state, types(batch).charge(), batches_held);
  m.fits = found.has_value();
  if (line == account::kNoLimit) return m;
  m.line = line;
  m.least = steps.least().bytes;
  if (!on_device && m.process > 0) m.least += resident::kNoise;
  const auto fits = [&](int64_t n) { return plans(n).within(line).has_value(); };
  m.largest_batch = m.fits ? batch : largest_batch(batch, fits);
  if (m.fits) {
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
