#include "train/fit_loop.h"

#include <algorithm>

#include "plimsoll/error.h"
#include "train/interrupt.h"

namespace plimsoll {
namespace {

int64_t steps_of(const Dataset& data, const FitArgs& args) {
  return args.steps_per_epoch > 0 ? args.steps_per_epoch : data.batches().value_or(0);
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

// What fit() leaves behind it in the body, whatever ended it.
struct Ending {
  explicit Ending(ModelBody& body) : body(body) {}
  ~Ending() {
    body.callbacks.clear();
    body.callback_states.clear();
    body.trainer.set_class_weight({});
  }
  ModelBody& body;
};

}  // namespace

FitLoop::FitLoop(Model& model, const FitArgs& args, MakeData data, std::unique_ptr<const Dataset> validation)
    : model_(model),
      body_(model.body()),
      args_(args),
      make_data_(std::move(data)),
      validation_(std::move(validation)),
      line_(args.memory),
      bar_(body_.trainer, args.verbose, 0, args.epochs) {
  require(body_.trainer.compiled(), "fit",
          "the model is not compiled; call compile() with an optimizer and a loss first");
  require(args.epochs >= 0 && args.initial_epoch >= 0, "fit", "expected epochs >= 0, got ", args.epochs);
  require(args.validation_freq >= 1, "fit", "expected validation_freq >= 1, got ", args.validation_freq);
  for (const CallbackPtr& c : args.callbacks) {
    require(c != nullptr, "fit", "expected a callback, got none");
    wants_logs_ = wants_logs_ || c->wants_batch_logs();
  }
}

// Everything that can be refused is refused here, before anything has changed.
void FitLoop::begin() {
  FitPosition& p = body_.position;
  p = {.epoch = args_.initial_epoch, .data_epoch = args_.initial_epoch};
  p.data_seed = args_.seed.value_or(static_cast<uint64_t>(next_seed()));
  data_ = std::make_unique<const Dataset>(make_data_(p.data_seed));
  body_.trainer.set_class_weight(args_.class_weight);
  int64_t batch = data_->batch_size();
  if (const std::optional<int64_t> records = data_->records())
    batch = std::min(batch, std::max<int64_t>(*records, 1));
  line_.check(body_.trainer, *data_);
  body_.trainer.prepare(StepKind::train, BatchTypes::of(data_->types(), batch));

  body_.stop_training = body_.interrupted = false;
  body_.callbacks = args_.callbacks;
  std::stable_partition(body_.callbacks.begin(), body_.callbacks.end(),
                        [](const CallbackPtr& c) { return !c->comes_last(); });
  body_.callback_states.clear();
  const int64_t steps = steps_of(*data_, args_);
  bar_ = ProgressBar(body_.trainer, args_.verbose, steps, args_.epochs);
  each([&](Callback& c) { c.attach(&model_, {args_.epochs, steps, args_.verbose}); });
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
  if (!reader_) reader_ = data_->read(p.data_epoch, p.data_batch);
  if (!reader_->next(batch_)) return false;
  const int64_t index = p.step;
  each([&](Callback& c) { c.on_train_batch_begin(index); });
  body_.trainer.step(StepKind::train, batch_);
  ++p.step;
  ++p.data_batch;
  bar_.step(p.step);
  if (args_.callbacks.empty()) return true;
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
  while (more && !stopped() && (most == 0 || p.step < most)) more = step();
  // With steps_per_epoch the next epoch goes on in the data where this one stopped, until it has been seen
  // whole.
  const bool seen = !more || most == 0 || (data_->batches() && p.data_batch >= *data_->batches());
  require(p.step > 0 || more, "fit", "the data set is empty");
  if (seen && !stopped()) {
    reader_.reset();
    ++p.data_epoch;
    p.data_batch = 0;
  }
  return body_.trainer.logs();
}

void FitLoop::validate(Logs& logs) {
  if (!validation_ || (body_.position.epoch + 1) % args_.validation_freq != 0) return;
  each([](Callback& c) { c.on_test_begin(); });
  const Logs values = model_.evaluate(*validation_, {.steps = args_.validation_steps});
  each([&](Callback& c) { c.on_test_end(values); });
  for (const auto& [name, value] : values) logs.emplace_back("val_" + name, value);
}

History FitLoop::run() {
  const Ending ending(body_);
  const InterruptWatch watch;
  History history;
  begin();
  FitPosition& p = body_.position;
  Logs logs;
  while (p.epoch < args_.epochs && !stopped()) {
    logs = run_epoch();
    if (!InterruptWatch::interrupted()) validate(logs);
    const int64_t epoch = p.epoch;
    if (!stopped()) {
      p.step = 0;
      ++p.epoch;
    }
    each([&](Callback& c) { c.on_epoch_end(epoch, logs); });
    bar_.end_epoch(logs);
    record(history, epoch, logs);
  }
  history.interrupted = body_.interrupted = InterruptWatch::interrupted();
  reader_.reset();
  if (args_.epochs > 0) body_.trainer.optimizer().finalize(body_.network->trainable_weights());
  each([&](Callback& c) { c.on_train_end(logs); });
  return history;
}

}  // namespace plimsoll
