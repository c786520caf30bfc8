// random_graph FIRST COUNT: for each seed one line of JSON: the graph, its inputs, and what an optimized
// program gives, for tests/python/test_random_graphs.py.
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "plimsoll/error.h"
#include "plimsoll/program.h"
#include "random_graphs/generator.h"
#include "support/fill.h"
#include "support/graph_json.h"

namespace plimsoll::testing {
namespace {

using nlohmann::json;

json values_json(const Tensor& t) {
  json out = type_json(t.type());
  json values = json::array();
  for (int64_t i = 0; i < parts(t); ++i) values.push_back(element(t, i));
  out["values"] = std::move(values);
  return out;
}

json values_json(const std::vector<Tensor>& list) {
  json out = json::array();
  for (const Tensor& t : list) out.push_back(values_json(t));
  return out;
}

json case_json(uint64_t seed) {
  const RandomGraph made = build(random_recipe(seed));
  json names = json::array();
  for (const GraphOutput& out : made.graph.outputs()) names.push_back(out.name);
  json row = {{"seed", seed},
              {"graph", graph_json(made.graph)},
              {"outputs", names},
              {"inputs", values_json(made.inputs)},
              {"variable", values_json(made.variable)}};
  std::vector<Tensor> results = Program::compile(made.graph)(made.inputs);
  if (!made.graph.updates().empty()) results.push_back(made.variable);
  row["results"] = values_json(results);
  return row;
}

}  // namespace
}  // namespace plimsoll::testing

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::runtime_error("expected FIRST COUNT");
    const uint64_t first = std::strtoull(argv[1], nullptr, 10), count = std::strtoull(argv[2], nullptr, 10);
    for (uint64_t seed = first; seed < first + count; ++seed)
      std::cout << plimsoll::testing::case_json(seed).dump() << '\n';
  } catch (const std::exception& e) {
    std::fprintf(stderr, "random_graph: %s\n", e.what());
    return 1;
  }
  return 0;
}
