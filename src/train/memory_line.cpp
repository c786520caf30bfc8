#include "train/memory_line.h"

#include <algorithm>
#include <bit>
#include <set>

#include "common/log.h"
#include "device/device.h"
#include "memory/arena.h"
#include "memory/buffer.h"
#include "memory/images.h"
#include "memory/line.h"
#include "memory/planning.h"
#include "memory/resident.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/planning.h"
#include "train/lines.h"
#include "train/model_body.h"
#include "train/step_plan.h"

namespace plimsoll {
namespace {

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

// The arena's pages may not all be in memory yet, though all are charged.
void measure(const Arena& arena, bool keep = false) {
  line::measure(keep, arena.bytes() - images::in_memory(arena.base(), arena.bytes()));
}

// What can be made again; false if there is nothing.
bool give_up_all() {
  bool any = false;
  while (account::reclaim()) any = true;
  return any;
}

std::string fits_text(int64_t batch) {
  return batch > 0 ? concat("the largest batch that fits is ", batch) : std::string("no batch fits");
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

// What the steps of a fit() hold, or those of evaluate() and predict(), planned under their line.
class FitPlan {
 public:
  FitPlan(const Trainer& trainer, bool micro_batch, const Dataset& data, const Dataset* validation,
          StepKind kind = StepKind::train)
      : trainer_(trainer), micro_batch_(micro_batch), data_(data), validation_(validation), kind_(kind) {}

  // What the process has taken for a while to plan: up to the steps as they are, and with other ways to run
  // them. 0: not known.
  struct Planned {
    int64_t as_they_are = 0, all = 0;
  };

  // Throws MemoryLineError if it cannot be held.
  TrainerPlan check(const Budget* budget) const {
    const account::Planning planning;
    Planned planned;
    if (line::drawn()) {  // planning brings code into memory that steps need too
      {
        StepPlans steps = plans(batch_of(data_), validation_batch(), micro_batch_);
        planned.as_they_are = resident::new_peak();
        steps.within(room(nearest(budget)));
      }
      plimsoll::measure(trainer_.arena());
    }
    Line line = nearest(budget);
    std::optional<TrainerPlan> plan = within(batch_of(data_), line);
    planned.all = resident::new_peak();
    const auto changed = [](const TrainerPlan::Step& s) {
      return s.recipe->parts > 1 || !s.recipe->execs.empty();
    };
    if ((!plan || std::ranges::any_of(plan->steps, changed)) && give_up_all()) {
      line = nearest(budget);
      plan = within(batch_of(data_), line);
    }
    if (!plan) refuse(line, planned);
    return std::move(*plan);
  }

  // With such an arena, or the smallest there is.
  TrainerPlan with_arena(int64_t line) const {
    StepPlans steps = plans(batch_of(data_), validation_batch(), micro_batch_);
    const StepPlans::Picked p = steps.with_arena(line);
    return steps.plan(p, std::max(p.arena, line));
  }

  // To plan and to make the steps has taken so much of the process, for a while. Throws if that is above the
  // line: it would be the next time too.
  void check_peak(int64_t peak) const {
    const int64_t limit = account::limit();
    if (peak <= limit) return;
    const int64_t least = peak + resident::kNoise;
    throw MemoryLineError(
        "fit",
        concat("to plan the steps and to make their Programs takes ", memory_text(least),
               " for a while, allowed are ", memory_text(limit), "; the least line that would do is ",
               line_text(least), "; a smaller batch takes as much"),
        {.line = limit, .need = least, .least = least, .batch = batch_of(data_)});
  }

  // Of the batches that readers will hold.
  int64_t data() const { return data(batch_of(data_), validation_batch()); }

  // The same as check() for the device's own line.
  TrainerPlan check_device() const {
    const DeviceAccount& account = trainer_.device()->account();
    if (account.limit() == account::kNoLimit) return {};
    const int64_t batch = batch_of(data_);
    const Line line{account.used(), account.limit()};
    StepPlans steps = plans_on_device(batch, micro_batch_);
    const auto picked = steps.within(room_on_device(line));
    if (!picked) refuse_device(batch, line, steps);
    return steps.plan(*picked, room_on_device(line) - picked->beside);
  }

 private:
  static int64_t batch_of(const Dataset& data) {
    return std::min(data.batch_size(), std::max<int64_t>(data.records().value_or(data.batch_size()), 1));
  }
  int64_t validation_batch() const { return validation_ ? batch_of(*validation_) : 0; }
  BatchTypes types_of(const Dataset& data, int64_t batch) const {
    BatchTypes types = BatchTypes::of(data.types(), batch);
    if (kind_ == StepKind::predict) types.y = types.weights = {};
    return types;
  }
  int64_t arena_held() const { return trainer_.device() ? 0 : trainer_.arena().bytes(); }
  // What the arena and all that is not there yet may have.
  int64_t room(const Line& line) const {
    return line.limit == account::kNoLimit ? line.limit : line.left() + arena_held();
  }
  std::string_view place() const {
    return kind_ == StepKind::train ? "fit" : kind_ == StepKind::test ? "evaluate" : "predict";
  }
  int64_t data(int64_t batch, int64_t validation_batch) const {
    int64_t sum = types_of(data_, batch).charge() * data_.batch(batch).batches_held() + data_.workspace();
    if (validation_batch > 0)
      sum += types_of(*validation_, validation_batch).charge() *
                 validation_->batch(validation_batch).batches_held() +
             validation_->workspace();
    return sum;
  }
  // What predict() hands out: those of one step, and all together.
  int64_t results(const StepChoices& s, int64_t batch) const {
    return s.results + s.results * ((data_.records().value_or(batch) + batch - 1) / batch);
  }

  // The main step, the smaller last batch, and validation with its batches. `validation_batch` 0: without.
  StepPlans plans(int64_t batch, int64_t validation_batch, bool micro_batch) const {
    std::vector<StepChoices> steps;
    const auto add = [&](StepKind kind, const BatchTypes& types) {
      steps.push_back(trainer_.choices(kind, types, micro_batch));
    };
    const BatchTypes types = types_of(data_, batch);
    add(kind_, types);
    const int64_t beside =
        steps[0].state_to_come + data(batch, validation_batch) + results(steps[0], batch);
    if (const int64_t rest = data_.records().value_or(0) % batch; rest > 0) add(kind_, types_of(data_, rest));
    if (validation_batch > 0) {
      const BatchTypes all = types_of(*validation_, validation_batch);
      add(StepKind::test, all);
      const int64_t rest = validation_->records().value_or(0) % validation_batch;
      if (rest > 0) add(StepKind::test, types_of(*validation_, rest));
    }
    return {std::move(steps), beside,
            trainer_.device() ? StepPlans::Where::host_of_device : StepPlans::Where::host};
  }

  std::optional<TrainerPlan> within(int64_t batch, const Line& line) const {
    return within(batch, validation_batch(), line);
  }
  std::optional<TrainerPlan> within(int64_t batch, int64_t validation_batch, const Line& line) const {
    StepPlans steps = plans(batch, validation_batch, micro_batch_);
    const auto picked = steps.within(room(line));
    if (!picked) return std::nullopt;
    return steps.plan(*picked, line.limit == account::kNoLimit ? line.limit : room(line) - picked->beside);
  }

  StepPlans plans_on_device(int64_t batch, bool micro_batch) const {
    const BatchTypes types = types_of(data_, batch);
    std::vector<StepChoices> steps;
    steps.push_back(trainer_.choices(kind_, types, micro_batch));
    const int64_t beside = more_on_device(steps[0], 2 * types.charge());
    return {std::move(steps), beside, StepPlans::Where::device};
  }
  int64_t room_on_device(const Line& line) const { return line.left() + trainer_.device()->arena_bytes(); }

  // Beside the arena and constants, what is not there yet; inputs have two places.
  int64_t more_on_device(const StepChoices& s, int64_t data) const {
    int64_t there = 0, all = s.state;
    for (const VariablePtr& v : trainer_.network()->all_variables())
      all += Buffer::charge_for(byte_size(v->value.dtype(), v->value.shape()));
    for (const std::vector<VariablePtr>& list :
         {trainer_.network()->all_variables(), trainer_.optimizer().variables(), trainer_.metric_states()}) {
      for (const VariablePtr& v : list) {
        if (v->value.buffer()->copy_on(trainer_.device().get()))
          there += byte_size(v->value.dtype(), v->value.shape());
      }
    }
    return (s.there == 0 ? data : 0) + std::max<int64_t>(all - there, 0);
  }

  // In how many parts a batch would fit if it might be cut; 0: in none. The steps may be afterwards.
  int64_t parts_that_fit(StepPlans& steps, int64_t room) const {
    if (micro_batch_ || kind_ != StepKind::train) return 0;
    steps.consent_to_parts();
    const auto picked = steps.within(room);
    return picked ? picked->choices[0].recipe->parts : 0;
  }

  [[noreturn]] void refuse(Line line, Planned planned) const {
    const int64_t batch = batch_of(data_);
    if (validation_batch() > 0 && within(batch, 1, line)) refuse_validation(batch, line, planned);
    int64_t largest = 0;
    const Line sure = measure_around(line, [&](const Line& now) {
      largest = largest_batch(batch, [&](int64_t n) { return within(n, now).has_value(); });
    });
    StepPlans steps = plans(batch, validation_batch(), micro_batch_);
    const MemoryReport r = steps.report(0, steps.as_they_are(), kNoLine);
    Numbers n = numbers(line, sure, planned, batch, largest, r, steps);
    n.parts = parts_that_fit(steps, room(sure));
    if (kind_ != StepKind::train) refuse_pass(n, r, results(steps.step(0), batch), line);
    const MemoryForecast f = forecast_of(steps, r, batch);
    const int64_t own = process(line), already = n.need - f.total() + f.process - own;
    throw MemoryLineError(
        "fit",
        concat(
            "a batch of ", batch, " needs ", memory_text(n.need), ", allowed are ", memory_text(line.limit),
            " (weights ", memory_text(f.weights), ", optimizer and metrics ", memory_text(f.state),
            ", the step ", memory_text(f.arena), ", its Program ", memory_text(f.programs), ", batches ",
            memory_text(f.data), own > 0 ? concat(", the engine itself ", memory_text(own)) : std::string(),
            already > 0 ? concat(", held already ", memory_text(already)) : std::string(), "); ", rest(n, f)),
        n);
  }

  // What the system counts by now; returns it with what it may count more the next time.
  Line measure(Line& line) const {
    if (!line::drawn() || line.limit != account::limit()) return line;
    plimsoll::measure(trainer_.arena());
    line.held = account::used();
    return {line.held + resident::kNoise, line.limit};
  }

  // The same after `plan`, which is given what counts before: to plan and to throw for the first time brings
  // in code that is there the next time.
  template <class Plan>
  Line measure_around(Line& line, const Plan& plan) const {
    const Line before = measure(line);
    plan(before);
    try {
      throw MemoryLineError("fit", "", {});
    } catch (const MemoryLineError&) {
    }
    const Line after = measure(line);
    if (line.held > before.held) plan(after);
    return after;
  }

  // Of what the line of the process counts: code, threads.
  static int64_t process(const Line& line) {
    return line.limit == account::limit() ? account::used(Owner::process) : 0;
  }

  // Training alone fits: a smaller batch of validation is what helps.
  [[noreturn]] void refuse_validation(int64_t batch, Line line, Planned planned) const {
    int64_t largest = 0;
    const Line sure = measure_around(line, [&](const Line& now) {
      largest =
          largest_batch(validation_batch(), [&](int64_t n) { return within(batch, n, now).has_value(); });
    });
    StepPlans steps = plans(batch, validation_batch(), micro_batch_);
    const StepChoices test =
        trainer_.choices(StepKind::test, types_of(*validation_, validation_batch()), false);
    const MemoryReport r = test.choices->report(test.choices->as_it_is(), kNoLine);
    const Numbers n = numbers(line, sure, planned, validation_batch(), largest, r, steps);
    throw MemoryLineError(
        "fit",
        concat("validation with a batch of ", n.batch, " needs ", memory_text(n.need), ", allowed are ",
               memory_text(line.limit), "; training alone fits; the least line that would do is ",
               line_text(n.least), "; ", fits_text(largest), " (validation_batch_size)"),
        n);
  }

  using Numbers = MemoryLineError::Numbers;
  [[noreturn]] void refuse_pass(const Numbers& n, const MemoryReport& r, int64_t results_bytes,
                                const Line& line) const {
    throw MemoryLineError(
        place(),
        concat("a batch of ", n.batch, " needs ", memory_text(n.need), ", allowed are ",
               memory_text(line.limit), " (the step ", memory_text(r.arena), ", its Program ",
               memory_text(r.program),
               results_bytes > 0 ? concat(", results ", memory_text(results_bytes)) : std::string(),
               ", held already ", memory_text(line.held), "); the least line that would do is ",
               line_text(n.least), "; ", fits_text(n.largest_batch)),
        n);
  }

  [[noreturn]] void refuse_device(int64_t batch, const Line& line, StepPlans& steps) const {
    const int64_t largest = largest_batch(batch, [&](int64_t n) {
      return plans_on_device(n, micro_batch_).within(room_on_device(line)).has_value();
    });
    const int64_t held = line.held - trainer_.device()->arena_bytes();
    const MemoryForecast m = forecast_of(steps, steps.report(0, steps.as_they_are(), kNoLine), batch);
    const MemoryForecast::OnDevice& f = m.on_device;
    Numbers n{.line = line.limit,
              .need = held + steps.as_they_are().bytes,
              .least = held + steps.least().bytes,
              .batch = batch,
              .largest_batch = largest,
              .layers = m.layers};
    n.parts = parts_that_fit(steps, room_on_device(line));
    throw MemoryLineError(
        "fit",
        concat("a batch of ", batch, " needs ", memory_text(n.need), " on ", m.device, ", allowed are ",
               memory_text(line.limit), " (weights ", memory_text(f.weights), ", optimizer and metrics ",
               memory_text(f.state), ", the step ", memory_text(f.arena), ", batches ", memory_text(f.data),
               "); ", rest(n, m)),
        n);
  }

  MemoryForecast forecast_of(const StepPlans& steps, const MemoryReport& main, int64_t batch) const {
    return forecast_of_report(trainer_, main, steps.step(0).state, types_of(data_, batch).charge(),
                              data_.batches_held());
  }

  static std::string rest(const Numbers& n, const MemoryForecast& f) {
    return concat("the least line that would do is ", line_text(n.least), "; ", fits_text(n.largest_batch),
                  parts_text(n.parts), "; heaviest layers: ", heaviest(f));
  }

  Numbers numbers(const Line& line, const Line& sure, Planned planned, int64_t batch, int64_t largest,
                  const MemoryReport& main, StepPlans& steps) const {
    if (line.limit != account::limit()) planned = {};
    // Where planning is what takes most, the steps as they are may be had for less than others.
    const auto to_have = [&](int64_t bytes, int64_t peak) {
      return std::max(sure.held - arena_held() + bytes, peak > 0 ? peak + resident::kNoise : 0);
    };
    const int64_t as_they_are = to_have(steps.as_they_are().bytes, planned.as_they_are);
    const int64_t least = std::min(as_they_are, to_have(steps.least().bytes, planned.all));
    return {.line = line.limit,
            .need = std::max(line.held - arena_held() + steps.as_they_are().bytes, least),
            .least = least,
            .batch = batch,
            .largest_batch = largest,
            .layers = main.layers};
  }

  const Trainer& trainer_;
  bool micro_batch_;
  const Dataset& data_;
  const Dataset* validation_;
  StepKind kind_;
};

// The part of the arena that goes when the system is short of memory.
constexpr int64_t kGiveBack = 4;
// Of the group's limit: less than this left below it is short.
constexpr int64_t kShort = 32;
constexpr double kStalled = 10;  // percent

bool is_short(const line::Pressure& p) {
  return p.stalled > kStalled || (p.room != account::kNoLimit && p.room < p.limit / kShort);
}

}  // namespace

MemoryLine::MemoryLine(const std::string& memory, bool micro_batch, Trainer& trainer)
    : trainer_(trainer), micro_batch_(micro_batch) {
  for (LineOf& line : lines_in(memory)) {
    if (line.device)
      devices_.emplace_back(std::move(line.device), line.bytes);
    else
      budget_ = std::make_shared<Budget>(line.bytes);
  }
}

MemoryLine::DeviceLine::DeviceLine(std::shared_ptr<Device> device, int64_t limit)
    : device_(std::move(device)), before_(device_->account().limit()) {
  device_->account().set_limit(limit);
}

MemoryLine::DeviceLine::~DeviceLine() {
  if (device_) device_->account().set_limit(before_);
}

MemoryLine::~MemoryLine() {
  if (data_) line::end_steps();
  resident::forget_peak();
  trainer_.hold_programs(false);
  try {
    trainer_.set_plan({});
  } catch (const Error&) {
    // Another thread uses the model: the next fit() draws its own.
  }
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
  line::ensure();
  line::begin_steps();
  data_ = data;
  validation_ = validation;
  if (trainer_.device()) device_plan_ = FitPlan(trainer_, micro_batch_, data, validation).check_device();
  if (budget_) {
    count_held(data, validation);
    scope_.emplace(budget_);
  }
  replan();
}

// What is planned under a line is planned as it is then made, but the refusal is the one with the numbers.
void MemoryLine::replan() {
  line_seen_ = line::version();
  TrainerPlan plan = device_plan_;
  if (nearest(budget_.get()).limit != account::kNoLimit) {
    if (budget_) budget_->set_refusing(false);
    TrainerPlan host = FitPlan(trainer_, micro_batch_, *data_, validation_).check(budget_.get());
    if (!trainer_.device()) plan = std::move(host);
  }
  steps_to_make_ = plan.steps;
  trainer_.set_plan(std::move(plan));
  if (budget_) budget_->set_refusing(true);
}

void MemoryLine::make_steps() {
  for (const TrainerPlan::Step& s : std::exchange(steps_to_make_, {})) trainer_.prepare(s.kind, s.types);
  trainer_.hold_programs(true);
}

void MemoryLine::ready() {
  if (!line::drawn() || trainer_.device()) return;
  measure(trainer_.arena(), true);
  const FitPlan plan(trainer_, micro_batch_, *data_, validation_);
  if (account::used() > account::limit() - plan.data()) {
    replan();
    make_steps();
  }
  plan.check_peak(resident::new_peak());
}

void MemoryLine::between_steps() {
  if (line_seen_ != line::version()) {
    line::apply();
    // Between two steps nothing in the arena is needed: planning has its bytes.
    if (account::used() > account::limit() && !trainer_.device()) trainer_.set_plan({.arena_line = 0});
    replan();
    return make_steps();
  }
  if (trainer_.device()) return;
  ++steps_;
  // What the first steps bring into memory is seen soon, what comes later some time.
  constexpr uint64_t kOften = 256;
  if (line::drawn() && (std::has_single_bit(steps_) || steps_ % kOften == 0)) stay_under();
  const auto now = Clock::now();
  if (now - looked_ < kLookAgain && !line::pressure_is_set()) return;
  looked_ = now;
  if (is_short(line::pressure())) shrink(trainer_.arena().bytes() / kGiveBack);
}

// The line was kept when this fit began, so that it is not refused now: what the system counts since then is
// taken off the arena, if it can be.
void MemoryLine::stay_under() {
  const int64_t before = account::used(Owner::process);
  measure(trainer_.arena(), true);
  const int64_t over = account::used() - account::limit();
  if (over <= 0 || shrink(over)) return;
  account::set_measured(Owner::process, before);
  warn("fit", "the process is ", memory_text(over), " over its line, and the step cannot take less");
}

// The arena by `bytes`, or as far as it goes; false if that is less. What it takes to plan and to make the
// Programs, for a while, has the arena's bytes.
bool MemoryLine::shrink(int64_t bytes) {
  const account::Planning planning;
  const int64_t arena = trainer_.arena().bytes(), wanted = std::max<int64_t>(arena - bytes, 0);
  trainer_.set_plan({.arena_line = 0});
  TrainerPlan plan = FitPlan(trainer_, micro_batch_, *data_, validation_).with_arena(wanted);
  const int64_t line = plan.arena_line;
  if (line < arena) {
    log(LogLevel::info, "fit", "memory is short: the step gives back ", memory_text(arena - line), " of ",
        memory_text(arena));
  }
  steps_to_make_ = plan.steps;
  trainer_.set_plan(std::move(plan));
  make_steps();
  return line == wanted;
}

PassLine::PassLine(ModelBody& body, StepKind kind, const Dataset& data) : trainer_(body.trainer) {
  line::ensure();
  Budget* const budget = Budget::current().get();
  if (body.fitting || trainer_.device() || nearest(budget).limit == account::kNoLimit) return;
  trainer_.set_plan(FitPlan(trainer_, false, data, nullptr, kind).check(budget));
  drawn_ = true;
}

PassLine::~PassLine() {
  if (!drawn_) return;
  try {
    trainer_.set_plan({});
  } catch (const Error&) {
    // Another thread uses the model.
  }
}

}  // namespace plimsoll
