// Golden values of the sweep: what NumPy and SciPy say, made by tests/golden/make_op_goldens.py.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "op_sweep/cases.h"

namespace plimsoll::testing {

class OpGoldens {
 public:
  // Of the sweep: tests/golden/ops.npz, or the file named by PLIMSOLL_OP_GOLDENS. Throws std::runtime_error
  // if it cannot be read.
  static const OpGoldens& get();
  // Of kernel_cases.h: kernels.npz, or the file named by PLIMSOLL_KERNEL_GOLDENS.
  static const OpGoldens& of_kernels();

  uint64_t seed() const { return seed_; }  // of the inputs
  // Empty if `got`, output i of the case, agrees.
  std::string compare(const SweepCase& c, size_t output, const Tensor& got) const;

 private:
  struct Body;
  struct Found;
  explicit OpGoldens(const std::string& path);
  Found find(const SweepCase& c, size_t output) const;
  std::shared_ptr<const Body> body_;
  uint64_t seed_ = 0;
};

}  // namespace plimsoll::testing
