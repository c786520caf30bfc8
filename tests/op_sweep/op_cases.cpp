// op_cases [SEED]: writes all cases of the sweep as JSON, for tests/golden/make_op_goldens.py.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "op_sweep/cases.h"
#include "plimsoll/graph.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

using nlohmann::json;

json sizes_json(const Shape& shape) { return std::vector<int64_t>(shape.begin(), shape.end()); }

json attr_json(const Attr& attr) {
  switch (kind_of(attr)) {
    case AttrKind::boolean: return std::get<bool>(attr);
    case AttrKind::integer: return std::get<int64_t>(attr);
    case AttrKind::real: return std::get<double>(attr);
    case AttrKind::string: return std::get<std::string>(attr);
    case AttrKind::ints: return std::get<Ints>(attr);
    case AttrKind::dtype: return std::string(name_of(std::get<DType>(attr)));
    case AttrKind::graph: return std::get<std::shared_ptr<const Graph>>(attr)->text();
    case AttrKind::tensor: break;
  }
  const Tensor& t = std::get<Tensor>(attr);
  std::vector<double> values;
  for (int64_t i = 0; i < parts(t); ++i) values.push_back(element(t, i));
  return {{"dtype", std::string(name_of(t.dtype()))}, {"shape", sizes_json(t.shape())}, {"values", values}};
}

json case_json(const SweepCase& c, uint64_t seed) {
  json row = {{"op", std::string(c.op->name)},
              {"key", c.key},
              {"in", json::array()},
              {"out", json::array()},
              {"attrs", json::object()}};
  for (size_t i = 0; i < c.in.size(); ++i) {
    const SweepInput& in = c.in[i];
    row["in"].push_back({{"dtype", std::string(name_of(in.type.dtype))},
                         {"shape", sizes_json(in.type.shape)},
                         {"low", in.low},
                         {"high", in.high},
                         {"seed", input_seed(c, i, seed)}});
  }
  for (size_t i = 0; i < c.out.size(); ++i) {
    row["out"].push_back({{"dtype", std::string(name_of(c.out[i].dtype))},
                          {"shape", sizes_json(c.out[i].shape)},
                          {"count", golden_count(c, i)}});
  }
  for (const auto& [name, value] : c.attrs) row["attrs"][name] = attr_json(value);
  return row;
}

void write_cases(uint64_t seed) {
  json cases = json::array();
  for (const OpDef* op : all_ops()) {
    for (const SweepCase& c : sweep_cases(*op)) cases.push_back(case_json(c, seed));
  }
  std::cout << json{{"seed", seed}, {"cases", cases}}.dump() << '\n';
}

}  // namespace
}  // namespace plimsoll::testing

int main(int argc, char** argv) {
  try {
    plimsoll::testing::write_cases(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "op_cases: %s\n", e.what());
    return 1;
  }
  return 0;
}
