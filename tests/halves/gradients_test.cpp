// Gradients and updates in halves against the same op in float64 (which the sweep compares with NumPy), on
// inputs that halves hold exactly.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

// Which inputs of an op are kept wide beside halves: statistics, what a recurrent layer saves, or, of an
// update, all but the gradient.
struct Row {
  std::string_view op;
  std::vector<size_t> wide;
  size_t only_half = SIZE_MAX;
};
const Row kRows[] = {
    {"layer_norm_grad", {2, 3}},
    {"layer_norm_grad", {1, 2, 3}},
    {"sparse_softmax_cross_entropy_grad", {2}},
    {"softmax_cross_entropy_grad", {2}},
    {"lstm_grad", {6, 7}},
    {"gru_grad", {5, 6}},
    {"batch_norm_grad", {2, 3, 4}},
    {"sgd_update", {}, 1},
    {"rmsprop_update", {}, 1},
    {"adam_update", {}, 1},
    {"adam_update_rows", {}, 2},
    {"sgd_update", {}},
    {"rmsprop_update", {}},
};

bool is_wide(const Row& row, size_t i) {
  if (row.only_half != SIZE_MAX) return i != row.only_half;
  return std::find(row.wide.begin(), row.wide.end(), i) != row.wide.end();
}

void expect_close(const OpDef& op, const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                  DType half) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    // What comes of rounded inputs is as exact as its own type; what is kept wide has errors of float32.
    const double tolerance = tolerance_for(2 * op.tolerance, got[i].dtype());
    EXPECT_EQ(difference(cast(got[i], DType::f64), want[i], tolerance), "") << concat(half, ", output ", i);
  }
}

void check(const Row& row, DType half) {
  const OpDef& op = get_op(row.op);
  int n = 0;
  for (const OpCase& c : op.cases()) {
    SCOPED_TRACE(concat(row.op, " case ", n++, " in ", half));
    std::vector<Tensor> in, exact;
    for (size_t i = 0; i < c.in.size(); ++i) {
      const InputCase& one = c.in[i];
      const Tensor x = fill(one.dtype.value_or(half), one.shape, one.low, one.high, 11 + i);
      in.push_back(!one.dtype && is_wide(row, i) ? cast(x, DType::f32) : x);
      exact.push_back(one.dtype ? x : cast(x, DType::f64));
    }
    expect_close(op, apply(op, in, c.attrs), apply(op, exact, c.attrs), half);
  }
}

TEST(Halves, GradientsAndUpdatesMatchFloat64) {
  for (const Row& row : kRows) {
    for (const DType half : {DType::bf16, DType::f16}) check(row, half);
  }
}

// The log-sum-exp comes from the forward pass: any other would make the probabilities of the gradient not add
// up to one.
TEST(Halves, AttentionsGradientMatchesFloat64) {
  const OpDef &forward = get_op("attention"), &op = get_op("attention_grad");
  for (const OpCase& c : forward.cases()) {
    for (const DType half : {DType::bf16, DType::f16}) {
      std::vector<Tensor> in, exact;
      for (size_t i = 0; i < c.in.size(); ++i) {
        in.push_back(fill(half, c.in[i].shape, -2, 2, 21 + i));
        exact.push_back(cast(in.back(), DType::f64));
      }
      const std::vector<Tensor> y = apply(forward, in, c.attrs);
      const Tensor dy = fill(half, y[0].shape(), -2, 2, 31);
      Attrs attrs = c.attrs;
      attrs.set("bias", in.size() == 4);
      attrs.set("dbias", in.size() == 4);
      std::vector<Tensor> all = in, all_exact = exact;
      all.insert(all.end(), {y[0], y[1], dy});
      all_exact.insert(all_exact.end(),
                       {cast(y[0], DType::f64), cast(y[1], DType::f64), cast(dy, DType::f64)});
      expect_close(op, apply(op, all, attrs), apply(op, all_exact, attrs), half);
    }
  }
}

}  // namespace
}  // namespace plimsoll::testing
