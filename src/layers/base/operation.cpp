#include "layers/base/operation.h"

#include "layers/base/json_parts.h"
#include "layers/base/operands.h"

namespace plimsoll {

using Json = ConfigJson;

ConfigJson tensor_mark(size_t i) { return Json::binary({}, i); }

std::optional<size_t> marked_tensor(const Json& json) {
  if (!json.is_binary()) return {};
  return json.get_binary().subtype();
}

bool is_operation(const Json& layer) { return text_of(layer, "module").find(".ops.") != std::string::npos; }

Operation::Operation(const Json& layer, OperationCall call)
    : module_(text_of(layer, "module")), class_name_(text_of(layer, "class_name")), call_(std::move(call)) {
  if (const Json* config = find(layer, "config")) config_ = *config;
  set_name(text_of(config_, "name"));
  if (name().empty()) set_name(text_of(layer, "name"));
  if (!has_operation(class_name_)) {
    fail(ErrorKind::unsupported, name(), "the function ", module_, ".", class_name_,
         " is not known; register a C++ layer in its place, or cut the model before it");
  }
}

std::vector<Tensor> Operation::call_many(Scope& s, std::span<const Tensor> xs) {
  return call_operation(class_name_, Operands(s, *this, config_, call_, xs));
}

Json Operation::to_json() const {
  Json config = config_.is_object() ? config_ : Json::object();
  config["name"] = name();
  return {
      {"module", module_}, {"class_name", class_name_}, {"config", config}, {"registered_name", class_name_}};
}

}  // namespace plimsoll
