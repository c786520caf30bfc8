// fit, evaluate, predict.
#include <cmath>
#include <cstring>

#include "common/no_memory.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "train/fit_loop.h"
#include "train/model_body.h"

namespace plimsoll {
namespace {

// Puts the rows of `part` behind the first `row` rows of `all`.
void put_rows(const Tensor& all, int64_t row, const Tensor& part) {
  const int64_t bytes = byte_size(part.dtype(), part.shape());
  const int64_t row_bytes = bytes / std::max<int64_t>(part.dim(0), 1);
  std::memcpy(static_cast<char*>(all.data()) + row * row_bytes, part.data(), static_cast<size_t>(bytes));
}

// Results whose number is not known beforehand: kept batch by batch, put together at the end.
std::vector<Tensor> joined(const std::vector<std::vector<Tensor>>& parts, int64_t rows) {
  std::vector<Tensor> all;
  for (size_t i = 0; !parts.empty() && i < parts[0].size(); ++i) {
    all.push_back(Tensor::empty(parts[0][i].dtype(), parts[0][i].shape().with(0, rows)));
    int64_t row = 0;
    for (const std::vector<Tensor>& part : parts) {
      put_rows(all[i], row, part[i]);
      row += part[i].dim(0);
    }
  }
  return all;
}

// Keras takes the last part of the arrays for validation, before any shuffling.
int64_t rows_to_train(const std::vector<Tensor>& x, double split) {
  require(split >= 0 && split < 1, "fit", "expected a validation_split of at least 0 and below 1, got ",
          split);
  require(!x.empty() && x[0].rank() > 0, "fit", "expected an array of samples");
  const int64_t rows = x[0].dim(0);
  const auto kept = static_cast<int64_t>(std::floor(static_cast<double>(rows) * (1.0 - split)));
  require(kept > 0 && (split == 0 || kept < rows), "fit", "a validation_split of ", split, " of ", rows,
          " samples leaves nothing");
  return kept;
}

std::unique_ptr<const Dataset> given_validation(const FitArgs& args, int64_t batch) {
  if (!args.validation_x.empty()) {
    return std::make_unique<const Dataset>(
        Dataset::arrays(args.validation_x, args.validation_y, args.validation_weights).batch(batch));
  }
  return args.validation_data ? std::make_unique<const Dataset>(*args.validation_data) : nullptr;
}

}  // namespace

History Model::fit(const Tensor& x, const Tensor& y, const FitArgs& args) try {
  return fit(std::vector<Tensor>{x}, std::vector<Tensor>{y}, args);
} catch (const std::bad_alloc&) {
  no_memory("fit");
}

History Model::fit(std::vector<Tensor> x, std::vector<Tensor> y, const FitArgs& args) try {
  require(args.batch_size > 0, "fit", "expected a batch_size > 0, got ", args.batch_size);
  require(args.class_weight.empty() || args.sample_weight.empty(), "fit",
          "class_weight and sample_weight cannot both be given");
  Dataset all = Dataset::arrays(x, std::move(y), args.sample_weight);
  const int64_t validation_batch =
      args.validation_batch_size > 0 ? args.validation_batch_size : args.batch_size;
  std::unique_ptr<const Dataset> validation = given_validation(args, validation_batch);
  if (!validation && args.validation_split > 0) {
    const int64_t kept = rows_to_train(x, args.validation_split);
    validation = std::make_unique<const Dataset>(all.skip(kept).batch(validation_batch));
    all = all.take(kept);
  }
  const auto make = [&](uint64_t seed) {
    return (args.shuffle ? all.shuffle(seed) : all).batch(args.batch_size);
  };
  return FitLoop(*this, args, make, std::move(validation)).run();
} catch (const std::bad_alloc&) {
  no_memory("fit");
}

History Model::fit(const Dataset& data, const FitArgs& args) try {
  require(args.validation_split == 0, "fit", "validation_split needs arrays; give validation_data");
  require(args.sample_weight.empty(), "fit", "sample weights belong into the data set");
  const int64_t batch = args.validation_batch_size > 0 ? args.validation_batch_size : data.batch_size();
  return FitLoop(
             *this, args, [&](uint64_t) { return data; }, given_validation(args, batch))
      .run();
} catch (const std::bad_alloc&) {
  no_memory("fit");
}

Logs Model::evaluate(const Tensor& x, const Tensor& y, const EvaluateArgs& args) try {
  return evaluate(std::vector<Tensor>{x}, std::vector<Tensor>{y}, args);
} catch (const std::bad_alloc&) {
  no_memory("evaluate");
}

Logs Model::evaluate(std::vector<Tensor> x, std::vector<Tensor> y, const EvaluateArgs& args) try {
  return evaluate(Dataset::arrays(std::move(x), std::move(y), args.sample_weight).batch(args.batch_size),
                  args);
} catch (const std::bad_alloc&) {
  no_memory("evaluate");
}

Logs Model::evaluate(const Dataset& data, const EvaluateArgs& args) try {
  Trainer& trainer = body_->trainer;
  require(trainer.compiled(), "evaluate",
          "the model is not compiled; call compile() with an optimizer and a loss first");
  trainer.reset_metrics();
  const std::unique_ptr<BatchReader> reader = data.read();
  ProgressBar bar(trainer, args.verbose, args.steps > 0 ? args.steps : data.batches().value_or(0), 1);
  bar.begin_pass();
  Batch batch;
  for (int64_t step = 0; (args.steps == 0 || step < args.steps) && reader->next(batch); ++step) {
    trainer.step(StepKind::test, batch);
    bar.step(step + 1);
  }
  const Logs logs = trainer.logs();
  bar.end_epoch(logs);
  return logs;
} catch (const std::bad_alloc&) {
  no_memory("evaluate");
}

Tensor Model::predict(const Tensor& x, const PredictArgs& args) try {
  std::vector<Tensor> ys = predict(std::vector<Tensor>{x}, args);
  require(ys.size() == 1, name(), "has ", ys.size(), " outputs: call predict with a list");
  return ys[0];
} catch (const std::bad_alloc&) {
  no_memory("predict");
}

std::vector<Tensor> Model::predict(std::vector<Tensor> x, const PredictArgs& args) try {
  return predict(Dataset::arrays(std::move(x)).batch(args.batch_size), args);
} catch (const std::bad_alloc&) {
  no_memory("predict");
}

std::vector<Tensor> Model::predict(const Dataset& data, const PredictArgs& args) try {
  const std::unique_ptr<BatchReader> reader = data.read();
  ProgressBar bar(body_->trainer, args.verbose, args.steps > 0 ? args.steps : data.batches().value_or(0), 1);
  bar.begin_pass();
  const std::optional<int64_t> records = args.steps == 0 ? data.records() : std::nullopt;
  std::vector<Tensor> all;
  std::vector<std::vector<Tensor>> parts;
  Batch batch;
  int64_t row = 0;
  for (int64_t step = 0; (args.steps == 0 || step < args.steps) && reader->next(batch); ++step) {
    std::vector<Tensor> ys = body_->trainer.predict(batch.x);
    for (size_t i = 0; records && i < ys.size(); ++i) {
      if (all.size() <= i) all.push_back(Tensor::empty(ys[i].dtype(), ys[i].shape().with(0, *records)));
      put_rows(all[i], row, ys[i]);
    }
    row += batch.size();
    if (!records) parts.push_back(std::move(ys));
    bar.step(step + 1);
  }
  if (!records) return joined(parts, row);
  if (row == *records) return all;
  // Bad records were left out: fewer rows came than were announced.
  for (Tensor& t : all) t = Tensor::from_bytes(t.dtype(), t.shape().with(0, row), t.data());
  return all;
} catch (const std::bad_alloc&) {
  no_memory("predict");
}

Logs Model::train_on_batch(const std::vector<Tensor>& x, const std::vector<Tensor>& y,
                           const std::vector<Tensor>& weight) try {
  body_->trainer.reset_metrics();
  body_->trainer.step(StepKind::train, {x, y, weight});
  return body_->trainer.logs();
} catch (const std::bad_alloc&) {
  no_memory("train_on_batch");
}

Logs Model::test_on_batch(const std::vector<Tensor>& x, const std::vector<Tensor>& y,
                          const std::vector<Tensor>& weight) try {
  body_->trainer.reset_metrics();
  body_->trainer.step(StepKind::test, {x, y, weight});
  return body_->trainer.logs();
} catch (const std::bad_alloc&) {
  no_memory("test_on_batch");
}

std::vector<Tensor> Model::predict_on_batch(const std::vector<Tensor>& x) try {
  return body_->trainer.predict(x);
} catch (const std::bad_alloc&) {
  no_memory("predict_on_batch");
}

}  // namespace plimsoll
