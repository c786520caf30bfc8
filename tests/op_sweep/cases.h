// Every op's declared cases over its dtypes, and odd shapes derived from them: each size in turn becomes 0, 1
// and a prime wherever the op's shape rule allows it. A new op is swept by existing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/op.h"
#include "plimsoll/tensor.h"

namespace plimsoll::testing {

struct SweepInput {
  TensorType type;
  double low = 0;
  double high = 0;
  bool swept = true;  // takes the dtype of the sweep; else the case fixed it
};

struct SweepCase {
  const OpDef* op = nullptr;
  std::vector<SweepInput> in;
  Attrs attrs;
  std::vector<TensorType> out;
  bool differentiable = true;
  bool derived = false;
  // Says all that determines the result, so that golden values belong to a case whatever else changes.
  std::string key;
};

// The cases of `op`; derived ones in one dtype only, declared ones in all.
std::vector<SweepCase> sweep_cases(const OpDef& op);
// The same case in another dtype (f64 for finite differences). Throws Error if the op refuses.
SweepCase with_dtype(const SweepCase& c, DType dtype);

uint64_t input_seed(const SweepCase& c, size_t input, uint64_t seed);
std::vector<Tensor> make_inputs(const SweepCase& c, uint64_t seed);
bool has_graph_attr(const SweepCase& c);

// How many elements of an output a golden file holds, spread evenly: element k is at (k * size) / count.
int64_t golden_count(const SweepCase& c, size_t output);

}  // namespace plimsoll::testing
