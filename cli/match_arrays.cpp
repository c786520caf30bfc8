#include "match_arrays.h"

#include <algorithm>

#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

using Names = std::vector<std::string>;
using Symbols = std::vector<Symbol>;

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string name_of_symbol(const Symbol& x) { return x.call()->layer->name(); }

std::string text_of(const Symbol& x) {
  std::string sizes;
  for (const int64_t n : x.shape())
    sizes += concat(sizes.empty() ? "" : ", ", n < 0 ? std::string("None") : std::to_string(n));
  return concat(name_of_symbol(x), " (", sizes, ")");
}

NamedTypes without(const NamedTypes& arrays, const Names& taken) {
  NamedTypes left;
  for (const auto& array : arrays) {
    if (!contains(taken, array.first)) left.push_back(array);
  }
  return left;
}

// As the model will take it: a last axis of one may be missing, or be one too many.
bool fits(const Shape& array, const Symbol& wanted) {
  Ints sizes(array.begin(), array.end());
  const SymbolShape& shape = wanted.shape();
  if (sizes.size() == shape.size() + 1 && sizes.back() == 1) sizes.pop_back();
  if (sizes.size() + 1 == shape.size() && shape.back() == 1) sizes.push_back(1);
  if (sizes.size() != shape.size()) return false;
  for (size_t i = 1; i < sizes.size(); ++i) {
    if (shape[i] >= 0 && shape[i] != sizes[i]) return false;
  }
  return !sizes.empty();
}

[[noreturn]] void cannot_tell(const NamedTypes& arrays, const Symbols& wanted, std::string_view what,
                              std::string_view option, const std::string& path) {
  std::string has, takes;
  for (const auto& [name, type] : arrays) has += concat(has.empty() ? "" : ", ", name, " ", type);
  for (const Symbol& x : wanted) takes += concat(takes.empty() ? "" : ", ", text_of(x));
  fail(ErrorKind::not_found, path, "cannot tell which arrays are the ", what,
       " of the model. It has: ", has.empty() ? "nothing" : has, ". The model's ", what, ": ",
       takes.empty() ? "not known" : takes, ". Name the arrays with ", option, ", in this order");
}

// All of the model's names, or one of the usual names; empty: neither is there.
Names by_name(const NamedTypes& arrays, const Symbols& wanted, const Names& usual) {
  const auto has = [&](const std::string& name) {
    return std::any_of(arrays.begin(), arrays.end(), [&](const auto& a) { return a.first == name; });
  };
  Names names;
  for (const Symbol& x : wanted) names.push_back(name_of_symbol(x));
  if (!names.empty() && std::all_of(names.begin(), names.end(), has)) return names;
  if (wanted.size() > 1) return {};
  const auto found = std::find_if(usual.begin(), usual.end(), has);
  return found == usual.end() ? Names() : Names{*found};
}

// Arrays of a model's name go there; of the other inputs, one that a single array fits takes it, until all
// have theirs. Empty: a choice is left, or none.
Names by_shape(const NamedTypes& arrays, const Symbols& inputs) {
  Names chosen(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto is_its = [&](const auto& array) { return array.first == name_of_symbol(inputs[i]); };
    if (std::any_of(arrays.begin(), arrays.end(), is_its)) chosen[i] = name_of_symbol(inputs[i]);
  }
  const auto candidates = [&](const Symbol& x) {
    Names names;
    for (const auto& [name, type] : arrays) {
      if (!contains(chosen, name) && fits(type.shape, x)) names.push_back(name);
    }
    return names;
  };
  while (contains(chosen, "")) {
    size_t i = 0;
    Names only;
    for (; i < inputs.size(); ++i) {
      if (chosen[i].empty() && (only = candidates(inputs[i])).size() == 1) break;
    }
    if (i == inputs.size()) return {};
    chosen[i] = only[0];
  }
  return chosen;
}

// Where exactly the model's own names were asked for, their order does not matter.
void put_in_order(Names& asked, const Symbols& wanted) {
  Names names;
  for (const Symbol& x : wanted) names.push_back(name_of_symbol(x));
  if (std::is_permutation(asked.begin(), asked.end(), names.begin(), names.end())) asked = std::move(names);
}

Names joined(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

ArrayNames match_arrays(const NamedTypes& arrays, ArrayNames asked, const Model& model, bool with_targets,
                        const std::string& path) {
  ArrayNames found = std::move(asked);
  const Symbols &inputs = model.inputs(), &outputs = model.outputs();
  put_in_order(found.x, inputs);
  if (with_targets && found.y.empty())
    found.y = by_name(without(arrays, joined(found.x, found.weights)), outputs,
                      {"y", "y_train", "y_test", "arr_1"});
  if (found.x.empty()) {
    const NamedTypes left = without(arrays, joined(found.y, found.weights));
    found.x = by_name(left, inputs, {"x", "x_train", "x_test", "arr_0"});
    if (found.x.empty() && left.size() == 1 && inputs.size() <= 1) found.x = {left[0].first};
    if (found.x.empty()) found.x = by_shape(left, inputs);
    if (found.x.empty()) cannot_tell(arrays, inputs, "inputs", "--x", path);
  }
  if (!with_targets || !found.y.empty()) return found;
  const NamedTypes left = without(arrays, joined(found.x, found.weights));
  if (left.size() != 1 || outputs.size() > 1) cannot_tell(arrays, outputs, "targets", "--y", path);
  found.y = {left[0].first};
  return found;
}

}  // namespace plimsoll::cli
