#include "device/cpu/rnn_support.h"

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

// Threads share out the columns: each column is one sum in order of the rows.
void column_sums(DType dtype, const void* x, int64_t rows, int64_t n, void* sums, int threads) {
  constexpr int64_t kColumns = 128;
  const int64_t chunks = divide_up(n, kColumns);
  auto chunk = [&](int64_t c, int) noexcept {
    const int64_t j = c * kColumns;
    const size_t some = u(std::min(kColumns, n - j));
    if (dtype == DType::f64) {
      HWY_DYNAMIC_DISPATCH(sums_f64)
      (static_cast<const double*>(x) + j, u(rows), u(n), some, static_cast<double*>(sums) + j);
    } else {
      HWY_DYNAMIC_DISPATCH(sums_f32)
      (static_cast<const float*>(x) + j, u(rows), u(n), some, static_cast<float*>(sums) + j);
    }
  };
  parallel_for(chunks, rows * n < 2 * kChunkElements ? 1 : threads, chunk);
}

}  // namespace plimsoll
#endif  // HWY_ONCE
