#include "device/cpu/panel_gemm.h"

#include "device/cpu/half_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/panel_gemm.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/panel_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

size_t packed_f32(size_t k, size_t n) { return panel::packed_size<float>(k, n); }
size_t packed_f64(size_t k, size_t n) { return panel::packed_size<double>(k, n); }
void pack_f32(const float* b, size_t row, size_t col, size_t k, size_t n, float* out) {
  panel::pack<float>(b, row, col, k, n, out);
}
void pack_f64(const double* b, size_t row, size_t col, size_t k, size_t n, double* out) {
  panel::pack<double>(b, row, col, k, n, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

HWY_EXPORT(packed_f32);
HWY_EXPORT(packed_f64);
HWY_EXPORT(pack_f32);
HWY_EXPORT(pack_f64);

size_t u(int64_t n) { return static_cast<size_t>(n); }

}  // namespace

int64_t packed_elements(DType dtype, int64_t k, int64_t n) {
  return static_cast<int64_t>(dtype == DType::f64 ? HWY_DYNAMIC_DISPATCH(packed_f64)(u(k), u(n))
                                                  : HWY_DYNAMIC_DISPATCH(packed_f32)(u(k), u(n)));
}

void pack_panels(DType dtype, const void* b, int64_t row, int64_t col, int64_t k, int64_t n, void* packed) {
  if (dtype == DType::f16 || dtype == DType::bf16) {
    const int64_t width = packed_elements(dtype, 1, 1);
    pack_wide({dtype, b, col, row, n, k, width, k * width}, static_cast<float*>(packed));
  } else if (dtype == DType::f64) {
    HWY_DYNAMIC_DISPATCH(pack_f64)
    (static_cast<const double*>(b), u(row), u(col), u(k), u(n), static_cast<double*>(packed));
  } else {
    HWY_DYNAMIC_DISPATCH(pack_f32)
    (static_cast<const float*>(b), u(row), u(col), u(k), u(n), static_cast<float*>(packed));
  }
}

}  // namespace plimsoll
#endif  // HWY_ONCE
