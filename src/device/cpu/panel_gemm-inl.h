// C = A . B for the small products inside recurrent layers and attention: B is packed once into panels of two
// vectors of columns and used many times, A is read through strides. Each element of C is one sum over k in
// order, whatever the number of rows in a call, so cutting rows among threads changes no bit. Included once
// per Highway target.
#if defined(PLIMSOLL_DEVICE_CPU_PANEL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_DEVICE_CPU_PANEL_GEMM_INL_H_
#undef PLIMSOLL_DEVICE_CPU_PANEL_GEMM_INL_H_
#else
#define PLIMSOLL_DEVICE_CPU_PANEL_GEMM_INL_H_
#endif

#include "device/cpu/transpose-inl.h"
#include "device/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace panel {

namespace hn = hwy::HWY_NAMESPACE;

// n elements from one type to the other, by way of T: a plain copy, or halves to f32 or back.
template <class T, class From, class To>
HWY_INLINE void convert(const From* from, To* to, size_t n) {
  const hn::ScalableTag<T> d;
  vm::for_vectors(d, n,
                  [&](size_t, const auto& load, const auto& store) HWY_ATTR { store(load(from, 0), to); });
}

template <class T>
HWY_INLINE size_t width() {
  return 2 * hn::Lanes(hn::ScalableTag<T>());
}

// Elements that k x n take when packed.
template <class T>
HWY_INLINE size_t packed_size(size_t k, size_t n) {
  return (n + width<T>() - 1) / width<T>() * width<T>() * k;
}

// b(p, j) lies at b[p * row + j * col]. Columns that fill up the last panel are zero.
template <class T>
void pack(const T* HWY_RESTRICT b, size_t row, size_t col, size_t k, size_t n, T* HWY_RESTRICT packed) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d), w = 2 * lanes;
  for (size_t j = 0; j < n; j += w) {
    const size_t some = HWY_MIN(w, n - j);
    if (col == 1 && some == w) {
      for (size_t p = 0; p < k; ++p, packed += w) {
        hn::Store(hn::LoadU(d, b + p * row + j), d, packed);
        hn::Store(hn::LoadU(d, b + p * row + j + lanes), d, packed + lanes);
      }
      continue;
    }
    // Column by column: in a transposed B these are the contiguous ones.
    size_t first = 0;
    if (row == 1 && some == w && w % 4 == 0) {
      for (; first + 4 <= k; first += 4) {
        for (size_t c = 0; c < w; c += 4) {
          const T* const at = b + first + (j + c) * col;
          transpose(at, at + col, at + 2 * col, at + 3 * col, packed + first * w + c,
                    static_cast<int64_t>(w));
        }
      }
    }
    for (size_t c = 0; c < some; ++c) {
      for (size_t p = first; p < k; ++p) packed[p * w + c] = b[p * row + (j + c) * col];
    }
    for (size_t c = some; c < w; ++c) {
      for (size_t p = 0; p < k; ++p) packed[p * w + c] = 0;
    }
    packed += k * w;
  }
}

template <class T>
struct Operand {  // A(i, p) lies at data[i * row + p * col]
  const T* data;
  size_t row, col;
};

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void put(D d, hn::Vec<D> v0, hn::Vec<D> v1, T* c, size_t columns, bool accumulate) {
  const size_t lanes = hn::Lanes(d);
  if (columns == 2 * lanes) {
    if (accumulate) v0 = hn::Add(v0, hn::LoadU(d, c)), v1 = hn::Add(v1, hn::LoadU(d, c + lanes));
    hn::StoreU(v0, d, c);
    hn::StoreU(v1, d, c + lanes);
    return;
  }
  const size_t first = HWY_MIN(columns, lanes), second = columns - first;
  if (accumulate) {
    v0 = hn::Add(v0, vm::load_first(d, c, first, T{0}));
    v1 = hn::Add(v1, vm::load_first(d, c + first, second, T{0}));
  }
  vm::store_first(v0, d, c, first);
  vm::store_first(v1, d, c + first, second);
}

