// Four by four elements transposed, for packing operands of matrix products. Included once per Highway
// target, hence the unusual guard.
#if defined(PLIMSOLL_DEVICE_CPU_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_DEVICE_CPU_TRANSPOSE_INL_H_
#undef PLIMSOLL_DEVICE_CPU_TRANSPOSE_INL_H_
#else
#define PLIMSOLL_DEVICE_CPU_TRANSPOSE_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows r0 to r3, contiguous in memory, are written as columns, `width` elements from one row of out to the
// next.
#if HWY_TARGET == HWY_SCALAR
template <class T>
HWY_INLINE void transpose(const T* r0, const T* r1, const T* r2, const T* r3, T* out, int64_t width) {
  const T* const rows[] = {r0, r1, r2, r3};
  for (int i = 0; i < 16; ++i) out[i / 4 * width + i % 4] = rows[i % 4][i / 4];
}
#else
HWY_INLINE void transpose(const float* r0, const float* r1, const float* r2, const float* r3, float* out,
                          int64_t width) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> d2;
  const auto v0 = hn::LoadU(d, r0), v1 = hn::LoadU(d, r1), v2 = hn::LoadU(d, r2), v3 = hn::LoadU(d, r3);
  const auto lo01 = hn::BitCast(d2, hn::InterleaveLower(d, v0, v1));
  const auto hi01 = hn::BitCast(d2, hn::InterleaveUpper(d, v0, v1));
  const auto lo23 = hn::BitCast(d2, hn::InterleaveLower(d, v2, v3));
  const auto hi23 = hn::BitCast(d2, hn::InterleaveUpper(d, v2, v3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, lo01, lo23)), d, out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, lo01, lo23)), d, out + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, hi01, hi23)), d, out + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, hi01, hi23)), d, out + 3 * width);
}

HWY_INLINE void transpose(const double* r0, const double* r1, const double* r2, const double* r3, double* out,
                          int64_t width) {
  const hn::FixedTag<double, 2> d;
  for (int half = 0; half < 2; ++half) {
    const auto v0 = hn::LoadU(d, r0 + 2 * half), v1 = hn::LoadU(d, r1 + 2 * half);
    const auto v2 = hn::LoadU(d, r2 + 2 * half), v3 = hn::LoadU(d, r3 + 2 * half);
    double* const o = out + 2 * half * width;
    hn::StoreU(hn::InterleaveLower(d, v0, v1), d, o);
    hn::StoreU(hn::InterleaveLower(d, v2, v3), d, o + 2);
    hn::StoreU(hn::InterleaveUpper(d, v0, v1), d, o + width);
    hn::StoreU(hn::InterleaveUpper(d, v2, v3), d, o + width + 2);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#endif
