#include "support/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "plimsoll/error.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace

double tolerance_for(double f32_tolerance, DType dtype) {
  switch (dtype) {
    case DType::f16: return std::max(f32_tolerance, kFloat16Tolerance);
    case DType::bf16: return std::max(f32_tolerance, kBfloat16Tolerance);
    case DType::f32:
    case DType::c64: return f32_tolerance;
    case DType::f64:
    case DType::c128: return f32_tolerance * kFloat64Share;
    default: return 0;
  }
}

std::string difference(const Tensor& got, const Tensor& want, double tolerance, double least) {
  if (got.type() != want.type()) return concat("got ", got.type(), ", want ", want.type());
  const int64_t n = parts(want);
  double largest = least;
  for (int64_t i = 0; i < n; ++i) {
    const double w = std::fabs(element(want, i));
    if (std::isfinite(w)) largest = std::max(largest, w);
  }
  double worst = 0;
  int64_t first = -1;
  for (int64_t i = 0; i < n; ++i) {
    const double g = element(got, i);
    const double w = element(want, i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double off = std::fabs(g - w);
    if (off <= tolerance * largest) continue;  // false for NaN
    if (first < 0) first = i;
    worst = std::isnan(off) ? INFINITY : std::max(worst, off);
  }
  if (first < 0) return "";
  return concat("element ", first, " of ", want.type(), ": got ", number(element(got, first)), ", want ",
                number(element(want, first)), "; off by up to ",
                number(largest > 0 ? worst / largest : worst), " of the largest element, allowed ",
                number(tolerance));
}

std::string bit_difference(const Tensor& got, const Tensor& want) {
  if (got.type() != want.type()) return concat("got ", got.type(), ", want ", want.type());
  const auto bytes = static_cast<size_t>(byte_size(want.dtype(), want.shape()));
  if (bytes == 0 || std::memcmp(got.data(), want.data(), bytes) == 0) return "";
  const std::string how = difference(got, want, 0);
  return how.empty() ? "bits differ in NaNs or signed zeros only" : how;
}

}  // namespace plimsoll::testing
