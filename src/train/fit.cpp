// fit, evaluate, predict: the public functions, in front of FitLoop and the passes of test_loop.
#include <cmath>

#include "common/no_memory.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/planning.h"
#include "train/fit_loop.h"
#include "train/model_body.h"
#include "train/test_loop.h"

namespace plimsoll {
namespace {

// The end of every public function: what leaves it for want of memory is an Error.
template <class Run>
auto run_in(std::string_view place, Run run) try {
  return run();
} catch (const std::bad_alloc&) {
  no_memory(place);
}

// Keras takes the last part of the arrays for validation, before any shuffling.
int64_t rows_to_train(const std::vector<Tensor>& x, double split) {
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
  if (!args.validation_data) return nullptr;
  return std::make_unique<const Dataset>(args.validation_data.of_arrays ? args.validation_data->batch(batch)
                                                                        : *args.validation_data);
}

// `data` must outlive it.
FitLoop loop_over(const Model& model, const Dataset& data, const FitArgs& args) {
  require(args.validation_split == 0, "fit", "validation_split needs arrays; give validation_data");
  require(args.sample_weight.empty(), "fit", "sample weights belong into the data set");
  const int64_t batch = args.validation_batch_size > 0 ? args.validation_batch_size : data.batch_size();
  return FitLoop(model, args, [&](uint64_t) { return data; }, given_validation(args, batch));
}

// What evaluate() and predict() do before their pass.
void attach(const Model& model, std::string_view place, const TestPass& pass) {
  check_callbacks(place, pass.callbacks);
  require(pass.steps >= 0, place, "expected steps >= 0, got ", pass.steps);
  const int64_t steps = pass.steps > 0 ? pass.steps : pass.data.batches().value_or(0);
  for (const CallbackPtr& c : pass.callbacks) c->attach(model, {1, steps, pass.verbose});
}

}  // namespace

History Model::fit(const Tensor& x, const Tensor& y, const FitArgs& args) {
  return run_in("fit", [&] { return fit(Tensors(x), Tensors(y), args); });
}

History Model::fit(Tensors x, Tensors y, const FitArgs& args) {
  return run_in("fit", [&] {
    build_for(x);
    require(args.batch_size > 0, "fit", "expected a batch_size > 0, got ", args.batch_size);
    require(args.class_weight.empty() || args.sample_weight.empty(), "fit",
            "class_weight and sample_weight cannot both be given");
    require(args.validation_split >= 0 && args.validation_split < 1, "fit",
            "expected a validation_split of at least 0 and below 1, got ", args.validation_split);
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
  });
}

History Model::fit(const Dataset& data, const FitArgs& args) {
  return run_in("fit", [&] {
    build_for(data);
    return loop_over(*this, data, args).run();
  });
}

void check_fit(const Model& model, const Dataset& data, const FitArgs& args) {
  run_in("fit", [&] { loop_over(model, data, args).check(); });
}

Logs Model::evaluate(const Tensor& x, const Tensor& y, const EvaluateArgs& args) {
  return run_in("evaluate", [&] { return evaluate(Tensors(x), Tensors(y), args); });
}

Logs Model::evaluate(Tensors x, Tensors y, const EvaluateArgs& args) {
  return run_in("evaluate", [&] {
    return evaluate(Dataset::arrays(std::move(x), std::move(y), args.sample_weight).batch(args.batch_size),
                    args);
  });
}

Logs Model::evaluate(const Dataset& data, const EvaluateArgs& args) {
  return run_in("evaluate", [&] {
    build_for(data);
    require(body().trainer.compiled(), "evaluate",
            "the model is not compiled; call compile() with an optimizer and a loss first");
    const Model self = *this;  // as in FitLoop
    const TestPass pass{data, args.steps, args.verbose, args.callbacks};
    const PassLine line(self.body(), StepKind::test, data);
    attach(self, "evaluate", pass);
    return run_test(self.body(), pass);
  });
}

Tensor Model::predict(const Tensor& x, const PredictArgs& args) {
  return run_in("predict", [&] {
    std::vector<Tensor> ys = predict(std::vector<Tensor>{x}, args);
    require(ys.size() == 1, name(), "has ", ys.size(), " outputs: call predict with a list");
    return ys[0];
  });
}

std::vector<Tensor> Model::predict(std::vector<Tensor> x, const PredictArgs& args) {
  return run_in("predict",
                [&] { return predict(Dataset::arrays(std::move(x)).batch(args.batch_size), args); });
}

std::vector<Tensor> Model::predict(const Dataset& data, const PredictArgs& args) {
  return run_in("predict", [&] {
    build_for(data);
    const Model self = *this;
    const TestPass pass{data, args.steps, args.verbose, args.callbacks};
    const PassLine line(self.body(), StepKind::predict, data);
    attach(self, "predict", pass);
    return run_predict(self.body(), pass);
  });
}

Logs Model::train_on_batch(const Tensors& x, const Tensors& y, const Tensors& weight) {
  return run_in("train_on_batch", [&] {
    build_for(x);
    Trainer& trainer = body().trainer;
    trainer.reset_metrics();
    trainer.step(StepKind::train, {x, y, weight});
    return trainer.logs();
  });
}

Logs Model::test_on_batch(const Tensors& x, const Tensors& y, const Tensors& weight) {
  return run_in("test_on_batch", [&] {
    build_for(x);
    Trainer& trainer = body().trainer;
    trainer.reset_metrics();
    trainer.step(StepKind::test, {x, y, weight});
    return trainer.logs();
  });
}

Tensor Model::predict_on_batch(const Tensor& x) {
  std::vector<Tensor> ys = predict_on_batch(std::vector<Tensor>{x});
  require(ys.size() == 1, name(), "has ", ys.size(), " outputs: call predict_on_batch() with a list");
  return ys[0];
}

std::vector<Tensor> Model::predict_on_batch(const std::vector<Tensor>& x) {
  return run_in("predict_on_batch", [&] {
    build_for(x);
    return body().trainer.predict(x);
  });
}

}  // namespace plimsoll
