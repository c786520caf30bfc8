#include "train/fit_loop.h"

#include <algorithm>

#include "common/log.h"
#include "memory/planning.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "train/interrupt.h"
#include "train/step_plan.h"
#include "train/test_loop.h"

namespace plimsoll {
namespace {

int64_t steps_of(const Dataset& data, const FitArgs& args) {
  return args.steps_per_epoch > 0 ? args.steps_per_epoch : data.batches().value_or(0);
}

BatchTypes first_batch(const Dataset& data) {
  const int64_t most = std::max<int64_t>(data.records().value_or(data.batch_size()), 1);
  return BatchTypes::of(data.types(), std::min(data.batch_size(), most));
}

void record(History& history, int64_t epoch, const Logs& logs) {
  history.epoch.push_back(epoch);
  for (const auto& [name, value] : logs) {
    const auto found = std::find_if(history.history.begin(), history.history.end(),
                                    [&name = name](const auto& h) { return h.first == name; });
    if (found != history.history.end()) {
      found->second.push_back(value);
    } else {
      history.history.emplace_back(name, std::vector<double>{value});
    }
  }
}

// The body while fit() runs, and what fit() leaves behind in it, whatever ended it.
struct Running {
  explicit Running(ModelBody& body) : body(body) { body.fitting = true; }
  ~Running() {
    body.fitting = false;
    body.callbacks.clear();
    body.callback_states.clear();
    body.trainer.set_class_weight({});
  }
  ModelBody& body;
};

}  // namespace

FitLoop::FitLoop(Model model, const FitArgs& args, MakeData data, std::unique_ptr<const Dataset> validation)
    : model_(std::move(model)),
      body_(model_.body()),
      args_(args),
      make_data_(std::move(data)),
      validation_(std::move(validation)),
      nans_(body_.trainer, args.on_nan, args.hold_updates),
      watch_(args),
      line_(args.memory, may_cut_batch(args.micro_batch), body_.trainer),
      wants_logs_(false),
      bar_(body_.trainer, args.verbose, 0, args.epochs) {
  require(body_.trainer.compiled(), "fit",
          "the model is not compiled; call compile() with an optimizer and a loss first");
  require(!body_.fitting, "fit", "is running on this model already: a callback cannot fit its own model");
  require(args.epochs >= 0 && args.initial_epoch >= 0, "fit", "expected epochs >= 0, got ", args.epochs);
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, int64_t>>{
           {"steps_per_epoch", args.steps_per_epoch},
           {"validation_steps", args.validation_steps},
           {"validation_batch_size", args.validation_batch_size}})
    require(value >= 0, "fit", "expected ", name, " >= 0, got ", value);
  require(args.validation_freq >= 1, "fit", "expected validation_freq >= 1, got ", args.validation_freq);
  check_callbacks("fit", args.callbacks);
  wants_logs_ = want_batch_logs(args.callbacks);
  for (const CallbackPtr& c : args.callbacks) {
    const double every = c->memory_every();
    if (every >= 0 && (memory_every_ < 0 || every < memory_every_)) memory_every_ = every;
  }
}

void FitLoop::tell_memory(bool now) {
  if (memory_every_ < 0) return;
  const double seconds = steady_seconds();
  if (!now && seconds - memory_told_ < memory_every_) return;
  memory_told_ = seconds;
  const MemoryUse use = memory_use();
  each([&](Callback& c) { c.on_memory(use); });
}

void FitLoop::plan() {
  FitPosition& p = body_.position;
  p = {.epoch = args_.initial_epoch, .data_epoch = args_.initial_epoch};
  p.data_seed = args_.seed.value_or(static_cast<uint64_t>(next_seed()));
  data_ = std::make_unique<const Dataset>(make_data_(p.data_seed));
  body_.trainer.set_class_weight(args_.class_weight);
  nans_.begin();
  if (!args_.spill.empty()) {
    const account::Planning
        planning;  // the window too is planned for below, with the numbers if it does not fit
    body_.trainer.spill_to(args_.spill);
  }
  line_.begin(*data_, validation_.get());
}

void FitLoop::check() {
  const Running running(body_);
  plan();
}

// Everything that can be refused is refused here, before anything has changed.
void FitLoop::begin() {
  {
    const account::Planning planning;  // a trace too is planned for below
    watch_.begin();
  }
  plan();
  line_.make_steps();
  body_.trainer.prepare(StepKind::train, first_batch(*data_));
  if (validation_) body_.trainer.prepare(StepKind::test, first_batch(*validation_));
  line_.ready();

  body_.stop_training = body_.interrupted = false;
  body_.callbacks = args_.callbacks;
  std::stable_partition(body_.callbacks.begin(), body_.callbacks.end(),
                        [](const CallbackPtr& c) { return !c->comes_last(); });
  body_.callback_states.clear();
  const int64_t steps = steps_of(*data_, args_);
  bar_ = ProgressBar(body_.trainer, args_.verbose, steps, args_.epochs);
  each([&](Callback& c) { c.attach(model_, {args_.epochs, steps, args_.verbose}); });
  FitPosition& p = body_.position;
  const uint64_t seed = p.data_seed;
  each([](Callback& c) { c.on_train_begin(); });
  for (size_t i = 0; i < body_.callback_states.size(); ++i)
    body_.callbacks[i]->set_state(body_.callback_states[i]);
  if (p.data_seed != seed) data_ = std::make_unique<const Dataset>(make_data_(p.data_seed));
}

