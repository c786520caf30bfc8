#include "train/memory_line.h"

#include <algorithm>
#include <set>

#include "common/bytes.h"
#include "device/device.h"
#include "memory/arena.h"
#include "memory/buffer.h"
#include "plimsoll/devices.h"
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
  int64_t more;       // bytes at most beside what is held now
  int64_t on_device;  // the same on the device, where there is one
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

MemoryForecast on_host(const Trainer& trainer, const StepForecast& f, int64_t data) {
  return {.weights = charge_of(trainer.network()->all_variables()),
          .state = f.state,
          .arena = f.program.arena,
          .constants = f.program.constants,
          .programs = f.program.program,
          .data = data,
          .layers = f.program.layers};
}

// What a device holds while batches of these types are trained on; inputs have two places.
MemoryForecast::OnDevice device_forecast(const StepForecast& f, int64_t weights, int64_t batch) {
  return {.weights = weights,
          .state = f.state,
          .arena = f.program.arena,
          .constants = f.program.constants,
          .data = 2 * batch};
}

// Bytes of it that are not there yet.
int64_t more_on_device(const Trainer& trainer, const StepForecast& f, const MemoryForecast::OnDevice& all) {
  int64_t there = std::min(trainer.device()->arena_bytes(), all.arena);
  for (const std::vector<VariablePtr>& list :
       {trainer.network()->all_variables(), trainer.optimizer().variables(), trainer.metric_states()}) {
    for (const VariablePtr& v : list) {
      if (v->value.buffer()->copy_on(trainer.device().get()))
        there += byte_size(v->value.dtype(), v->value.shape());
    }
  }
  if (f.program_to_come == 0) there += all.constants + all.data;
  return std::max<int64_t>(all.total() - there, 0);
}

MemoryForecast as_forecast(const Trainer& trainer, const StepForecast& f, const BatchTypes& types,
                           int64_t batches_held) {
  MemoryForecast m = on_host(trainer, f, types.charge() * batches_held);
  if (!trainer.device()) return m;
  m.device = trainer.device()->name();
  m.on_device = device_forecast(f, m.weights, types.charge());
  m.arena = m.constants = 0;
  return m;
}

// Steps over batches of `batch` records, and over the smaller last one.
Needed needed(const Trainer& trainer, const Dataset& data, int64_t batch) {
  const BatchTypes types = BatchTypes::of(data.types(), batch);
  const StepForecast f = trainer.forecast(StepKind::train, types);
  Needed n{as_forecast(trainer, f, types, data.batches_held()), 0, 0};
  int64_t programs_to_come = f.program_to_come;
  if (const int64_t rest = data.records().value_or(0) % batch; rest > 0) {
    const StepForecast last = trainer.forecast(StepKind::train, BatchTypes::of(data.types(), rest));
    n.step.constants += last.program.constants;
    n.step.programs += last.program.program;
    programs_to_come += last.program_to_come;
  }
  if (trainer.device()) n.on_device = more_on_device(trainer, f, n.step.on_device);
  const int64_t arena = trainer.arena().bytes();
  n.more = std::max<int64_t>(n.step.arena - arena, 0) + f.state_to_come + programs_to_come + n.step.data;
  return n;
}

// The largest batch below `batch` that needs no more than `left` of `what`, 0 if none: what a step needs
// grows with the batch.
int64_t largest_batch(const Trainer& trainer, const Dataset& data, int64_t batch, int64_t Needed::*what,
                      int64_t left) {
  int64_t fits = 0, too_large = batch;
  while (too_large - fits > 1) {
    const int64_t middle = fits + (too_large - fits) / 2;
    (needed(trainer, data, middle).*what <= left ? fits : too_large) = middle;
  }
  return fits;
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
  const int64_t fits = largest_batch(trainer, data, batch_size, &Needed::more, line.left());
  const int64_t bytes = line.held + n.more;
  const int64_t held = bytes - f.total();
  fail(ErrorKind::out_of_memory, "fit", "a batch of ", batch_size, " needs ", memory_text(bytes),
       ", allowed are ", memory_text(line.limit), " (weights ", memory_text(f.weights),
       ", optimizer and metrics ", memory_text(f.state), ", the step ", memory_text(f.arena),
       ", its Program ", memory_text(f.programs), ", batches ", memory_text(f.data),
       held > 0 ? concat(", held already ", memory_text(held)) : std::string(), "); ", fits_text(fits),
       "; heaviest layers: ", heaviest(f));
}

// The same for the device's own line.
void check_device(const Trainer& trainer, const Dataset& data) {
  DeviceAccount& account = trainer.device()->account();
  if (account.limit() == account::kNoLimit) return;
  const int64_t batch =
      std::min(data.batch_size(), std::max<int64_t>(data.records().value_or(data.batch_size()), 1));
  const int64_t left = account.limit() - account.used();
  const Needed n = needed(trainer, data, batch);
  if (n.on_device <= left) return;
  const MemoryForecast::OnDevice& f = n.step.on_device;
  fail(ErrorKind::out_of_memory, "fit", "a batch of ", batch, " needs ",
       memory_text(account.used() + n.on_device), " on ", n.step.device, ", allowed are ",
       memory_text(account.limit()), " (weights ", memory_text(f.weights), ", optimizer and metrics ",
       memory_text(f.state), ", the step ", memory_text(f.arena), ", batches ", memory_text(f.data), "); ",
       fits_text(largest_batch(trainer, data, batch, &Needed::on_device, left)),
       "; heaviest layers: ", heaviest(n.step));
}

}  // namespace

MemoryForecast forecast_step(const Trainer& trainer, const BatchTypes& types, int64_t batches_held) {
  return as_forecast(trainer, trainer.forecast(StepKind::train, types), types, batches_held);
}

MemoryLine::MemoryLine(const std::string& memory, Trainer& trainer) : trainer_(trainer) {
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
  if (trainer_.device()) check_device(trainer_, data);
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
