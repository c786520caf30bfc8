// Sub-graphs made ready for the kernels of cond, while_loop and scan.
#pragma once

#include "device/kernel.h"

namespace plimsoll {

struct StepOptions;

class SubGraphCompiler final : public SubCompiler {
 public:
  explicit SubGraphCompiler(const StepOptions& options) : options_(options) {}
  std::unique_ptr<const SubProgram> compile(const Graph& graph) const override;

 private:
  const StepOptions& options_;
};

}  // namespace plimsoll
