// Names of Keras 3.15 that there is no class for here, each with the reason: what make_object() and the
// readers of files say. tests/python/layers/test_names.py holds this list and the registry against Keras.
#include "layers/base/refused.h"

namespace plimsoll {
namespace {

struct Refused {
  Family family;
  std::string_view name, reason;
};

constexpr std::string_view kPython = "it holds Python code, which cannot run here";
constexpr std::string_view kStrings = "it takes strings, and there are no tensors of strings here";
constexpr std::string_view kBase = "it is a base class for classes of your own: derive from plimsoll's";
constexpr std::string_view kFunction =
    "Keras has it as a loss, and among metrics as a plain function; MeanMetricWrapper takes one of yours";
constexpr std::string_view kOther = "it runs a model of another framework, which is not here";

constexpr std::string_view kLabels =
    "it mixes the labels of a batch too, which a layer here does not see; mix both in Dataset::map()";

constexpr Refused kRefused[] = {
    {Family::layer, "Lambda", kPython},
    {Family::layer, "Layer", kBase},
    {Family::layer, "Wrapper", kBase},
    {Family::layer, "InputSpec", "it is no layer; layers here check their inputs in call()"},
    {Family::layer, "FlaxLayer", kOther},
    {Family::layer, "JaxLayer", kOther},
    {Family::layer, "TFSMLayer", kOther},
    {Family::layer, "TorchModuleWrapper", kOther},
    {Family::layer, "StringLookup", kStrings},
    {Family::layer, "TextVectorization", kStrings},
    {Family::layer, "Hashing",
     "Keras hashes the text of each value, and there are no tensors of strings here"},
    {Family::layer, "HashedCrossing",
     "Keras hashes the text of each value, and there are no tensors of strings here"},
    {Family::layer, "MaxNumBoundingBoxes",
     "it takes dictionaries of bounding boxes, and there are tensors alone here"},
    {Family::layer, "MixUp", kLabels},
    {Family::layer, "CutMix", kLabels},
    {Family::loss, "Loss", kBase},
    {Family::loss, "LossFunctionWrapper", kPython},
    {Family::metric, "Metric", kBase},
    {Family::metric, "MeanMetricWrapper", kPython},
    {Family::metric, "huber", kFunction},
    {Family::metric, "log_cosh", kFunction},
    {Family::metric, "binary_focal_crossentropy", kFunction},
    {Family::metric, "categorical_focal_crossentropy", kFunction},
    {Family::optimizer, "Optimizer", kBase},
    {Family::optimizer, "MultiOptimizer", "there is one optimizer for all weights of a model here"},
    {Family::optimizer, "OptimizerMap", "there is one optimizer for all weights of a model here"},
    {Family::schedule, "LearningRateSchedule", kBase},
    {Family::initializer, "Initializer", kBase},
    {Family::regularizer, "Regularizer", kBase},
    {Family::constraint, "Constraint", kBase},
    {Family::callback, "CallbackList", "fit() keeps the list of callbacks itself: FitArgs::callbacks"},
    {Family::callback, "ProgbarLogger", "FitArgs::verbose shows the progress bar"},
    {Family::callback, "OrbaxCheckpoint",
     "it writes the files of another library; ModelCheckpoint and "
     "BackupAndRestore write Keras's"},
    {Family::callback, "RemoteMonitor",
     "the engine opens no network connections; a LambdaCallback of the "
     "program can send the logs"},
};

}  // namespace

std::vector<std::string_view> refused_names(Family family) {
  std::vector<std::string_view> names;
  for (const Refused& row : kRefused) {
    if (row.family == family) names.push_back(row.name);
  }
  return names;
}

std::string_view refusal(Family family, std::string_view name) {
  for (const Refused& row : kRefused) {
    if (row.family == family && row.name == name) return row.reason;
  }
  return {};
}

}  // namespace plimsoll
