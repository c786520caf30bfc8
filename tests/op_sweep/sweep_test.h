// What the tests of the sweep share: one test per op, and programs built from a case.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "op_sweep/cases.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/program.h"
#include "support/plain_options.h"

namespace plimsoll::testing {

inline constexpr uint64_t kSeed = 1;

class OpSweep : public ::testing::TestWithParam<const OpDef*> {
 protected:
  const OpDef& op() const { return *GetParam(); }
};

// The op alone: inputs in the order of the case.
Graph op_graph(const SweepCase& c);
std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs,
                        const CompileOptions& options = {});

}  // namespace plimsoll::testing
