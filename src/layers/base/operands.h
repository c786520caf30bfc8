// The operands and options of one call of a function in a model file (operation.h), and the functions there
// are.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "layers/base/operation.h"
#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// Wherever Keras keeps them: positional, by name, or in the config. What is not usable is Error{bad_file}
// that names it.
class Operands {
 public:
  Operands(Scope& scope, const LayerBase& layer, const ConfigJson& config, const OperationCall& call,
           std::span<const Tensor> xs)
      : scope_(scope), layer_(layer), config_(config), call_(call), xs_(xs) {}

  // A tensor, or a constant: numbers take the type of the tensors beside them as far as they fit (an integer
  // tensor times 0.5 is float32), lists and arrays have their own.
  Tensor tensor(size_t i, std::string_view name) const;
  std::vector<Tensor> tensors(size_t i, std::string_view name) const;
  // All positional ones.
  std::vector<Tensor> operands() const;

  // nullptr: not given, or null.
  const ConfigJson* option(size_t i, std::string_view name) const;
  Ints ints(size_t i, std::string_view name) const;  // a number is a list of one; empty: not given
  int64_t integer(size_t i, std::string_view name) const;
  int axis(size_t i, std::string_view name, int otherwise) const;
  double real(size_t i, std::string_view name, double otherwise) const;
  bool flag(size_t i, std::string_view name) const;
  std::string text(size_t i, std::string_view name) const;  // empty: not given
  DType dtype(size_t i, std::string_view name, DType otherwise) const;

  // What the layer of that class and config, one without weights, makes of x.
  Tensor by_layer(std::string_view class_name, const ConfigJson& config, const Tensor& x) const;
  // Those of the options that are given.
  ConfigJson kept(std::initializer_list<std::string_view> names) const;

  const std::string& place() const { return layer_.name(); }
  [[noreturn]] void missing(std::string_view name) const;

 private:
  const Tensor& marked(const ConfigJson& json, std::string_view name) const;
  Tensor constant(const ConfigJson& value, std::string_view name) const;

  Scope& scope_;
  const LayerBase& layer_;
  const ConfigJson& config_;
  const OperationCall& call_;
  std::span<const Tensor> xs_;
};

bool has_operation(std::string_view class_name);
// Requires: has_operation(class_name).
std::vector<Tensor> call_operation(std::string_view class_name, const Operands& o);

}  // namespace plimsoll
