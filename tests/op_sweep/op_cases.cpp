// op_cases [SEED [kernels]]: writes the cases of the sweep, or those of kernel_cases.h, as JSON, for
// tests/golden/make_op_goldens.py.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "op_sweep/kernel_cases.h"
#include "support/graph_json.h"

namespace plimsoll::testing {
namespace {

using nlohmann::json;

json case_json(const SweepCase& c, uint64_t seed) {
  json row = {{"op", std::string(c.op->name)}, {"key", c.key},         {"whole", c.whole},
              {"in", json::array()},           {"out", json::array()}, {"attrs", attrs_json(c.attrs)}};
  for (size_t i = 0; i < c.in.size(); ++i) {
    json in = type_json(c.in[i].type);
    in.update({{"low", c.in[i].low},
               {"high", c.in[i].high},
               {"seed", input_seed(c, i, seed)},
               {"diagonal", c.in[i].diagonal}});
    row["in"].push_back(in);
  }
  for (size_t i = 0; i < c.out.size(); ++i) {
    json out = type_json(c.out[i]);
    out["count"] = golden_count(c, i);
    row["out"].push_back(out);
  }
  return row;
}

void write_cases(uint64_t seed, bool kernels) {
  json cases = json::array();
  for (const OpDef* op : all_ops()) {
    for (const SweepCase& c : kernels ? kernel_cases(*op) : sweep_cases(*op))
      cases.push_back(case_json(c, seed));
  }
  std::cout << json{{"seed", seed}, {"cases", cases}}.dump() << '\n';
}

}  // namespace
}  // namespace plimsoll::testing

int main(int argc, char** argv) {
  try {
    const uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
    plimsoll::testing::write_cases(seed, argc > 2 && std::strcmp(argv[2], "kernels") == 0);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "op_cases: %s\n", e.what());
    return 1;
  }
  return 0;
}
