#include "train/memory_line.h"

#include <algorithm>
#include <set>

#include "common/bytes.h"
#include "device/device.h"
#include "memory/arena.h"
#include "memory/buffer.h"
#include "memory/line.h"
#include "plimsoll/devices.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
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

// What the steps of a fit() hold, planned under its line.
class FitPlan {
 public:
  FitPlan(const Trainer& trainer, bool micro_batch, const Dataset& data, const Dataset* validation)
      : trainer_(trainer), micro_batch_(micro_batch), data_(data), validation_(validation) {}

  // Throws MemoryLineError if it cannot be held; else what the arena may have.
  int64_t check(const Budget* budget) const {
    const int64_t batch = batch_of(data_);
    Line line = nearest(budget);
    StepPlan p = plan(batch, line.left());
    if (p.step.program.again > 0 || p.step.program.parts > 1 || !p.fits) {
      if (give_up_all()) line = nearest(budget);
      p = plan(batch, line.left());
    }
    if (!p.fits) refuse(batch, line, p);
    return p.arena_line;
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
  static BatchTypes types_of(const Dataset& data, int64_t batch) {
    return BatchTypes::of(data.types(), batch);
  }
  int64_t arena_held() const { return trainer_.device() ? 0 : trainer_.arena().bytes(); }

  // Programs of the smaller last batch and of validation, and the batches of the latter, beside `arena`.
  int64_t beside_steps(int64_t batch, int64_t arena_line, bool* fit) const {
    int64_t sum = 0;
    const auto add = [&](StepKind kind, const BatchTypes& types) {
      StepForecast f = trainer_.forecast(kind, types, account::kNoLimit, micro_batch_);
      if (!trainer_.device() && f.program.arena > arena_line)
        f = trainer_.forecast(kind, types, std::max<int64_t>(arena_line, 0), micro_batch_);
      *fit = *fit && f.program.fits;
      sum += f.program_to_come;
    };
    if (const int64_t rest = data_.records().value_or(0) % batch; rest > 0)
      add(StepKind::train, types_of(data_, rest));
    if (validation_ != nullptr) {
      const BatchTypes types = types_of(*validation_, batch_of(*validation_));
      add(StepKind::test, types);
      sum += types.charge() * validation_->batches_held();
    }
    return sum;
  }

  // `left`: what may be taken beside what is held now.
  StepPlan plan(int64_t batch, int64_t left) const {
    const BatchTypes types = types_of(data_, batch);
    const int64_t batches = types.charge() * data_.batches_held();
    bool others_fit = true;
    int64_t others = beside_steps(batch, account::kNoLimit, &others_fit);
    const auto beside = [&](const StepForecast& f) {
      return f.state_to_come + f.program_to_come + batches + others;
    };
    const int64_t room = left + arena_held();
    if (trainer_.device()) {
      StepPlan p{.step = trainer_.forecast(StepKind::train, types, account::kNoLimit, micro_batch_)};
      p.beside = p.need = beside(p.step);
      p.fits = p.beside <= room;
      return p;
    }
    StepPlan p = plan_step(trainer_, StepKind::train, types, room, micro_batch_, beside);
    if (others == 0) return p;
    others = beside_steps(batch, p.fits ? p.arena_line : p.step.program.arena, &others_fit);
    p.beside = beside(p.step);
    if (!p.fits) return p;
    p.arena_line = std::min(p.arena_line, room - p.beside);
    p.fits = others_fit && p.step.program.arena <= p.arena_line;
    return p;
  }

  StepPlan plan_on_device(int64_t batch, int64_t left) const {
    const BatchTypes types = types_of(data_, batch);
    const auto beside = [&](const StepForecast& f) { return more_on_device(f, 2 * types.charge()); };
    return plan_step(trainer_, StepKind::train, types, left + trainer_.device()->arena_bytes(), micro_batch_,
                     beside);
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
    const int64_t held = line.held - arena_held();
    const int64_t largest = largest_batch(batch, [&](int64_t n) { return plan(n, line.left()).fits; });
    const int64_t least = held + least_room(plan(batch, -arena_held()),
                                            [&](int64_t room) { return plan(batch, room - arena_held()); });
    const MemoryForecast f = forecast_of(batch);
    const int64_t need = held + p.need, already = need - f.total();
    throw MemoryLineError(
        "fit",
        concat("a batch of ", batch, " needs ", memory_text(need), ", allowed are ", memory_text(line.limit),
               " (weights ", memory_text(f.weights), ", optimizer and metrics ", memory_text(f.state),
               ", the step ", memory_text(f.arena), ", its Program ", memory_text(f.programs), ", batches ",
               memory_text(f.data),
               already > 0 ? concat(", held already ", memory_text(already)) : std::string(), "); ",
               rest(least, largest, f)),
        numbers(line, need, least, batch, largest, f));
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
        numbers(line, held + p.need, least, batch, largest, m));
  }

  MemoryForecast forecast_of(int64_t batch) const {
    const auto types = [&](int64_t n) { return types_of(data_, n); };
    return forecast_step(trainer_, types, batch, data_.batches_held(), account::kNoLimit, micro_batch_);
  }

  static std::string rest(int64_t least, int64_t largest, const MemoryForecast& f) {
    return concat("the least line that would do is ", memory_text(least), "; ", fits_text(largest),
                  "; heaviest layers: ", heaviest(f));
  }

  static MemoryLineError::Numbers numbers(const Line& line, int64_t need, int64_t least, int64_t batch,
                                          int64_t largest, const MemoryForecast& f) {
    return {.line = line.limit,
            .need = need,
            .least = least,
            .batch = batch,
            .largest_batch = largest,
            .layers = f.layers};
  }

  const Trainer& trainer_;
  bool micro_batch_;
  const Dataset& data_;
  const Dataset* validation_;
};

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
  const FitPlan plan(trainer_, micro_batch_, data, validation);
  int64_t line = account::kNoLimit;
  if (trainer_.device()) line = plan.check_device();
  if (budget_) count_held(data, validation);
  if (nearest(budget_.get()).limit != account::kNoLimit) {
    // What is planned under a line is planned as it is then made, but the refusal is the one with the
    // numbers.
    if (budget_) {
      scope_.emplace(budget_);
      budget_->set_refusing(false);
    }
    const int64_t host = plan.check(budget_.get());
    if (!trainer_.device()) line = host;
  }
  // Without a line that somebody drew, nothing is cut.
  trainer_.set_arena_line(line, micro_batch_ && line != account::kNoLimit);
  if (budget_) budget_->set_refusing(true);
}

}  // namespace plimsoll
