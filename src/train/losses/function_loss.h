// Losses made of a function: FunctionLoss<Row> where it has no arguments, LossWith<Options> where it has.
#pragma once

#include <memory>

#include "plimsoll/losses.h"

namespace plimsoll {

// Row: kClass, kName (Keras's default name and alias), call(y_true, y_pred).
template <class Row>
struct FunctionLoss final : LossBase {
  FunctionLoss() { name = Row::kName; }
  std::string_view class_name() const override { return Row::kClass; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override { return Row::call(y_true, y_pred); }
};

template <class Options>
struct LossWith : LossBase {
  explicit LossWith(std::string_view default_name) { name = default_name; }
  Options o;
};

// Throws Error{invalid_argument} if there is no such reduction.
void set_loss_options(LossBase& loss, const std::string& reduction, const std::string& name);

template <class Row>
Loss make_function_loss(const LossOptions& options) {
  auto loss = std::make_shared<FunctionLoss<Row>>();
  set_loss_options(*loss, options.reduction, options.name);
  return loss;
}

template <class T, class Options>
Loss make_loss(const Options& options) {
  auto loss = std::make_shared<T>();
  loss->o = options;
  set_loss_options(*loss, options.reduction, options.name);
  return loss;
}

template <class Row>
constexpr ClassDef function_loss_row() {
  return {Family::loss, Row::kClass, Row::kName, make_default<FunctionLoss<Row>>};
}

}  // namespace plimsoll