// kRows rows of one panel: up to 12 accumulators, two vectors of B and one of A fill the 16 registers of
// AVX2. They have names because vectors of run-time size cannot be in arrays.
template <int kRows, class T>
HWY_INLINE void tile(const Operand<T>& a, const T* HWY_RESTRICT b, size_t k, T* c, size_t c_row,
                     size_t columns, bool accumulate) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  auto c00 = zero, c01 = zero, c10 = zero, c11 = zero, c20 = zero, c21 = zero;
  auto c30 = zero, c31 = zero, c40 = zero, c41 = zero, c50 = zero, c51 = zero;
  const T* HWY_RESTRICT at = a.data;
  for (size_t p = 0; p < k; ++p, b += 2 * lanes, at += a.col) {
    const auto b0 = hn::Load(d, b), b1 = hn::Load(d, b + lanes);
    auto v = hn::Set(d, at[0]);
    c00 = hn::MulAdd(v, b0, c00), c01 = hn::MulAdd(v, b1, c01);
    if constexpr (kRows > 1)
      v = hn::Set(d, at[a.row]), c10 = hn::MulAdd(v, b0, c10), c11 = hn::MulAdd(v, b1, c11);
    if constexpr (kRows > 2)
      v = hn::Set(d, at[2 * a.row]), c20 = hn::MulAdd(v, b0, c20), c21 = hn::MulAdd(v, b1, c21);
    if constexpr (kRows > 3)
      v = hn::Set(d, at[3 * a.row]), c30 = hn::MulAdd(v, b0, c30), c31 = hn::MulAdd(v, b1, c31);
    if constexpr (kRows > 4)
      v = hn::Set(d, at[4 * a.row]), c40 = hn::MulAdd(v, b0, c40), c41 = hn::MulAdd(v, b1, c41);
    if constexpr (kRows > 5)
      v = hn::Set(d, at[5 * a.row]), c50 = hn::MulAdd(v, b0, c50), c51 = hn::MulAdd(v, b1, c51);
  }
  put(d, c00, c01, c, columns, accumulate);
  if constexpr (kRows > 1) put(d, c10, c11, c + c_row, columns, accumulate);
  if constexpr (kRows > 2) put(d, c20, c21, c + 2 * c_row, columns, accumulate);
  if constexpr (kRows > 3) put(d, c30, c31, c + 3 * c_row, columns, accumulate);
  if constexpr (kRows > 4) put(d, c40, c41, c + 4 * c_row, columns, accumulate);
  if constexpr (kRows > 5) put(d, c50, c51, c + 5 * c_row, columns, accumulate);
}

// C (m x n, row stride c_row) = A (m x k) . B, or += if `accumulate`. B was packed with `packed_k` >= k rows
// and at least n columns; `packed` is aligned to a vector.
template <class T>
void multiply(const Operand<T>& a, const T* packed, size_t packed_k, size_t m, size_t n, size_t k, T* c,
              size_t c_row, bool accumulate) {
  if (m == 0) return;
  const size_t w = width<T>();
  // Rows are spread evenly: 32 rows are tiles of 6 and 5 rather than five of 6 and a slow one of 2.
  const size_t tiles = (m + 5) / 6, least = m / tiles, larger = m % tiles;
  for (size_t j = 0; j < n; j += w, packed += packed_k * w) {
    const size_t columns = HWY_MIN(w, n - j);
    for (size_t t = 0, i = 0, rows = 0; t < tiles; ++t, i += rows) {
      rows = least + (t < larger ? 1 : 0);
      const Operand<T> some{a.data + i * a.row, a.row, a.col};
      T* const out = c + i * c_row + j;
      switch (rows) {
        case 1: tile<1, T>(some, packed, k, out, c_row, columns, accumulate); break;
        case 2: tile<2, T>(some, packed, k, out, c_row, columns, accumulate); break;
        case 3: tile<3, T>(some, packed, k, out, c_row, columns, accumulate); break;
        case 4: tile<4, T>(some, packed, k, out, c_row, columns, accumulate); break;
        case 5: tile<5, T>(some, packed, k, out, c_row, columns, accumulate); break;
        default: tile<6, T>(some, packed, k, out, c_row, columns, accumulate); break;
      }
    }
  }
}

}  // namespace panel
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#endif
