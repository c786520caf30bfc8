// fit, evaluate, predict.
#include <cstring>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "train/model_body.h"

namespace plimsoll {
namespace {

Logs run_epoch(ModelBody& body, const Dataset& data, int64_t epoch, const FitArgs& args) {
  body.trainer.reset_metrics();
  const std::unique_ptr<BatchReader> reader = data.read(epoch);
  Batch batch;
  for (int64_t step = 0; (args.steps_per_epoch == 0 || step < args.steps_per_epoch) && reader->next(batch); ++step) {
    for (const CallbackPtr& c : args.callbacks) c->on_train_batch_begin(step);
    body.trainer.step(StepKind::train, batch);
    if (!args.callbacks.empty()) {
      const Logs logs = body.trainer.logs();
      for (const CallbackPtr& c : args.callbacks) c->on_train_batch_end(step, logs);
    }
    if (body.stop_training) break;
  }
  return body.trainer.logs();
}

void record(History& history, int64_t epoch, const Logs& logs) {
  history.epoch.push_back(epoch);
  for (const auto& [name, value] : logs) {
    auto* values = static_cast<std::vector<double>*>(nullptr);
    for (auto& [key, list] : history.history) {
      if (key == name) values = &list;
    }
    if (values == nullptr) values = &history.history.emplace_back(name, std::vector<double>()).second;
    values->push_back(value);
  }
}

// Puts the rows of `part` behind the first `row` rows of `all`.
void put_rows(const Tensor& all, int64_t row, const Tensor& part) {
  const int64_t bytes = byte_size(part.dtype(), part.shape());
  const int64_t row_bytes = bytes / std::max<int64_t>(part.dim(0), 1);
  std::memcpy(static_cast<char*>(all.data()) + row * row_bytes, part.data(), static_cast<size_t>(bytes));
}

}  // namespace

History Model::fit(const Tensor& x, const Tensor& y, const FitArgs& args) {
  return fit(std::vector<Tensor>{x}, std::vector<Tensor>{y}, args);
}

History Model::fit(std::vector<Tensor> x, std::vector<Tensor> y, const FitArgs& args) {
  Dataset data = Dataset::arrays(std::move(x), std::move(y), args.sample_weight);
  if (args.shuffle) data = data.shuffle(args.seed.value_or(static_cast<uint64_t>(next_seed())));
  return fit(data.batch(args.batch_size), args);
}

History Model::fit(const Dataset& data, const FitArgs& args) {
  History history;
  body_->stop_training = false;
  for (const CallbackPtr& c : args.callbacks) {
    c->attach(this, {args.epochs, data.batches().value_or(0), args.verbose});
    c->on_train_begin();
  }
  Logs logs;
  for (int64_t epoch = args.initial_epoch; epoch < args.epochs && !body_->stop_training; ++epoch) {
    for (const CallbackPtr& c : args.callbacks) c->on_epoch_begin(epoch);
    logs = run_epoch(*body_, data, epoch, args);
    if (args.validation_data) {
      for (const auto& [name, value] : evaluate(*args.validation_data)) logs.emplace_back("val_" + name, value);
    }
    for (const CallbackPtr& c : args.callbacks) c->on_epoch_end(epoch, logs);
    record(history, epoch, logs);
  }
  for (const CallbackPtr& c : args.callbacks) c->on_train_end(logs);
  return history;
}

Logs Model::evaluate(const Tensor& x, const Tensor& y, const EvaluateArgs& args) {
  return evaluate(std::vector<Tensor>{x}, std::vector<Tensor>{y}, args);
}

Logs Model::evaluate(std::vector<Tensor> x, std::vector<Tensor> y, const EvaluateArgs& args) {
  return evaluate(Dataset::arrays(std::move(x), std::move(y), args.sample_weight).batch(args.batch_size), args);
}

Logs Model::evaluate(const Dataset& data, const EvaluateArgs& args) {
  body_->trainer.reset_metrics();
  const std::unique_ptr<BatchReader> reader = data.read();
  Batch batch;
  for (int64_t step = 0; (args.steps == 0 || step < args.steps) && reader->next(batch); ++step) {
    body_->trainer.step(StepKind::test, batch);
  }
  return body_->trainer.logs();
}

Tensor Model::predict(const Tensor& x, const PredictArgs& args) {
  std::vector<Tensor> ys = predict(std::vector<Tensor>{x}, args);
  require(ys.size() == 1, name(), "has ", ys.size(), " outputs: call predict with a list");
  return ys[0];
}

std::vector<Tensor> Model::predict(std::vector<Tensor> x, const PredictArgs& args) {
  return predict(Dataset::arrays(std::move(x)).batch(args.batch_size), args);
}

std::vector<Tensor> Model::predict(const Dataset& data, const PredictArgs& args) {
  const std::unique_ptr<BatchReader> reader = data.read();
  const std::optional<int64_t> records = data.records();
  require(records.has_value(), "predict", "the number of records must be known");
  std::vector<Tensor> all;
  Batch batch;
  int64_t row = 0;
  for (int64_t step = 0; (args.steps == 0 || step < args.steps) && reader->next(batch); ++step) {
    const std::vector<Tensor> ys = body_->trainer.predict(batch.x);
    for (size_t i = 0; i < ys.size(); ++i) {
      if (all.size() <= i) all.push_back(Tensor::empty(ys[i].dtype(), ys[i].shape().with(0, *records)));
      put_rows(all[i], row, ys[i]);
    }
    row += batch.size();
  }
  return all;
}

Logs Model::train_on_batch(const std::vector<Tensor>& x, const std::vector<Tensor>& y, const std::vector<Tensor>& weight) {
  body_->trainer.reset_metrics();
  body_->trainer.step(StepKind::train, {x, y, weight});
  return body_->trainer.logs();
}

Logs Model::test_on_batch(const std::vector<Tensor>& x, const std::vector<Tensor>& y, const std::vector<Tensor>& weight) {
  body_->trainer.reset_metrics();
  body_->trainer.step(StepKind::test, {x, y, weight});
  return body_->trainer.logs();
}

std::vector<Tensor> Model::predict_on_batch(const std::vector<Tensor>& x) { return body_->trainer.predict(x); }

}  // namespace plimsoll
