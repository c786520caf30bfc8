#include "device/cpu/half_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/half_rows.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/transpose-inl.h"
#include "device/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kStrip = 64;  // columns of a transposed panel that are widened at a time

// In whole vectors, then in four elements, then one by one: panels of A are 6 or 12 wide.
template <class From, class To>
HWY_INLINE void convert(const From* x, size_t n, To* out) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 4> d4;
  size_t i = 0;
  for (const size_t lanes = hn::Lanes(d); i + lanes <= n; i += lanes)
    vm::store(vm::load(d, x + i), d, out + i);
  for (const size_t lanes = hn::Lanes(d4); i + lanes <= n; i += lanes)
    vm::store(vm::load(d4, x + i), d4, out + i);
  for (; i < n; ++i) plimsoll::store(out[i], plimsoll::load(x[i]));
}

// Rows contiguous along p: four at a time, a strip of each widened into the cache, then transposed.
template <class S>
void pack_rows(const S* x, int64_t row, int64_t count, int64_t k, int64_t width, float* out) {
  HWY_ALIGN float strip[4][kStrip];
  for (int64_t q = 0; q < width; q += 4) {
    const int64_t rows = std::min<int64_t>(4, width - q);
    for (int64_t p = 0; p < k; p += kStrip) {
      const int64_t n = std::min(kStrip, k - p);
      for (int64_t i = 0; i < 4; ++i) {
        if (q + i < count)
          convert(x + (q + i) * row + p, static_cast<size_t>(n), strip[i]);
        else
          std::fill_n(strip[i], n, 0.0f);
      }
      int64_t at = 0;
      for (; rows == 4 && at + 4 <= n; at += 4) {
        transpose(strip[0] + at, strip[1] + at, strip[2] + at, strip[3] + at, out + (p + at) * width + q,
                  width);
      }
      for (; at < n; ++at) {
        for (int64_t i = 0; i < rows; ++i) out[(p + at) * width + q + i] = strip[i][at];
      }
    }
  }
}

template <class S>
void pack_as(const PanelSource& f, float* out) {
  const S* const x = static_cast<const S*>(f.x);
  for (int64_t i = 0; i < f.count; i += f.width, out += f.panel) {
    const int64_t rows = std::min(f.width, f.count - i);
    const S* const from = x + i * f.row;
    if (f.row == 1) {
      for (int64_t p = 0; p < f.k; ++p) {
        convert(from + p * f.col, static_cast<size_t>(rows), out + p * f.width);
        std::fill(out + p * f.width + rows, out + (p + 1) * f.width, 0.0f);
      }
    } else if (f.col == 1) {
      pack_rows(from, f.row, rows, f.k, f.width, out);
    } else {
      for (int64_t p = 0; p < f.k; ++p) {
        for (int64_t r = 0; r < rows; ++r) out[p * f.width + r] = plimsoll::load(from[r * f.row + p * f.col]);
        std::fill(out + p * f.width + rows, out + (p + 1) * f.width, 0.0f);
      }
    }
  }
}

void pack_any(const PanelSource& f, float* out) {
  if (f.dtype == DType::bf16) return pack_as<BrainBits>(f, out);
  if (f.dtype == DType::f16) return pack_as<HalfBits>(f, out);
  pack_as<float>(f, out);
}

void widen_any(DType from, const void* x, size_t n, float* out) {
  if (from == DType::bf16) return convert(static_cast<const BrainBits*>(x), n, out);
  if (from == DType::f16) return convert(static_cast<const HalfBits*>(x), n, out);
  convert(static_cast<const float*>(x), n, out);
}

void narrow_any(const float* x, size_t n, DType to, void* out) {
  if (to == DType::bf16) return convert(x, n, static_cast<BrainBits*>(out));
  if (to == DType::f16) return convert(x, n, static_cast<HalfBits*>(out));
  convert(x, n, static_cast<float*>(out));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {

HWY_EXPORT(pack_any);
HWY_EXPORT(widen_any);
HWY_EXPORT(narrow_any);

void pack_wide(const PanelSource& from, float* out) { HWY_DYNAMIC_DISPATCH(pack_any)(from, out); }
void widen_row(DType from, const void* x, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(widen_any)(from, x, static_cast<size_t>(n), out);
}
void narrow_row(const float* x, int64_t n, DType to, void* out) {
  HWY_DYNAMIC_DISPATCH(narrow_any)(x, static_cast<size_t>(n), to, out);
}

}  // namespace plimsoll
#endif  // HWY_ONCE
