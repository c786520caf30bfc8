#include "exec/sub_program.h"

#include "exec/step_list.h"
#include "passes/passes.h"

namespace plimsoll {
namespace {

class PlannedSubProgram final : public SubProgram {
 public:
  PlannedSubProgram(Graph graph, const StepOptions& options) : steps_(std::move(graph), options) {
    steps_.make_ready();
  }

  int64_t arena_bytes() const override { return steps_.plan().arena_bytes(); }
  int64_t bytes() const override { return steps_.bytes(); }
  void run(void* const* inputs, void* const* outputs, void* arena) const override {
    steps_.bind_arena(arena);
    steps_.run(inputs, outputs);
  }

 private:
  mutable StepList steps_;  // run() sets pointers in it; one Program runs at a time
};

}  // namespace

std::unique_ptr<const SubProgram> SubGraphCompiler::compile(const Graph& graph) const {
  std::vector<std::string> skip;
  if (options_.reference_kernels) skip.push_back("all");
  return std::make_unique<PlannedSubProgram>(run_passes(graph, skip), options_);
}

}  // namespace plimsoll
