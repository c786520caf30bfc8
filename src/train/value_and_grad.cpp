#include "plimsoll/value_and_grad.h"

#include <map>
#include <memory>

#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

using Function = std::function<Tensor(std::span<const Tensor>)>;

Program compiled(const Function& function, const std::vector<Tensor>& arguments) {
  Graph graph;
  std::vector<Tensor> inputs;
  for (const Tensor& a : arguments) inputs.push_back(graph.input("argument", a.dtype(), a.shape()));
  Tensor value = function(inputs);
  require(value.defined() && value.shape().elements() == 1, "value_and_grad",
          "expected a function with one number as its result, got ",
          value.defined() ? value.type().str() : "nothing");
  if (!value.is_symbolic()) value = graph.constant(value);
  graph.output("value", value);
  for (const Tensor& g : gradients(value, inputs)) graph.output("gradient", g);
  return Program::compile(graph);
}

}  // namespace

std::function<ValueAndGradients(const std::vector<Tensor>&)> value_and_grad(Function function) {
  require(bool(function), "value_and_grad", "expected a function, got none");
  auto programs = std::make_shared<std::map<std::string, Program>>();
  return [function = std::move(function), programs](const std::vector<Tensor>& arguments) {
    std::string types;
    for (const Tensor& a : arguments) {
      require(a.defined() && !a.is_symbolic(), "value_and_grad", "expected concrete tensors as arguments");
      types += a.type().str() + ";";
    }
    auto found = programs->find(types);
    if (found == programs->end()) found = programs->emplace(types, compiled(function, arguments)).first;
    const std::vector<Tensor> results = found->second(arguments);
    return ValueAndGradients{results[0], {results.begin() + 1, results.end()}};
  };
}

}  // namespace plimsoll
