#include "train/memory_line.h"

#include <algorithm>
#include <bit>
#include <set>

#include "common/bytes.h"
#include "common/log.h"
#include "device/device.h"
#include "memory/arena.h"
#include "memory/buffer.h"
#include "memory/line.h"
#include "memory/planning.h"
#include "memory/resident.h"
#include "plimsoll/devices.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
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

  // Throws MemoryLineError if it cannot be held; else what the arena may have.
  int64_t check(const Budget* budget) const {
    const account::Planning planning;
    const int64_t batch = batch_of(data_);
    Line line = nearest(budget);
    StepPlan p = plan(batch, line.left());
    if (line::drawn()) {  // planning has brought code into memory that steps need too
      line::measure();
      line = nearest(budget);
      p = plan(batch, line.left());
    }
    if (p.step.program.again > 0 || p.step.program.parts > 1 || !p.fits) {
      if (give_up_all()) line = nearest(budget);
      p = plan(batch, line.left());
    }
    if (!p.fits) refuse(batch, line, p);
    return p.arena_line;
  }

  // The largest arena of the steps with `arena_line` for each, or as little as it can be where that is less.
  int64_t smallest_arena(int64_t arena_line) const {
    const int64_t batch = batch_of(data_);
    const StepForecast f = trainer_.forecast(kind_, types_of(data_, batch), arena_line, micro_batch_);
    return std::max(f.program.arena,
                    others(batch, validation_ ? batch_of(*validation_) : 0, arena_line).arena);
  }

  // The same for the device's own line.
  int64_t check_device() const {
    const DeviceAccount& account = trainer_.device()->account();
    if (account.limit() == account::kNoLimit) return account::kNoLimit;
    const int64_t batch = batch_of(data_);
    const Line line{account.used(), account.limit()};
    const StepPlan p = plan_on_device(batch, line.left());
    if (!p.fits) refuse_device(batch, line, p);
    return p.arena_line;
  }

 private:
  static int64_t batch_of(const Dataset& data) {
    return std::min(data.batch_size(), std::max<int64_t>(data.records().value_or(data.batch_size()), 1));
  }
  BatchTypes types_of(const Dataset& data, int64_t batch) const {
    BatchTypes types = BatchTypes::of(data.types(), batch);
    if (kind_ == StepKind::predict) types.y = types.weights = {};
    return types;
  }
  int64_t arena_held() const { return trainer_.device() ? 0 : trainer_.arena().bytes(); }
  std::string_view place() const {
    return kind_ == StepKind::train ? "fit" : kind_ == StepKind::test ? "evaluate" : "predict";
  }
  // What predict() hands out: those of one step, and all together.
  int64_t results(const StepForecast& f, int64_t batch) const {
    return f.results + f.results * ((data_.records().value_or(batch) + batch - 1) / batch);
  }

  // The steps beside the main one: the smaller last batch, and validation with its batches.
  struct Others {
    int64_t beside = 0;  // bytes they take beside the arena
    int64_t arena = 0;   // the largest of theirs, and what it would be without a line
    int64_t need = 0;
    bool fit = true;
  };
  Others others(int64_t batch, int64_t validation_batch, int64_t arena_line) const {
    Others all;
    const auto add = [&](StepKind kind, const BatchTypes& types) {
      StepForecast f = trainer_.forecast(kind, types, account::kNoLimit, micro_batch_);
      all.need = std::max(all.need, f.program.arena);
      if (!trainer_.device() && f.program.arena > arena_line)
        f = trainer_.forecast(kind, types, std::max<int64_t>(arena_line, 0), micro_batch_);
      all.fit = all.fit && f.program.fits;
      all.arena = std::max(all.arena, f.program.arena);
      all.beside += f.program_to_come;
    };
    if (const int64_t rest = data_.records().value_or(0) % batch; rest > 0) add(kind_, types_of(data_, rest));
    if (validation_ != nullptr && validation_batch > 0) {
      const BatchTypes types = types_of(*validation_, validation_batch);
      add(StepKind::test, types);
      if (const int64_t rest = validation_->records().value_or(0) % validation_batch; rest > 0)
        add(StepKind::test, types_of(*validation_, rest));
      all.beside += types.charge() * validation_->batches_held();
    }
    return all;
  }

  StepPlan plan(int64_t batch, int64_t left) const {
    return plan(batch, validation_ ? batch_of(*validation_) : 0, left);
  }

  // `left`: what may be taken beside what is held now. `validation_batch` 0: without.
  StepPlan plan(int64_t batch, int64_t validation_batch, int64_t left) const {
    const BatchTypes types = types_of(data_, batch);
    const int64_t batches = types.charge() * data_.batches_held();
    Others other = others(batch, validation_batch, account::kNoLimit);
    const auto beside = [&](const StepForecast& f) {
      return f.state_to_come + f.program_to_come + batches + results(f, batch) + other.beside;
    };
    const int64_t room = left + arena_held();
    if (trainer_.device()) {
      StepPlan p{.step = trainer_.forecast(kind_, types, account::kNoLimit, micro_batch_)};
      p.beside = p.need = beside(p.step);
      p.fits = p.beside <= room;
      return p;
    }
    StepPlan p = plan_step(trainer_, kind_, types, room, micro_batch_, beside);
    if (other.need == 0) return p;
    p.need = std::max(p.need, other.need + p.beside);
    // All are made under one line, which leaves room for all of their Programs.
    constexpr int kTries = 4;
    for (int i = 0; i < kTries; ++i) {
      other = others(batch, validation_batch, p.fits ? p.arena_line : p.step.program.arena);
      p.others_arena = other.arena;
      p.beside = beside(p.step);
      if (!p.fits || p.arena_line <= room - p.beside) break;
      lower_line(p, room - p.beside, trainer_, kind_, types, micro_batch_);
    }
    p.fits = p.fits && other.fit && std::max(other.arena, p.arena_line) <= room - p.beside;
    return p;
  }

  StepPlan plan_on_device(int64_t batch, int64_t left) const {
    const BatchTypes types = types_of(data_, batch);
    const auto beside = [&](const StepForecast& f) { return more_on_device(f, 2 * types.charge()); };
    return plan_step(trainer_, kind_, types, left + trainer_.device()->arena_bytes(), micro_batch_, beside);
  }

  // Beside the arena, what is not there yet; inputs have two places.
  int64_t more_on_device(const StepForecast& f, int64_t data) const {
    int64_t more = f.program_to_come == 0 ? 0 : f.program.constants + data;
    int64_t there = 0, all = f.state;
    for (const VariablePtr& v : trainer_.network()->all_variables())
      all += Buffer::charge_for(byte_size(v->value.dtype(), v->value.shape()));
    for (const std::vector<VariablePtr>& list :
         {trainer_.network()->all_variables(), trainer_.optimizer().variables(), trainer_.metric_states()}) {
      for (const VariablePtr& v : list) {
        if (v->value.buffer()->copy_on(trainer_.device().get()))
          there += byte_size(v->value.dtype(), v->value.shape());
      }
    }
    return more + std::max<int64_t>(all - there, 0);
  }

  [[noreturn]] void refuse(int64_t batch, const Line& line, const StepPlan& p) const {
    const int64_t validation_batch = validation_ ? batch_of(*validation_) : 0;
    if (validation_batch > 0 && plan(batch, 1, line.left()).fits)
      refuse_validation(batch, validation_batch, line, p);
    const int64_t held = line.held - arena_held();
    const int64_t largest = largest_batch(batch, [&](int64_t n) { return plan(n, line.left()).fits; });
    const int64_t least = least_line(batch, line);
    if (kind_ != StepKind::train) refuse_pass(batch, largest, least, line, p);
    const MemoryForecast f = forecast_of(batch);
    const int64_t need = std::max(held + p.need, least), own = process(line),
                  already = need - f.total() + f.process - own;
    throw MemoryLineError(
        "fit",
        concat("a batch of ", batch, " needs ", memory_text(need), ", allowed are ", memory_text(line.limit),
               " (weights ", memory_text(f.weights), ", optimizer and metrics ", memory_text(f.state),
               ", the step ", memory_text(f.arena), ", its Program ", memory_text(f.programs), ", batches ",
               memory_text(f.data),
               own > 0 ? concat(", the engine itself ", memory_text(own)) : std::string(),
               already > 0 ? concat(", held already ", memory_text(already)) : std::string(), "); ",
               rest(least, largest, f)),
        numbers(line, need, least, batch, largest, f.layers));
  }

  int64_t least_line(int64_t batch, Line line) const {
    int64_t noise = 0;
    if (line::drawn() && line.limit == account::limit()) {
      line::measure();
      line.held = account::used();
      noise = resident::noise();
    }
    return noise + line.held - arena_held() + least_room(plan(batch, -arena_held()), [&](int64_t room) {
             return plan(batch, room - arena_held());
           });
  }

  // Of what the line of the process counts: code, threads.
  static int64_t process(const Line& line) {
    return line.limit == account::limit() ? account::used(Owner::process) : 0;
  }

  // Training alone fits: a smaller batch of validation is what helps.
  [[noreturn]] void refuse_validation(int64_t batch, int64_t validation_batch, const Line& line,
                                      const StepPlan& p) const {
    const int64_t largest =
        largest_batch(validation_batch, [&](int64_t n) { return plan(batch, n, line.left()).fits; });
    const int64_t least = least_line(batch, line), need = std::max(line.held - arena_held() + p.need, least);
    const auto layers =
        trainer_
            .forecast(StepKind::test, types_of(*validation_, validation_batch), account::kNoLimit, false)
            .program.layers;
    throw MemoryLineError("fit",
                          concat("validation with a batch of ", validation_batch, " needs ",
                                 memory_text(need), ", allowed are ", memory_text(line.limit),
                                 "; training alone fits; the least line that would do is ",
                                 memory_text(least), "; ", fits_text(largest), " (validation_batch_size)"),
                          numbers(line, need, least, validation_batch, largest, layers));
  }

  [[noreturn]] void refuse_pass(int64_t batch, int64_t largest, int64_t least, const Line& line,
                                const StepPlan& p) const {
    const int64_t need = std::max(line.held - arena_held() + p.need, least);
    const int64_t results_bytes = results(p.step, batch);
    throw MemoryLineError(
        place(),
        concat("a batch of ", batch, " needs ", memory_text(need), ", allowed are ", memory_text(line.limit),
               " (the step ", memory_text(p.step.program.unlimited), ", its Program ",
               memory_text(p.step.program.program),
               results_bytes > 0 ? concat(", results ", memory_text(results_bytes)) : std::string(),
               ", held already ", memory_text(line.held), "); the least line that would do is ",
               memory_text(least), "; ", fits_text(largest)),
        numbers(line, need, least, batch, largest, p.step.program.layers));
  }

  [[noreturn]] void refuse_device(int64_t batch, const Line& line, const StepPlan& p) const {
    const int64_t held = line.held - trainer_.device()->arena_bytes();
    const int64_t there = trainer_.device()->arena_bytes();
    const int64_t least = held + least_room(plan_on_device(batch, -there), [&](int64_t room) {
                            return plan_on_device(batch, room - there);
                          });
    const MemoryForecast m = forecast_of(batch);
    const MemoryForecast::OnDevice& f = m.on_device;
    const int64_t largest =
        largest_batch(batch, [&](int64_t n) { return plan_on_device(n, line.left()).fits; });
    throw MemoryLineError(
        "fit",
        concat("a batch of ", batch, " needs ", memory_text(held + p.need), " on ", m.device,
               ", allowed are ", memory_text(line.limit), " (weights ", memory_text(f.weights),
               ", optimizer and metrics ", memory_text(f.state), ", the step ", memory_text(f.arena),
               ", batches ", memory_text(f.data), "); ", rest(least, largest, m)),
        numbers(line, held + p.need, least, batch, largest, m.layers));
  }

  MemoryForecast forecast_of(int64_t batch) const {
    const auto types = [&](int64_t n) { return types_of(data_, n); };
    return forecast_step(trainer_, types, batch, data_.batches_held(), account::kNoLimit, micro_batch_);
  }

  static std::string rest(int64_t least, int64_t largest, const MemoryForecast& f) {
    return concat("the least line that would do is ", memory_text(least), "; ", fits_text(largest),
                  "; heaviest layers: ", heaviest(f));
  }

  using Layers = std::vector<std::pair<std::string, int64_t>>;
  static MemoryLineError::Numbers numbers(const Line& line, int64_t need, int64_t least, int64_t batch,
                                          int64_t largest, Layers layers) {
    return {.line = line.limit,
            .need = need,
            .least = least,
            .batch = batch,
            .largest_batch = largest,
            .layers = std::move(layers)};
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
  for (std::string_view rest = memory; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    draw(one);
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
}

// "2GiB" or "cuda:0=2GiB".
void MemoryLine::draw(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    budget_ = std::make_shared<Budget>(parse_memory(line));
    return;
  }
  const std::shared_ptr<Device> device = find_device(line.substr(0, equals));
  require(device != nullptr, "memory", "expected a line of the host without a name, got '", line, "'");
  devices_.emplace_back(device, parse_bytes(line.substr(equals + 1), device->memory().total));
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
  try {
    trainer_.set_arena_line(account::kNoLimit, false);
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
  if (trainer_.device()) device_line_ = FitPlan(trainer_, micro_batch_, data, validation).check_device();
  if (budget_) {
    count_held(data, validation);
    scope_.emplace(budget_);
  }
  replan();
}

// What is planned under a line is planned as it is then made, but the refusal is the one with the numbers.
void MemoryLine::replan() {
  line_seen_ = line::version();
  int64_t line = device_line_;
  if (nearest(budget_.get()).limit != account::kNoLimit) {
    if (budget_) budget_->set_refusing(false);
    const int64_t host = FitPlan(trainer_, micro_batch_, *data_, validation_).check(budget_.get());
    if (!trainer_.device()) line = host;
  }
  // Without a line that somebody drew, nothing is cut.
  trainer_.set_arena_line(line, micro_batch_ && line != account::kNoLimit);
  if (budget_) budget_->set_refusing(true);
}

void MemoryLine::ready() {
  if (!line::drawn() || trainer_.device()) return;
  line::measure(true);
  if (account::used() > account::limit()) replan();
}

void MemoryLine::between_steps() {
  if (line_seen_ != line::version()) {
    line::apply();
    // Between two steps nothing in the arena is needed: planning has its bytes.
    if (account::used() > account::limit() && !trainer_.device()) trainer_.set_arena_line(0, micro_batch_);
    return replan();
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
  line::measure(true);
  const int64_t over = account::used() - account::limit();
  if (over <= 0 || shrink(over)) return;
  account::set_measured(Owner::process, before);
  warn("fit", "the process is ", memory_text(over), " over its line, and the step cannot take less");
}

// The arena by `bytes`, or as far as it goes; false if that is less.
bool MemoryLine::shrink(int64_t bytes) {
  const account::Planning planning;
  const int64_t arena = trainer_.arena().bytes(), wanted = std::max<int64_t>(arena - bytes, 0);
  const FitPlan plan(trainer_, micro_batch_, *data_, validation_);
  const int64_t line = std::max(plan.smallest_arena(wanted), wanted);
  if (line >= arena) return false;
  log(LogLevel::info, "fit", "memory is short: the step gives back ", memory_text(arena - line), " of ",
      memory_text(arena));
  trainer_.set_arena_line(line, micro_batch_);
  return line == wanted;
}

PassLine::PassLine(ModelBody& body, StepKind kind, const Dataset& data) : trainer_(body.trainer) {
  line::ensure();
  Budget* const budget = Budget::current().get();
  if (body.fitting || trainer_.device() || nearest(budget).limit == account::kNoLimit) return;
  trainer_.set_arena_line(FitPlan(trainer_, false, data, nullptr, kind).check(budget), false);
  drawn_ = true;
}

PassLine::~PassLine() {
  if (!drawn_) return;
  try {
    trainer_.set_arena_line(account::kNoLimit, false);
  } catch (const Error&) {
    // Another thread uses the model.
  }
}

}  // namespace plimsoll
