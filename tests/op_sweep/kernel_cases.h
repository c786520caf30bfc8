// Cases at the sizes where the fast kernels are chosen, for values only: an op's declared cases are small, so
// that its gradients and odd shapes can be checked too, and a Winograd convolution or a packed product never
// meets them. Their golden values are sums over all elements (golden.h).
#pragma once

#include <vector>

#include "op_sweep/cases.h"

namespace plimsoll::testing {

std::vector<SweepCase> kernel_cases(const OpDef& op);

// What the tables add their cases to. `dtypes`, as far as the op is swept over them, are those of the inputs
// that the case leaves open.
class KernelCases {
 public:
  explicit KernelCases(const OpDef& op) : op_(op) {}
  bool is(std::string_view name) const { return op_.name == name; }
  void add(std::vector<InputCase> in, Attrs attrs = {}, std::vector<DType> dtypes = {DType::f32});
  const OpDef& op() const { return op_; }
  std::vector<SweepCase> take() { return std::move(list_); }

 private:
  const OpDef& op_;
  std::vector<SweepCase> list_;
};

// One table per file.
void add_convolutions(KernelCases& cases);
void add_contractions(KernelCases& cases);
void add_layers(KernelCases& cases);
void add_moves(KernelCases& cases);
void add_bodies(KernelCases& cases);

}  // namespace plimsoll::testing
