#include "train/test_loop.h"

#include <algorithm>
#include <cstring>

#include "plimsoll/error.h"
#include "train/model_body.h"
#include "train/progress_bar.h"

namespace plimsoll {
namespace {

int64_t steps_of(const TestPass& p) { return p.steps > 0 ? p.steps : p.data.batches().value_or(0); }

template <class Call>
void each(const TestPass& p, Call call) {
  for (const CallbackPtr& c : p.callbacks) call(*c);
}

// Puts the rows of `part` behind the first `row` rows of `all`.
void put_rows(const Tensor& all, int64_t row, const Tensor& part) {
  require(part.rank() > 0 && part.dtype() == all.dtype() &&
              part.shape().with(0, 1) == all.shape().with(0, 1) && row + part.dim(0) <= all.dim(0),
          "predict", "expected results of all batches that make one tensor, got ", part.type(), " beside ",
          all.type(), ": predict with one batch, or call predict_on_batch for each");
  const int64_t bytes = byte_size(part.dtype(), part.shape());
  const int64_t row_bytes = bytes / std::max<int64_t>(part.dim(0), 1);
  std::memcpy(static_cast<char*>(all.data()) + row * row_bytes, part.data(), static_cast<size_t>(bytes));
}

// The predictions of all batches, output by output. Where the number of records is known, and results have a
// row for each, they go to their place at once; else they are kept batch by batch and put together at the
// end.
class Predictions {
 public:
  explicit Predictions(std::optional<int64_t> records) : records_(records) {}

  void add(std::vector<Tensor> ys, int64_t rows) {
    if (rows_ == 0 &&
        !std::all_of(ys.begin(), ys.end(), [&](const Tensor& y) { return y.rank() > 0 && y.dim(0) == rows; }))
      records_.reset();
    for (size_t i = 0; records_ && i < ys.size(); ++i) {
      if (all_.size() <= i) all_.push_back(Tensor::empty(ys[i].dtype(), ys[i].shape().with(0, *records_)));
      put_rows(all_[i], rows_, ys[i]);
    }
    rows_ += rows;
    if (!records_) parts_.push_back(std::move(ys));
  }

  std::vector<Tensor> take() {
    if (!records_) return joined();
    // Bad records were left out, or a callback ended it: fewer rows came than were announced.
    for (Tensor& t : all_) {
      if (rows_ < *records_) t = Tensor::from_bytes(t.dtype(), t.shape().with(0, rows_), t.data());
    }
    return std::move(all_);
  }

 private:
  std::vector<Tensor> joined() {
    if (parts_.size() == 1) return std::move(parts_[0]);
    std::vector<Tensor> all;
    for (size_t i = 0; !parts_.empty() && i < parts_[0].size(); ++i) {
      const Tensor& first = parts_[0][i];
      int64_t rows = 0, row = 0;
      for (const std::vector<Tensor>& part : parts_) rows += part[i].rank() > 0 ? part[i].dim(0) : 0;
      all.push_back(Tensor::empty(first.dtype(), first.rank() > 0 ? first.shape().with(0, rows) : Shape{0}));
      for (const std::vector<Tensor>& part : parts_) {
        put_rows(all[i], row, part[i]);
        row += part[i].dim(0);
      }
    }
    return all;
  }

  std::optional<int64_t> records_;
  int64_t rows_ = 0;
  std::vector<Tensor> all_;
  std::vector<std::vector<Tensor>> parts_;
};

}  // namespace

void check_callbacks(std::string_view place, const std::vector<CallbackPtr>& callbacks) {
  for (const CallbackPtr& c : callbacks) require(c != nullptr, place, "expected a callback, got none");
}

bool want_batch_logs(const std::vector<CallbackPtr>& callbacks) {
  return std::any_of(callbacks.begin(), callbacks.end(),
                     [](const CallbackPtr& c) { return c->wants_batch_logs(); });
}

Logs run_test(ModelBody& body, const TestPass& p) {
  Trainer& trainer = body.trainer;
  const bool wants_logs = want_batch_logs(p.callbacks);
  const std::unique_ptr<BatchReader> reader = p.data.read();
  ProgressBar bar(trainer, p.verbose, steps_of(p), 1);
  body.stop_evaluating = false;
  each(p, [](Callback& c) { c.on_test_begin(); });
  trainer.reset_metrics();
  bar.begin_pass();
  Batch batch;
  int64_t done = 0;
  while ((p.steps == 0 || done < p.steps) && reader->next(batch)) {
    each(p, [&](Callback& c) { c.on_test_batch_begin(done); });
    trainer.step(StepKind::test, batch);
    bar.step(done + 1);
    const Logs logs = wants_logs ? trainer.logs() : Logs();
    each(p, [&](Callback& c) { c.on_test_batch_end(done, logs); });
    ++done;
    if (body.stop_evaluating) break;
  }
  require(done > 0, "evaluate", "expected data, got none: the data set is empty");
  const Logs logs = trainer.logs();
  bar.end_epoch(logs);
  each(p, [&](Callback& c) { c.on_test_end(logs); });
  return logs;
}

std::vector<Tensor> run_predict(ModelBody& body, const TestPass& p) {
  const std::unique_ptr<BatchReader> reader = p.data.read();
  ProgressBar bar(body.trainer, p.verbose, steps_of(p), 1);
  body.stop_predicting = false;
  each(p, [](Callback& c) { c.on_predict_begin(); });
  bar.begin_pass();
  Predictions all(p.steps == 0 ? p.data.records() : std::nullopt);
  Batch batch;
  int64_t done = 0;
  while ((p.steps == 0 || done < p.steps) && reader->next(batch)) {
    each(p, [&](Callback& c) { c.on_predict_batch_begin(done); });
    std::vector<Tensor> ys = body.trainer.predict(batch.x);
    bar.step(done + 1);
    each(p, [&](Callback& c) { c.on_predict_batch_end(done, ys); });
    all.add(std::move(ys), batch.size());
    ++done;
    if (body.stop_predicting) break;
  }
  require(done > 0, "predict", "expected data, got none: the data set is empty");
  each(p, [](Callback& c) { c.on_predict_end(); });
  return all.take();
}

}  // namespace plimsoll
