#include "op_sweep/golden.h"
#include "op_sweep/sweep_test.h"
#include "support/fill.h"

namespace plimsoll::testing {

TEST_P(OpSweep, ValuesMatchGoldens) {
  const OpGoldens& goldens = OpGoldens::get();
  for (const SweepCase& c : sweep_cases(op())) {
    SCOPED_TRACE(c.key);
    std::vector<Tensor> out;
    ASSERT_NO_THROW(out = run(op_graph(c), make_inputs(c, goldens.seed())));
    ASSERT_EQ(out.size(), c.out.size());
    for (size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i].type().str(), c.out[i].str());
      EXPECT_EQ(goldens.compare(c, i, out[i]), "") << "output " << i;
    }
  }
}

}  // namespace plimsoll::testing
