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
  // Added to element (i, i) of every matrix: `diagonal` (n + i), n the smaller side. See diagonal_of() in
  // cases.cpp.
  double diagonal = 0;
};

struct SweepCase {
  const OpDef* op = nullptr;
  std::vector<SweepInput> in;
  Attrs attrs;
  std::vector<TensorType> out;
  bool differentiable = true;
  bool derived = false;
  bool whole = false;  // golden values are sums over all elements: see kernel_cases.h
  // Says all that determines the result, so that golden values belong to a case whatever else changes.
  std::string key;
};

// For sanitizers: with PLIMSOLL_SWEEP_SHARE=n in the environment, every n-th case of the sweep, and the
// smaller ones of kernel_cases.h. Else 1: all.
size_t sweep_share();

// The cases of `op`; derived ones in one dtype only, declared ones in all.
std::vector<SweepCase> sweep_cases(const OpDef& op);
// A case for kernel_cases.h.
SweepCase whole_case(const OpDef& op, const OpCase& source, DType dtype);
// The same case in another dtype (f64 for finite differences). Throws Error if the op refuses.
SweepCase with_dtype(const SweepCase& c, DType dtype);

std::vector<TensorType> types_of(const SweepCase& c);  // of the inputs
uint64_t input_seed(const SweepCase& c, size_t input, uint64_t seed);
std::vector<Tensor> make_inputs(const SweepCase& c, uint64_t seed);
bool has_graph_attr(const SweepCase& c);

// How many values of an output a golden file holds. They are elements spread evenly, number k at (k * size) /
// count; of a `whole` case, the sums of support/sums.h.
int64_t golden_count(const SweepCase& c, size_t output);

}  // namespace plimsoll::testing
