#include "device/cpu/widened.h"

#include <gtest/gtest.h>

#include "common/half.h"
#include "device/cpu/kernel_call_testing.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

// y = x * w (row by row), total = the sum of x over rows: one input and one output with the first axis, one
// of each without.
struct Rows {
  int64_t rows, n;
};
void run_rows(const Rows& r, void* const* args) {
  const float *x = static_cast<const float*>(args[0]), *w = static_cast<const float*>(args[1]);
  float *y = static_cast<float*>(args[2]), *total = static_cast<float*>(args[3]);
  for (int64_t k = 0; k < r.n; ++k) total[k] = 0;
  for (int64_t i = 0; i < r.rows; ++i) {
    for (int64_t k = 0; k < r.n; ++k) {
      y[i * r.n + k] = x[i * r.n + k] * w[k];
      total[k] += x[i * r.n + k];
    }
  }
}
Kernel prepare_rows(const KernelQuery& q) {
  require(q.in[0].dtype == DType::f32 && q.out[0].shape == q.in[0].shape, "rows", "expected float32");
  return make_kernel<Rows, run_rows>("rows", {q.in[0].shape[0], q.in[0].shape[1]});
}
Kernel prepare_sliced(const KernelQuery& q) {
  return prepare_widened(q, prepare_rows, {.length = q.in[0].shape[0], .in = 0b01, .out = 0b01});
}

std::vector<uint16_t> bf16(const std::vector<float>& x) {
  std::vector<uint16_t> halves;
  for (const float v : x) halves.push_back(float_to_bf16(v));
  return halves;
}

// Small integers: every sum is exact, and the total is rounded once, at the end.
TEST(Widened, SlicesGiveWhatTheWholeGives) {
  for (const int64_t rows : {1, 7, 640, 641}) {
    const int64_t n = 4096;
    std::vector<float> x, w;
    for (int64_t i = 0; i < rows * n; ++i) x.push_back(static_cast<float>(i % 13));
    for (int64_t k = 0; k < n; ++k) w.push_back(static_cast<float>(k % 3));
    const std::vector<TensorType> in = {{DType::bf16, {rows, n}}, {DType::bf16, {n}}};
    const std::vector<TensorType> out = {{DType::bf16, {rows, n}}, {DType::bf16, {n}}};
    const std::vector<Bytes> got =
        call_kernel(prepare_sliced, in, out, {}, {to_bytes(bf16(x)), to_bytes(bf16(w))}, 2);
    std::vector<float> y(x.size()), total(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) {
      y[i] = x[i] * w[i % static_cast<size_t>(n)];
      total[i % static_cast<size_t>(n)] += x[i];
    }
    EXPECT_EQ(from_bytes<uint16_t>(got[0]), bf16(y));
    EXPECT_EQ(from_bytes<uint16_t>(got[1]), bf16(total));
  }
}

TEST(Widened, ScratchIsASliceNotAnOperand) {
  const std::vector<TensorType> in = {{DType::bf16, {100000, 64}}, {DType::bf16, {64}}};
  const std::vector<TensorType> out = {{DType::bf16, {100000, 64}}, {DType::bf16, {64}}};
  const Kernel kernel = prepare_sliced(KernelQuery{in, out, {}, 2});
  EXPECT_LT(kernel.scratch, 3 << 20);  // as a whole it would be 51 MB
}

TEST(Widened, NothingOfAnEmptyAxis) {
  const std::vector<TensorType> in = {{DType::bf16, {0, 3}}, {DType::bf16, {3}}};
  const std::vector<TensorType> out = {{DType::bf16, {0, 3}}, {DType::bf16, {3}}};
  const std::vector<Bytes> got = call_kernel(prepare_sliced, in, out, {}, {{}, to_bytes(bf16({1, 2, 3}))}, 1);
  EXPECT_EQ(from_bytes<uint16_t>(got[1]), bf16({0, 0, 0}));
}

}  // namespace
}  // namespace plimsoll
