// Golden values of the sweep: what NumPy and SciPy say, made by tests/golden/make_op_goldens.py.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "op_sweep/cases.h"

namespace plimsoll::testing {

class OpGoldens {
 public:
  // tests/golden/ops.npz, or the file named by PLIMSOLL_OP_GOLDENS. Throws std::runtime_error if it cannot be
  // read.
  static const OpGoldens& get();

  uint64_t seed() const { return seed_; }  // of the inputs
  // Why the op has no values ("control flow: see random_graphs"); empty if it should have some.
  std::string excuse(std::string_view op) const;
  // Empty if `got`, output i of the case, agrees.
  std::string compare(const SweepCase& c, size_t output, const Tensor& got) const;

 private:
  struct Body;
  explicit OpGoldens(const std::string& path);
  std::shared_ptr<const Body> body_;
  uint64_t seed_ = 0;
};

}  // namespace plimsoll::testing
