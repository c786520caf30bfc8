#include "device/cpu/rnn_support.h"

#include <algorithm>

#include "device/aligned.h"
#include "device/cpu/row_chunks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/rnn_support.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void sums_of(const T* x, size_t rows, size_t stride, size_t n, T* sums) {
  const hn::ScalableTag<T> d;
  vm::for_vectors(d, n, [&](size_t, const auto&, const auto& store) HWY_ATTR { store(hn::Zero(d), sums); });
  for (size_t i = 0; i < rows; ++i, x += stride) {
    vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
      store(hn::Add(load(sums, T{0}), load(x, T{0})), sums);
    });
  }
}

void sums_f32(const float* x, size_t rows, size_t stride, size_t n, float* sums) {
  sums_of<float>(x, rows, stride, n, sums);
}
void sums_f64(const double* x, size_t rows, size_t stride, size_t n, double* sums) {
  sums_of<double>(x, rows, stride, n, sums);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

HWY_EXPORT(sums_f32);
HWY_EXPORT(sums_f64);

size_t u(int64_t n) { return static_cast<size_t>(n); }

}  // namespace

std::variant<Gemm, HalfGemm> input_projection(const RnnSizes& s, int64_t gates) {
  const int64_t width = gates * s.units;
  const GemmProblem problem{.dtype = s.wide(),
                            .m = s.rows(),
                            .n = width,
                            .k = s.features,
                            .a_row = s.features,
                            .b_row = width,
                            .c_row = width,
                            .bias = true,
                            .threads = s.threads};
  if (s.dtype == s.wide()) return Gemm(problem);
  return HalfGemm(problem, {.a = s.dtype, .b = s.dtype, .c = s.wide(), .bias = s.dtype});
}

Gemm weight_gradient(const RnnSizes& s, int64_t gates, int64_t n) {
  const int64_t width = gates * s.units;
  return Gemm({.dtype = s.dtype,
               .m = n,
               .n = width,
               .k = s.rows(),
               .a_row = 1,
               .a_col = n,
               .b_row = width,
               .c_row = width,
               .threads = s.threads});
}

Gemm input_gradient(const RnnSizes& s, int64_t gates) {
  const int64_t width = gates * s.units;
  return Gemm({.dtype = s.dtype,
               .m = s.rows(),
               .n = s.features,
               .k = width,
               .a_row = width,
               .b_row = 1,
               .b_col = width,
               .c_row = s.features,
               .threads = s.threads});
}

namespace {

constexpr int64_t kColumns = 128;    // of one task
constexpr int64_t kBlock = 256;      // whose sums are on the stack
constexpr int64_t kSliceRows = 512;  // the fewest of a slice
constexpr int64_t kSlices = 16;      // the most

void sums_of_slice(const float* x, int64_t rows, int64_t stride, int64_t n, float* sums) {
  HWY_DYNAMIC_DISPATCH(sums_f32)(x, u(rows), u(stride), u(n), sums);
}
void sums_of_slice(const double* x, int64_t rows, int64_t stride, int64_t n, double* sums) {
  HWY_DYNAMIC_DISPATCH(sums_f64)(x, u(rows), u(stride), u(n), sums);
}

// Of n <= kBlock columns. Slices depend on the number of rows alone, and are added in their order.
template <class T>
void block_sums(const T* x, int64_t rows, int64_t stride, int64_t n, T* sums, int threads) {
  alignas(64) T partial[kSlices * kBlock];
  const int64_t slices = std::clamp<int64_t>(rows / kSliceRows, 1, kSlices), strips = divide_up(n, kColumns);
  parallel_for(slices * strips, rows * n < 2 * kChunkElements ? 1 : threads, [&](int64_t task, int) noexcept {
    const int64_t s = task / strips, j = task % strips * kColumns;
    const int64_t begin = rows * s / slices, end = rows * (s + 1) / slices;
    sums_of_slice(x + begin * stride + j, end - begin, stride, std::min(kColumns, n - j),
                  partial + s * kBlock + j);
  });
  std::copy_n(partial, n, sums);
  for (int64_t s = 1; s < slices; ++s) {
    for (int64_t j = 0; j < n; ++j) sums[j] += partial[s * kBlock + j];
  }
}

}  // namespace

void column_sums(DType dtype, const void* x, int64_t rows, int64_t n, void* sums, int threads) {
  const auto typed = [&]<class T>(T*) {
    for (int64_t j = 0; j < n; j += kBlock) {
      block_sums(static_cast<const T*>(x) + j, rows, n, std::min(kBlock, n - j), static_cast<T*>(sums) + j,
                 threads);
    }
  };
  dtype == DType::f64 ? typed(static_cast<double*>(nullptr)) : typed(static_cast<float*>(nullptr));
}

}  // namespace plimsoll
#endif  // HWY_ONCE