bool FitLoop::stopped() const { return body_.stop_training || InterruptWatch::interrupted(); }

// One batch; false at the end of the data.
bool FitLoop::step() {
  FitPosition& p = body_.position;
  line_.between_steps();
  watch_.enter(FitWatch::Doing::data);
  if (!reader_) reader_ = data_->read(p.data_epoch, p.data_batch);
  if (!reader_->next(batch_)) return false;
  const int64_t index = p.step;
  if (!args_.callbacks.empty()) watch_.enter(FitWatch::Doing::callbacks);
  each([&](Callback& c) { c.on_train_batch_begin(index); });
  watch_.enter(FitWatch::Doing::step);
  body_.trainer.step(StepKind::train, batch_);
  watch_.stepped(body_.trainer.expected_seconds());
  nans_.after(batch_, p.epoch, index);
  ++p.step;
  ++p.data_batch;
  bar_.step(p.step);
  if (args_.callbacks.empty()) return true;
  watch_.enter(FitWatch::Doing::callbacks);
  tell_memory(false);
  if (!wants_logs_) {
    each([&](Callback& c) { c.on_train_batch_end(index, no_logs_); });
  } else {
    const Logs logs = body_.trainer.logs();
    each([&](Callback& c) { c.on_train_batch_end(index, logs); });
  }
  return true;
}

Logs FitLoop::run_epoch() {
  FitPosition& p = body_.position;
  if (p.step == 0) body_.trainer.reset_metrics();  // else resumed in the middle: the sums stand
  each([&](Callback& c) { c.on_epoch_begin(p.epoch); });
  bar_.begin_epoch(p.epoch);
  const int64_t most = args_.steps_per_epoch;
  bool more = true;
  // As in Keras, a callback's word to stop is heard after a step.
  for (bool stop = InterruptWatch::interrupted(); more && !stop && (most == 0 || p.step < most);
       stop = stopped())
    more = step();
  // With steps_per_epoch the next epoch goes on in the data where this one stopped, until it has been seen
  // whole.
  const bool seen = !more || most == 0 || (data_->batches() && p.data_batch >= *data_->batches());
  require(p.step > 0 || more, "fit", "expected data, got none: the data set is empty");
  if (seen && !stopped()) {
    reader_.reset();
    ++p.data_epoch;
    p.data_batch = 0;
  }
  return body_.trainer.logs();
}

void FitLoop::validate(Logs& logs) {
  if (!validation_ || (body_.position.epoch + 1) % args_.validation_freq != 0) return;
  watch_.enter(FitWatch::Doing::validation);
  const Logs values = run_test(body_, {*validation_, args_.validation_steps, 0, body_.callbacks});
  for (const auto& [name, value] : values) logs.emplace_back("val_" + name, value);
}

History FitLoop::run() {
  const Running running(body_);
  const InterruptWatch watch;
  History history;
  begin();
  FitPosition& p = body_.position;
  Logs logs;
  // A run that is resumed after its end stays ended.
  bool ended = !body_.callback_states.empty() && body_.stop_training;
  for (; p.epoch < args_.epochs && !ended && !InterruptWatch::interrupted(); ended = stopped()) {
    watch_.begin_epoch(p.epoch);
    logs = run_epoch();
    if (!InterruptWatch::interrupted()) validate(logs);
    const int64_t epoch = p.epoch;
    if (!stopped()) {
      p.step = 0;
      ++p.epoch;
    }
    watch_.enter(FitWatch::Doing::callbacks);
    tell_memory(true);
    each([&](Callback& c) { c.on_epoch_end(epoch, logs); });
    bar_.end_epoch(logs);
    record(history, epoch, logs);
    watch_.end_epoch();
  }
  history.interrupted = body_.interrupted = InterruptWatch::interrupted();
  history.left_out = nans_.left_out();
  if (history.left_out > 1) warn("fit", history.left_out, " steps were not finite and left out");
  reader_.reset();
  if (args_.epochs > 0) body_.trainer.optimizer().finalize(body_.network->trainable_weights());
  each([&](Callback& c) { c.on_train_end(logs); });
  watch_.end();
  return history;
}

}  // namespace plimsoll
