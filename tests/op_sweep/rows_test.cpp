// What each op says about the rows of a batch (OpDef::rows) is true: for every operand and axis that it has
// an answer for, the op on ranges of rows gives the rows, and the sums, of the op on all of them.
#include "graph/rows.h"

#include <cmath>

#include "op_sweep/kernel_cases.h"
#include "op_sweep/sweep_test.h"
#include "plimsoll/ops/shape.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

// Ranges may meet another kernel, and sums are taken in another order.
constexpr double kFactor = 8;
constexpr int64_t kRanges = 3;

Tensor rows_of(const Tensor& whole, const Rows& rows, int64_t first, int64_t count) {
  if (!rows.cut()) return whole;
  Ints starts(static_cast<size_t>(whole.rank()), 0), limits(whole.shape().begin(), whole.shape().end());
  starts[static_cast<size_t>(rows.axis)] = first * rows.per;
  limits[static_cast<size_t>(rows.axis)] = (first + count) * rows.per;
  return slice(whole, starts, limits);
}

std::vector<Tensor> run_part(const RowPart& part, const std::vector<Tensor>& in) {
  Graph graph;
  std::vector<Tensor> symbols;
  for (const Tensor& t : in) symbols.push_back(graph.input("", t.dtype(), t.shape()));
  for (const Tensor& t : graph.add(*part.op, symbols, part.attrs)) graph.output("", t);
  return run(graph, in);
}

void compare_sum(const std::vector<double>& sum, const Tensor& want, double tolerance) {
  double largest = 0;
  for (int64_t i = 0; i < std::ssize(sum); ++i) largest = std::max(largest, std::abs(element(want, i)));
  for (int64_t i = 0; i < std::ssize(sum); ++i) {
    const double got = sum[static_cast<size_t>(i)], expected = element(want, i);
    if (std::isnan(got) && std::isnan(expected)) continue;
    ASSERT_NEAR(got, expected, tolerance * largest) << "element " << i << " of a sum";
  }
}

void check_split(const SweepCase& c, const RowQuery& q, const RowSplit& split,
                 const std::vector<Tensor>& inputs, const std::vector<Tensor>& want) {
  const int64_t count = q.count(), ranges = std::min(kRanges, count);
  std::vector<std::vector<double>> sums(want.size());
  for (int64_t r = 0, first = 0; r < ranges; ++r) {
    const int64_t n = count / ranges + (r < count % ranges ? 1 : 0);
    std::vector<Tensor> in;
    for (size_t i = 0; i < inputs.size(); ++i) in.push_back(rows_of(inputs[i], split.in[i], first, n));
    const std::vector<Tensor> got = run_part(part_of(q.call, split, first, n), in);
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < got.size(); ++k) {
      const double tolerance = tolerance_for(kFactor * c.op->tolerance, want[k].dtype());
      if (split.out[k].cut()) {
        double largest = 0;  // of the whole, as a range may hold small elements only
        for (int64_t i = 0; i < want[k].shape().elements(); ++i) {
          if (std::isfinite(element(want[k], i))) largest = std::max(largest, std::abs(element(want[k], i)));
        }
        ASSERT_EQ(difference(got[k], rows_of(want[k], split.out[k], first, n), tolerance, largest), "")
            << "output " << k << ", rows from " << first;
        continue;
      }
      sums[k].resize(static_cast<size_t>(got[k].shape().elements()), 0);
      for (size_t i = 0; i < sums[k].size(); ++i) sums[k][i] += element(got[k], static_cast<int64_t>(i));
    }
    first += n;
  }
  for (size_t k = 0; k < want.size(); ++k) {
    if (!split.out[k].cut() && is_float(want[k].dtype()))
      compare_sum(sums[k], want[k], tolerance_for(kFactor * c.op->tolerance, want[k].dtype()));
  }
}

// How many answers the op gave.
int check_case(const SweepCase& c) {
  const std::vector<TensorType> in = types_of(c);
  const OpCall call{*c.op, in, c.attrs};
  const std::vector<Tensor> inputs = make_inputs(c, kSeed);
  std::vector<Tensor> want;
  int answers = 0;
  for (size_t given = 0; given < in.size() + c.out.size(); ++given) {
    const Shape& shape = given < in.size() ? in[given].shape : c.out[given - in.size()].shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (const int64_t per : {1, 2}) {
        if (shape[axis] / per < 2 || shape[axis] % per != 0) continue;
        const RowQuery q{call, c.out, given, {axis, per}};
        const std::optional<RowSplit> split = split_rows(q);
        if (!split) continue;
        ++answers;
        SCOPED_TRACE(concat("operand ", given, ", axis ", axis, ", ", per, " elements to a row"));
        if (want.empty()) want = run(op_graph(c), inputs);
        check_split(c, q, *split, inputs, want);
        if (::testing::Test::HasFatalFailure()) return answers;
      }
    }
  }
  return answers;
}

}  // namespace

TEST_P(OpSweep, RowsPassThroughAsItSays) {
  int answers = 0, cases = 0;
  std::vector<SweepCase> list = sweep_cases(op());
  if (list.empty() && op().name == "fused") list = kernel_cases(op());
  for (const SweepCase& c : list) {
    ++cases;
    SCOPED_TRACE(c.key);
    ASSERT_NO_THROW(answers += check_case(c));
    if (HasFatalFailure()) return;
  }
  const bool says = op().rows != nullptr || (op().tile != nullptr && cases > 0);
  EXPECT_EQ(answers > 0, says) << answers << " answers in " << cases << " cases";
}

}  // namespace plimsoll::testing
