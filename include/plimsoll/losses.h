// Losses:  model.compile({.loss = "mse"})  or  .loss = BinaryCrossentropy({.from_logits = true})
#pragma once

#include <functional>

#include "plimsoll/config.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

class LossBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::loss;
  void fields(Fields& f) override;  // name and reduction; a loss with arguments adds its own

  // The loss of each sample, before weights and reduction: the last axis is summed up, the others stay. A
  // prediction that comes straight from a softmax or sigmoid may be looked through, as Keras on TensorFlow
  // does.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) = 0;
  // (optional: undefined) Which of these samples count: bool, of the shape of call()'s result.
  virtual Tensor counted(const Tensor& /*y_true*/, const Tensor& /*y_pred*/) { return {}; }

  std::string name;
  std::string reduction = "sum_over_batch_size";  // "mean", "sum", "none", "mean_with_sample_weight"
};
using Loss = Ref<LossBase>;

struct LossOptions {
  std::string reduction = "sum_over_batch_size";
  std::string name = {};  // empty: Keras's default
};
Loss MeanSquaredError(const LossOptions& options = {});
Loss MeanAbsoluteError(const LossOptions& options = {});
Loss MeanAbsolutePercentageError(const LossOptions& options = {});
Loss MeanSquaredLogarithmicError(const LossOptions& options = {});
Loss LogCosh(const LossOptions& options = {});
Loss Hinge(const LossOptions& options = {});
Loss SquaredHinge(const LossOptions& options = {});
Loss CategoricalHinge(const LossOptions& options = {});
Loss KLDivergence(const LossOptions& options = {});
Loss Poisson(const LossOptions& options = {});
// Of labels (batch, length), filled up with the blank 0, and logits (batch, steps, classes); every step
// counts.
Loss CTC(const LossOptions& options = {});

// Of integer labels and embeddings of length 1: near each other within a class, apart between classes.
struct CircleOptions {
  double gamma = 80.0;
  double margin = 0.4;
  bool remove_diagonal = true;
  std::string reduction = "sum_over_batch_size";
  std::string name = {};
};
Loss Circle(const CircleOptions& options = {});

// (1 - p^q) / q of the probability p of the true class (an integer): bears wrong labels better.
struct GeneralizedCrossEntropyOptions {
  double q = 0.5;  // between 0 and 1
  std::string reduction = "sum_over_batch_size";
  std::string name = {};
};
Loss CategoricalGeneralizedCrossEntropy(const GeneralizedCrossEntropyOptions& options = {});

struct HuberOptions {
  double delta = 1.0;
  std::string reduction = "sum_over_batch_size";
  std::string name = {};
};
Loss Huber(const HuberOptions& options = {});

struct CosineSimilarityOptions {
  int64_t axis = -1;
  std::string reduction = "sum_over_batch_size";
  std::string name = {};
};
Loss CosineSimilarity(const CosineSimilarityOptions& options = {});

struct CrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0.0;
  int64_t axis = -1;
  std::string reduction = "sum_over_batch_size";
  std::string name = {};
};
Loss BinaryCrossentropy(const CrossentropyOptions& options = {});
Loss CategoricalCrossentropy(const CrossentropyOptions& options = {});

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  std::string reduction = "sum_over_batch_size";
  int64_t axis = -1;  // only the last
  std::string name = {};
};
Loss SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});

struct BinaryFocalCrossentropyOptions {
  bool apply_class_balancing = false;
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0.0;
  int64_t axis = -1;
  std::string reduction = "sum_over_batch_size";
  std::string name = {};
};
Loss BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& options = {});

struct CategoricalFocalCrossentropyOptions {
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0.0;
  int64_t axis = -1;
  std::string reduction = "sum_over_batch_size";
  std::string name = {};
};
Loss CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& options = {});

struct DiceOptions {
  std::optional<std::vector<int64_t>> axis = {};  // empty: all axes
  std::string reduction = "sum_over_batch_size";
  std::string name = {};
};
Loss Dice(const DiceOptions& options = {});

struct TverskyOptions {
  double alpha = 0.5;
  double beta = 0.5;
  std::optional<std::vector<int64_t>> axis = {};
  std::string reduction = "sum_over_batch_size";
  std::string name = {};
};
Loss Tversky(const TverskyOptions& options = {});

// A loss of your own: the loss of each sample, as LossBase::call() gives it.
using LossFunction = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
Loss LambdaLoss(LossFunction function, const LossOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
