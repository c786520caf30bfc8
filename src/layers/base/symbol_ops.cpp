#include "plimsoll/layers/symbol_ops.h"

#include "common/json.h"
#include "layers/base/operation.h"
#include "layers/base/parts.h"

namespace plimsoll {
namespace {

// Keras's function of that name; `args` has marks where the symbols stand.
Symbol called(std::string_view function, const std::vector<Symbol>& xs, ConfigJson args,
              ConfigJson config = ConfigJson::object()) {
  config["name"] = unique_layer_name(function);
  const ConfigJson json = {
      {"module", module_of_operation(function)}, {"class_name", function}, {"config", std::move(config)}};
  return Layer(std::make_shared<Operation>(json, OperationCall{std::move(args)}))(xs);
}
Symbol of_one(std::string_view function, const Symbol& x, ConfigJson config = ConfigJson::object()) {
  return called(function, {x}, ConfigJson::array({tensor_mark(0)}), std::move(config));
}
Symbol of_two(std::string_view function, const Symbol& a, const Symbol& b) {
  return called(function, {a, b}, ConfigJson::array({tensor_mark(0), tensor_mark(1)}));
}
Symbol of_two(std::string_view function, const Symbol& a, double b) {
  return called(function, {a}, ConfigJson::array({tensor_mark(0), b}));
}
Symbol of_two(std::string_view function, double a, const Symbol& b) {
  return called(function, {b}, ConfigJson::array({a, tensor_mark(0)}));
}
Symbol reduced(std::string_view function, const Symbol& x, const Ints& axes, bool keepdims) {
  const ConfigJson axis = axes.empty() ? ConfigJson() : ConfigJson(axes);
  return of_one(function, x, {{"axis", axis}, {"keepdims", keepdims}});
}

ConfigJson key_of(const Index& index) {
  const auto bound = [](const std::optional<int64_t>& at) { return at ? ConfigJson(*at) : ConfigJson(); };
  switch (index.kind) {
    case Index::Kind::place: return index.place;
    case Index::Kind::new_axis: return {};
    case Index::Kind::ellipsis: return {{"class_name", "__ellipsis__"}, {"config", ConfigJson::object()}};
    case Index::Kind::slice: break;
  }
  const Slice& s = index.slice;
  return {{"class_name", "__slice__"},
          {"config", {{"start", bound(s.start)}, {"stop", bound(s.stop)}, {"step", bound(s.step)}}}};
}

}  // namespace

Symbol Symbol::operator[](std::initializer_list<Index> indices) const {
  ConfigJson keys = ConfigJson::array();
  for (const Index& index : indices) keys.push_back(key_of(index));
  return called("GetItem", {*this}, ConfigJson::array({tensor_mark(0), std::move(keys)}));
}

Symbol operator+(const Symbol& a, const Symbol& b) { return of_two("Add", a, b); }
Symbol operator-(const Symbol& a, const Symbol& b) { return of_two("Subtract", a, b); }
Symbol operator*(const Symbol& a, const Symbol& b) { return of_two("Multiply", a, b); }
Symbol operator/(const Symbol& a, const Symbol& b) { return of_two("TrueDivide", a, b); }
Symbol operator+(const Symbol& a, double b) { return of_two("Add", a, b); }
Symbol operator-(const Symbol& a, double b) { return of_two("Subtract", a, b); }
Symbol operator*(const Symbol& a, double b) { return of_two("Multiply", a, b); }
Symbol operator/(const Symbol& a, double b) { return of_two("TrueDivide", a, b); }
Symbol operator+(double a, const Symbol& b) { return of_two("Add", a, b); }
Symbol operator-(double a, const Symbol& b) { return of_two("Subtract", a, b); }
Symbol operator*(double a, const Symbol& b) { return of_two("Multiply", a, b); }
Symbol operator/(double a, const Symbol& b) { return of_two("TrueDivide", a, b); }
Symbol operator-(const Symbol& a) { return of_one("Negative", a); }

Symbol power(const Symbol& a, const Symbol& b) { return of_two("Power", a, b); }
Symbol power(const Symbol& a, double b) { return of_two("Power", a, b); }
Symbol maximum(const Symbol& a, const Symbol& b) { return of_two("Maximum", a, b); }
Symbol minimum(const Symbol& a, const Symbol& b) { return of_two("Minimum", a, b); }
Symbol matmul(const Symbol& a, const Symbol& b) { return of_two("Matmul", a, b); }
Symbol exp(const Symbol& x) { return of_one("Exp", x); }
Symbol log(const Symbol& x) { return of_one("Log", x); }
Symbol sqrt(const Symbol& x) { return of_one("Sqrt", x); }
Symbol square(const Symbol& x) { return of_one("Square", x); }
Symbol absolute(const Symbol& x) { return of_one("Absolute", x); }
Symbol sum(const Symbol& x, const Ints& axes, bool keepdims) { return reduced("Sum", x, axes, keepdims); }
Symbol mean(const Symbol& x, const Ints& axes, bool keepdims) { return reduced("Mean", x, axes, keepdims); }
Symbol max(const Symbol& x, const Ints& axes, bool keepdims) { return reduced("Max", x, axes, keepdims); }
Symbol min(const Symbol& x, const Ints& axes, bool keepdims) { return reduced("Min", x, axes, keepdims); }
Symbol transpose(const Symbol& x, const Ints& axes) { return of_one("Transpose", x, {{"axes", axes}}); }

}  // namespace plimsoll
