// forecast(model, batch_size, memory).
#include "common/no_memory.h"
#include "data/settings.h"
#include "memory/budget.h"
#include "memory/planning.h"
#include "memory/resident.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "train/lines.h"
#include "train/model_body.h"
#include "train/step_plan.h"

namespace plimsoll {
namespace {

TensorType batch_type(const Symbol& s, int64_t batch, bool drop_last, DType dtype) {
  Ints sizes = s.shape();
  if (drop_last) sizes.pop_back();
  if (!sizes.empty()) sizes[0] = batch;
  for (const int64_t size : sizes) {
    require(size >= 0, "forecast", "'", s.call()->layer->name(),
            "' has a size that is not known before there is data");
  }
  return {dtype, Shape(sizes)};
}

// Of what the model runs on. The host's line says nothing about a step on a device.
int64_t line_in(const std::string& memory, const Trainer& trainer) {
  int64_t line = account::kNoLimit;
  for (const LineOf& l : lines_in(memory)) {
    if (l.device == trainer.device()) line = l.bytes;
  }
  return line;
}

// Steps are planned with all updates held back, as the NaN watch may ask.
struct Held {
  Held(Trainer& trainer, bool held) : trainer(trainer) {
    if (held) trainer.set_nan_watching(NanWatching::held);
  }
  ~Held() { trainer.set_nan_watching(NanWatching::off); }
  Trainer& trainer;
};

}  // namespace

BatchTypes batch_types(const Model& model, int64_t batch_size) {
  ModelBody& body = model.body();
  BatchTypes types;
  for (const Symbol& x : model.inputs()) types.x.push_back(batch_type(x, batch_size, false, x.dtype()));
  const PerOutput<Loss>& losses = body.trainer.args().loss;
  const std::vector<std::string> names = body.net().output_names();
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    Loss loss;
    if (!losses.list.empty()) loss = losses.list.size() == 1 ? losses.list[0] : losses.list[i];
    if (const auto named = losses.by_name.find(names[i]); named != losses.by_name.end()) loss = named->second;
    const bool sparse = loss && loss->class_name() == "SparseCategoricalCrossentropy";
    types.y.push_back(batch_type(model.outputs()[i], batch_size, sparse, sparse ? DType::i32 : DType::f32));
  }
  return types;
}

MemoryForecast forecast(const Model& model, int64_t batch_size, const std::string& memory,
                        const std::string& micro_batch, bool hold_updates) try {
  require(bool(model), "forecast", "expected a model, got none");
  require(batch_size > 0, "forecast", "expected a batch size > 0, got ", batch_size);
  ModelBody& body = model.body();
  require(body.trainer.compiled(), "forecast", "the model is not compiled");
  require(!model.inputs().empty(), "forecast", "the model does not know its inputs; begin it with an Input");
  const int64_t line = line_in(memory, body.trainer);
  const account::Planning planning;
  // What is made under a line is made otherwise: without kept copies of weights.
  std::optional<BudgetScope> scope;
  if (!body.trainer.device() && line != account::kNoLimit) {
    scope.emplace(std::make_shared<Budget>(line));
    Budget::current()->set_refusing(false);
  }
  const auto types = [&](int64_t batch) { return batch_types(model, batch); };
  const bool cut = may_cut_batch(micro_batch);
  const Held held(body.trainer, hold_updates);
  if (resident::whole_process() > 0) {  // with the code that it takes to make and run a step
    body.trainer.choices(StepKind::train, types(batch_size), cut);
    resident::settle();
  }
  return forecast_step(body.trainer, types, batch_size, data::Settings().batches_held(), line, cut);
} catch (const std::bad_alloc&) {
  no_memory("forecast");
}

}  // namespace plimsoll
