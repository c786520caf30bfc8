// Operation: a call of a plain function (keras.ops.add, x[:, 0]) inside a functional model, which Keras keeps
// in the list of layers: module "keras.src.ops...". operation_functions.cpp has those there are. As in Keras
// its results have no mask, whatever its operands had.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/json.h"
#include "layers/base/config_json.h"
#include "plimsoll/layer.h"

namespace plimsoll {

// The mark of the call's i-th tensor among constants: a binary value, which no JSON text can hold.
ConfigJson tensor_mark(size_t i);
// Empty: a constant.
std::optional<size_t> marked_tensor(const ConfigJson& json);

// What an Operation was called with: constants as the file has them, tensors as marks.
struct OperationCall {
  ConfigJson args = ConfigJson::array();
  ConfigJson kwargs = ConfigJson::object();
};

class Operation final : public LayerBase {
 public:
  // Throws Error{unsupported} naming the layer if there is no such function here.
  Operation(const ConfigJson& layer, OperationCall call);
  std::string_view class_name() const override { return class_name_; }
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override;
  bool casts_inputs() const override { return false; }  // a dtype policy is a layer's

  const OperationCall& call_form() const { return call_; }
  ConfigJson to_json() const;

 private:
  std::string module_, class_name_;
  ConfigJson config_;
  OperationCall call_;
};

bool is_operation(const ConfigJson& layer);
// Where Keras has the class: "keras.src.ops.nn". Keras finds it there alone.
std::string module_of_operation(std::string_view class_name);

}  // namespace plimsoll
