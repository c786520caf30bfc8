// Optimizers and schedules:  model.compile({.optimizer = Adam(CosineDecay(1e-3, 1000), {.clipnorm = 1.0})})
#pragma once

#include <optional>

#include "plimsoll/config.h"
#include "plimsoll/initializers.h"
#include "plimsoll/ops/optimizer.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct Variable;

class ScheduleBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::schedule;
  virtual Tensor rate(const Tensor& step) = 0;  // step: a float32 scalar; concrete or symbolic
};
using Schedule = Ref<ScheduleBase>;

// A number, or a schedule.
struct LearningRate {
  LearningRate(double rate) : rate(rate) {}
  LearningRate(Schedule schedule);  // throws Error{invalid_argument} if it is none
  double rate = 0;
  Schedule schedule;
};

// A tensor the optimizer keeps for each weight, of its shape, and what it begins with.
struct SlotDef {
  std::string name;
  double initial = 0;
  bool copies_weight = false;  // begins as the weight instead
};

// What the update of one weight sees.
class UpdateScope {
 public:
  virtual ~UpdateScope() = default;
  Tensor weight, gradient;  // of one dtype
  Tensor learning_rate;     // scalar of the weight's dtype
  Tensor step;              // int64 scalar, 0 in the first step
  double weight_decay = 0;  // only where the optimizer decays(): what update() is to apply
  UpdateGuard
      guard;  // only where the optimizer guards(): for its update, undefined if there is nothing to do
  virtual Tensor slot(std::string_view name) = 0;
  virtual void set_slot(std::string_view name, const Tensor& next) = 0;
  virtual bool has_slot(std::string_view name) const = 0;  // for this weight
  // A number the optimizer keeps once (scalars()): its value before the step, in every update.
  virtual Tensor scalar(std::string_view name) = 0;
  virtual void set_scalar(std::string_view name, const Tensor& next) = 0;
};

// The arguments that every optimizer of Keras takes. weight_decay: w -= learning_rate * weight_decay * w
// before the update.
#define PLIMSOLL_OPTIMIZER_OPTIONS                         \
  std::optional<double> clipnorm = {};                     \
  std::optional<double> clipvalue = {};                    \
  std::optional<double> global_clipnorm = {};              \
  bool use_ema = false;                                    \
  double ema_momentum = 0.99;                              \
  std::optional<int64_t> ema_overwrite_frequency = {};     \
  std::optional<double> loss_scale_factor = {};            \
  std::optional<int64_t> gradient_accumulation_steps = {}; \
  std::string name = {};

class OptimizerBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::optimizer;
  // The common arguments, in Keras's order.
  void fields(Fields& f) override;

  // The new value of one weight.
  virtual Tensor update(UpdateScope& s) = 0;
  // The slots, as Keras orders them: for each group, for each weight, for each slot of the group.
  virtual std::vector<std::vector<SlotDef>> slots() const { return {}; }
  virtual std::vector<SlotDef> scalars() const { return {}; }
  // (optional: the weight's) The shape of a slot; none: this weight has no such slot.
  virtual std::optional<Shape> slot_shape(const SlotDef& def, const Variable& weight) const;
  // (optional: weight_decay) How much this weight decays.
  virtual std::optional<double> decay_of(const Variable& /*weight*/) const { return weight_decay; }
  // True: update() applies the weight decay itself.
  virtual bool decays() const { return false; }
  // True: update() heeds the guard of the scope for the weight and its slots itself.
  virtual bool guards() const { return false; }

  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
  // Regular expressions; weights in whose names one is found are not decayed. Keras's
  // exclude_from_weight_decay(var_names).
  std::vector<std::string> exclude_from_weight_decay = {};
};
using Optimizer = Ref<OptimizerBase>;

