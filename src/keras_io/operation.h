// Operation: a call of a plain function (keras.ops.add, x[:, 0]) inside a functional model, which Keras keeps
// in the list of layers: module "keras.src.ops...". Enough of them for keras.applications and simple
// arithmetic.
#pragma once

#include <optional>

#include "keras_io/json.h"
#include "plimsoll/layer.h"

namespace plimsoll::keras_io {

// The mark of the call's i-th tensor among constants: a binary value, which no JSON text can hold.
Json tensor_mark(size_t i);
// Empty: a constant.
std::optional<size_t> marked_tensor(const Json& json);

// What an Operation was called with: constants as the file has them, tensors as marks.
struct OperationCall {
  Json args = Json::array();
  Json kwargs = Json::object();
};

class Operation final : public LayerBase {
 public:
  // Throws Error{unsupported} naming the layer if there is no such function here.
  Operation(const Json& layer, OperationCall call);
  std::string_view class_name() const override { return class_name_; }
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override;
  bool passes_mask() const override { return true; }

  const OperationCall& call_form() const { return call_; }
  Json to_json() const;

 private:
  std::string module_, class_name_;
  Json config_;
  OperationCall call_;
};

bool is_operation(const Json& layer);

}  // namespace plimsoll::keras_io
