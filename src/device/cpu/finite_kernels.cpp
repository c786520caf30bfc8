#include "device/cpu/finite_kernels.h"

#include <algorithm>
#include <atomic>

#include "device/cpu/row_chunks.h"
#include "device/cpu/typed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/finite_kernels.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors that one round of the loop looks at, each into a sum of its own.
constexpr size_t kAtOnce = 8;

// Folds all vectors with `add` into zeros; whether the results are good. Zeros must be.
template <class D, class Add, class Good, class T = hn::TFromD<D>>
HWY_INLINE bool all_of(D d, const T* x, size_t n, const Add& add, const Good& good) {
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  size_t i = 0;
  for (; i + kAtOnce * lanes <= n; i += kAtOnce * lanes) {
    a = add(hn::LoadU(d, x + i), a);
    b = add(hn::LoadU(d, x + i + lanes), b);
    c = add(hn::LoadU(d, x + i + 2 * lanes), c);
    e = add(hn::LoadU(d, x + i + 3 * lanes), e);
    a = add(hn::LoadU(d, x + i + 4 * lanes), a);
    b = add(hn::LoadU(d, x + i + 5 * lanes), b);
    c = add(hn::LoadU(d, x + i + 6 * lanes), c);
    e = add(hn::LoadU(d, x + i + 7 * lanes), e);
  }
  for (; i + lanes <= n; i += lanes) a = add(hn::LoadU(d, x + i), a);
  HWY_ALIGN T rest[hn::MaxLanes(d)] = {};
  std::copy(x + i, x + n, rest);
  b = add(hn::Load(d, rest), b);
  return good(a) && good(b) && good(c) && good(e);
}

// A number times zero is zero, but what is not finite is NaN and stays.
template <class T>
bool finite_span(const T* x, size_t n) {
  const hn::ScalableTag<T> d;
  const auto zero = hn::Zero(d);
  return all_of(
      d, x, n, [&](auto v, auto sum) HWY_ATTR { return hn::MulAdd(v, zero, sum); },
      [&](auto sum) HWY_ATTR { return hn::AllTrue(d, hn::Eq(sum, zero)); });
}

// Without its sign, what is not finite is the largest, as a whole number too.
bool finite_halves(const uint16_t* x, size_t n, uint16_t infinity) {
  const hn::ScalableTag<uint16_t> d;
  const auto number = hn::Set(d, 0x7FFF), least_bad = hn::Set(d, infinity);
  return all_of(
      d, x, n, [&](auto v, auto most) HWY_ATTR { return hn::Max(hn::And(v, number), most); },
      [&](auto most) HWY_ATTR { return hn::AllTrue(d, hn::Lt(most, least_bad)); });
}

bool finite_any(DType dtype, const void* x, size_t n) {
  switch (dtype) {
    case DType::f64: return finite_span(static_cast<const double*>(x), n);
    case DType::f32: return finite_span(static_cast<const float*>(x), n);
    case DType::f16: return finite_halves(static_cast<const uint16_t*>(x), n, 0x7C00);
    default: return finite_halves(static_cast<const uint16_t*>(x), n, 0x7F80);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {

HWY_EXPORT(finite_any);

bool all_finite(DType dtype, const void* x, int64_t n, int threads) {
  const auto size = static_cast<int64_t>(size_of(dtype));
  std::atomic<bool> all = true;
  parallel_rows(n, 1, threads, [&](int64_t b, int64_t e) {
    if (!HWY_DYNAMIC_DISPATCH(finite_any)(dtype, static_cast<const char*>(x) + b * size,
                                          static_cast<size_t>(e - b)))
      all.store(false, std::memory_order_relaxed);
  });
  return all;
}

}  // namespace plimsoll
#endif  // HWY_ONCE
