#include "layers/base/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

double triangle(double x) { return std::max(0.0, 1 - x); }
double cubic(double x) {  // Keys, a = -0.5
  if (x < 1) return ((1.5 * x - 2.5) * x) * x + 1;
  if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
  return 0;
}
double lanczos(double x, double radius) {
  constexpr double kPi = std::numbers::pi;
  if (x > radius) return 0;
  if (x <= 1e-3) return 1;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}
double lanczos3(double x) { return lanczos(x, 3); }
double lanczos5(double x) { return lanczos(x, 5); }

using Weight = double (*)(double distance);

// (out, in): how much of each element goes into each new one.
Tensor weights(int64_t in, int64_t out, Weight weight, bool antialias, DType dtype) {
  constexpr double kLeastTotal = 1000 * 1.1920929e-7;
  const double step = double(in) / double(out);
  const double width = antialias ? std::max(step, 1.0) : 1.0;
  const Tensor w = Tensor::empty(DType::f64, {out, in});
  for (int64_t o = 0; o < out; ++o) {
    const double at = (double(o) + 0.5) * step - 0.5;
    double* row = w.data<double>() + o * in;
    double total = 0;
    for (int64_t i = 0; i < in; ++i) {
      row[i] = weight(std::fabs(at - double(i)) / width);
      total += row[i];
    }
    const double scale = std::fabs(total) > kLeastTotal ? 1 / total : 0;
    for (int64_t i = 0; i < in; ++i) row[i] *= scale;
  }
  return cast(w, dtype);
}

Tensor nearest(const Tensor& x, int axis, int64_t out) {
  const int64_t in = x.dim(axis);
  const Tensor from = Tensor::empty(DType::i32, {out});
  for (int64_t o = 0; o < out; ++o) {
    const auto at = static_cast<int64_t>(std::floor((double(o) + 0.5) * double(in) / double(out)));
    from.data<int32_t>()[o] = static_cast<int32_t>(std::clamp<int64_t>(at, 0, in - 1));
  }
  return take(x, from, axis);
}

Weight weight_of(std::string_view interpolation, std::string_view place) {
  check_choice(place, "interpolation", interpolation,
               {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"});
  if (interpolation == "bilinear") return triangle;
  if (interpolation == "bicubic") return cubic;
  return interpolation == "lanczos3" ? lanczos3 : lanczos5;
}

}  // namespace

Tensor resize_images(const Tensor& x, int64_t rows, int64_t columns, std::string_view interpolation,
                     bool antialias, std::string_view place) {
  require(x.rank() == 4, place, "expected images (batch, rows, columns, channels), got shape ", x.shape());
  require(rows > 0 && columns > 0 && x.dim(1) > 0 && x.dim(2) > 0, place, "expected sizes > 0, got ", rows,
          " x ", columns, " from ", x.shape());
  const Weight weight = weight_of(interpolation, place);
  Tensor y = x;
  if (interpolation == "nearest") {
    if (rows != x.dim(1)) y = nearest(y, 1, rows);
    if (columns != x.dim(2)) y = nearest(y, 2, columns);
    return y;
  }
  if (!is_float(y.dtype())) y = cast(y, DType::f32);
  // Contracting one axis puts the other three first: (b, h, w, c) x (H, h) is (b, w, c, H).
  if (rows != x.dim(1)) {
    y = dot_general(y, weights(x.dim(1), rows, weight, antialias, y.dtype()), {1}, {1});
    y = transpose(y, {0, 3, 1, 2});
  }
  if (columns != x.dim(2)) {
    y = dot_general(y, weights(x.dim(2), columns, weight, antialias, y.dtype()), {2}, {1});
    y = transpose(y, {0, 1, 3, 2});
  }
  return y;
}

}  // namespace plimsoll