struct SgdOptimizerOptions {
  double momentum = 0.0;
  bool nesterov = false;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer SGD(LearningRate learning_rate = 0.01, const SgdOptimizerOptions& options = {});

struct RmspropOptimizerOptions {
  double rho = 0.9;
  double momentum = 0.0;
  double epsilon = 1e-7;
  bool centered = false;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer RMSprop(LearningRate learning_rate = 0.001, const RmspropOptimizerOptions& options = {});

struct AdamOptimizerOptions {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer Adam(LearningRate learning_rate = 0.001, const AdamOptimizerOptions& options = {});

struct AdamWOptimizerOptions {
  std::optional<double> weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer AdamW(LearningRate learning_rate = 0.001, const AdamWOptimizerOptions& options = {});

struct AdagradOptimizerOptions {
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer Adagrad(LearningRate learning_rate = 0.001, const AdagradOptimizerOptions& options = {});

struct AdadeltaOptimizerOptions {
  double rho = 0.95;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer Adadelta(LearningRate learning_rate = 0.001, const AdadeltaOptimizerOptions& options = {});

struct AdamaxOptimizerOptions {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer Adamax(LearningRate learning_rate = 0.001, const AdamaxOptimizerOptions& options = {});

using NadamOptimizerOptions = AdamaxOptimizerOptions;
Optimizer Nadam(LearningRate learning_rate = 0.001, const NadamOptimizerOptions& options = {});

struct FtrlOptimizerOptions {
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0.0;
  double l2_regularization_strength = 0.0;
  double l2_shrinkage_regularization_strength = 0.0;
  double beta = 0.0;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer Ftrl(LearningRate learning_rate = 0.001, const FtrlOptimizerOptions& options = {});

struct LionOptimizerOptions {
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer Lion(LearningRate learning_rate = 0.001, const LionOptimizerOptions& options = {});

using LambOptimizerOptions = AdamaxOptimizerOptions;
Optimizer Lamb(LearningRate learning_rate = 0.001, const LambOptimizerOptions& options = {});

struct AdafactorOptimizerOptions {
  double beta_2_decay = -0.8;
  double epsilon_1 = 1e-30;
  double epsilon_2 = 1e-3;
  double clip_threshold = 1.0;
  bool relative_step = true;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer Adafactor(LearningRate learning_rate = 0.001, const AdafactorOptimizerOptions& options = {});

// Matrices by orthogonalised momentum; everything else, embeddings and what exclude_layers (regular
// expressions) finds in layer/name, by AdamW.
struct MuonOptimizerOptions {
  double adam_beta_1 = 0.9;
  double adam_beta_2 = 0.999;
  std::optional<double> adam_weight_decay = 0.004;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = 0.004;
  std::vector<std::string> exclude_layers = {};
  bool exclude_embeddings = true;
  double muon_a = 3.4445, muon_b = -4.775, muon_c = 2.0315;
  double adam_lr_ratio = 1;
  double momentum = 0.95;
  int64_t ns_steps = 5;
  bool nesterov = true;
  std::optional<double> rms_rate = 0.2;
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer Muon(LearningRate learning_rate = 0.001, const MuonOptimizerOptions& options = {});

struct ScheduleFreeAdamWOptimizerOptions {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  int64_t warmup_steps = 0;
  std::optional<double> weight_decay = {};
  PLIMSOLL_OPTIMIZER_OPTIONS
};
Optimizer ScheduleFreeAdamW(LearningRate learning_rate = 0.0025,
                            const ScheduleFreeAdamWOptimizerOptions& options = {});
#undef PLIMSOLL_OPTIMIZER_OPTIONS

// For float16: the loss is multiplied by a scale, the gradients are divided by it. A step whose gradients are
// not finite is left out and halves the scale; after so many good steps in a row it is doubled. compile()
// puts it around the optimizer of a model whose dtype policy is mixed_float16 (auto_scale_loss).
struct LossScaleOptimizerOptions {
  double initial_scale = 32768;
  int64_t dynamic_growth_steps = 2000;
  std::string name = {};
};
Optimizer LossScaleOptimizer(Optimizer inner_optimizer, const LossScaleOptimizerOptions& options = {});

struct DecayOptions {
  bool staircase = false;
};
Schedule ExponentialDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                          const DecayOptions& options = {});
Schedule InverseTimeDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                          const DecayOptions& options = {});
// values[i] up to and with step boundaries[i]; the last one beyond.
Schedule PiecewiseConstantDecay(std::vector<double> boundaries, std::vector<double> values);
struct PolynomialDecayOptions {
  double end_learning_rate = 0.0001;
  double power = 1.0;
  bool cycle = false;
};
Schedule PolynomialDecay(double initial_learning_rate, double decay_steps,
                         const PolynomialDecayOptions& options = {});
struct CosineDecayOptions {
  double alpha = 0.0;
  std::optional<double> warmup_target = {};
  double warmup_steps = 0;
};
Schedule CosineDecay(double initial_learning_rate, double decay_steps,
                     const CosineDecayOptions& options = {});
struct CosineDecayRestartsOptions {
  double t_mul = 2.0;
  double m_mul = 1.0;
  double alpha = 0.0;
};
Schedule CosineDecayRestarts(double initial_learning_rate, double first_decay_steps,
                             const CosineDecayRestartsOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
