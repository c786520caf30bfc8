// Functions of keras.ops of matrices and waves: decompositions, solutions, Fourier transforms.
#include <cmath>

#include "layers/base/einsum.h"
#include "layers/base/operation_tables.h"
#include "layers/base/windows.h"
#include "plimsoll/ops/fft.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::operation {
namespace {

Tensor matrices_of(const Operands& o) {
  const Tensor x = to_float(x_of(o));
  if (x.rank() < 2) o.missing("x");
  return x;
}
Tensor turned(const Tensor& x) {
  Ints order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

// Right sides of one axis less than the matrices are vectors.
template <class F>
Tensor solved(const Operands& o, F f) {
  const Tensor a = to_float(o.tensor(0, "a"));
  Tensor b = cast(o.tensor(1, "b"), a.dtype());
  const bool vectors = b.rank() == a.rank() - 1;
  if (vectors) b = expand_dims(b, b.rank());
  if (a.rank() < 2 || b.rank() != a.rank()) o.missing("b");
  const Tensor x = f(a, b);
  return vectors ? squeeze(x, -1) : x;
}

Tensor cholesky_of(const Operands& o) {
  const Tensor lower = cholesky(matrices_of(o));
  return o.flag(1, "upper") ? turned(lower) : lower;
}

Tensor pseudo_inverse(const Operands& o) {
  const Tensor x = matrices_of(o);
  if (o.option(1, "rcond")) unsupported(o, "pinv with rcond");
  const Tensors usv = svd(x);
  const double size = static_cast<double>(std::max(x.dim(-1), x.dim(-2)));
  const double epsilon = x.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23;
  const Tensor least = max(usv[1], {-1}, true) * (10 * size * epsilon);
  const Tensor counts = greater(usv[1], least);
  const Tensor inverse =
      where(counts, reciprocal(where(counts, usv[1], scalar_like(usv[1], 1))), scalar_like(usv[1], 0));
  return matmul(turned(usv[2]) * expand_dims(inverse, inverse.rank() - 1), turned(usv[0]));
}

// L and U in one matrix, as LAPACK has them, and the rows that were exchanged.
Tensors lu_factors(const Operands& o) {
  Tensors all = lu(matrices_of(o));
  all.resize(2);
  return all;
}

Tensors factors(const Operands& o) {
  const std::string mode = o.text(1, "mode");
  return qr(matrices_of(o), mode == "complete");
}

// ---- waves -------------------------------------------------------------------------------------

struct Wave {
  Tensor real, imag;
};
Wave wave_of(const Operands& o) {
  const Tensors parts = o.tensors(0, "x");
  if (parts.size() != 2) o.missing("x");
  return {to_float(parts[0]), to_float(parts[1])};
}
template <Tensors (*f)(const Tensor&, const Tensor&)>
Tensors transformed(const Operands& o) {
  const Wave w = wave_of(o);
  return f(w.real, w.imag);
}

// The last axis cut or filled up with zeros.
Tensor of_length(const Tensor& x, int64_t length) {
  const int axis = x.rank() - 1;
  if (x.dim(-1) >= length) return part_of(x, axis, 0, length);
  Ints low(static_cast<size_t>(x.rank()), 0), high(low);
  high.back() = length - x.dim(-1);
  return pad(x, low, high);
}
int64_t length_of(const Operands& o, int64_t otherwise) {
  const int64_t n = o.option(1, "fft_length") ? o.integer(1, "fft_length") : otherwise;
  if (n < 1 || n > (int64_t{1} << 30)) o.missing("fft_length");
  return n;
}
Tensors real_transform(const Operands& o) {
  const Tensor x = to_float(x_of(o));
  return rfft(of_length(x, length_of(o, x.dim(-1))));
}
Tensor real_inverse(const Operands& o) {
  const Wave w = wave_of(o);
  const int64_t n = length_of(o, 2 * (w.real.dim(-1) - 1));
  return irfft(of_length(w.real, n / 2 + 1), of_length(w.imag, n / 2 + 1), n);
}

Tensor frames(const Operands& o, const Tensor& x, int64_t length, int64_t stride) {
  const int64_t n = x.dim(-1);
  if (length < 1 || stride < 1 || n < length) o.missing("sequence_length");
  const int64_t count = (n - length) / stride + 1;
  std::vector<int32_t> places;
  if (checked_mul(count, length, o.place()) > INT32_MAX / 4) unsupported(o, "so many sequences");
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < length; ++k) places.push_back(static_cast<int32_t>(i * stride + k));
  return take(x, Tensor::from<int32_t>(places, {count, length}), x.rank() - 1);
}

Tensors short_time_transform(const Operands& o) {
  Tensor x = to_float(x_of(o));
  const int64_t length = o.integer(1, "sequence_length"), stride = o.integer(2, "sequence_stride"),
                all = o.integer(3, "fft_length");
  if (length < 1 || all < length || all > (int64_t{1} << 24)) o.missing("fft_length");
  const Json* center = o.option(5, "center");
  if (!center || o.flag(5, "center")) {  // mirrored at both ends
    const int64_t half = all / 2, n = x.dim(-1);
    if (n <= half) o.missing("fft_length");
    const Tensor parts[] = {reverse(part_of(x, x.rank() - 1, 1, half + 1), {x.rank() - 1}), x,
                            reverse(part_of(x, x.rank() - 1, n - half - 1, n - 1), {x.rank() - 1})};
    x = concatenate(parts, x.rank() - 1);
  }
  std::vector<double> window(static_cast<size_t>(all), 0.0);
  const Json* given = o.option(4, "window");
  if (given && !given->is_string()) unsupported(o, "stft with a window of its own values");
  std::vector<double> values(static_cast<size_t>(length), 1.0);
  if (given) values = window_values(Window(o.text(4, "window").c_str()), length, true, o.place());
  std::copy(values.begin(), values.end(), window.begin() + (all - length) / 2);
  const Tensor w = cast(Tensor::from<double>(window, {all}), x.dtype());
  return rfft(frames(o, x, all, stride) * w);
}

Tensor distances(const Operands& o) {
  const Tensor x = to_float(o.tensor(0, "x")), y = to_float(o.tensor(1, "y"));
  const Tensor difference = expand_dims(x, x.rank() - 1) - expand_dims(y, y.rank() - 2);
  return sqrt(sum(square(difference), {-1}));
}

}  // namespace

const Functions& algebra_functions() {
  static const Functions all_functions = {
      {"Cholesky", cholesky_of},
      {"CholeskyInverse",
       [](const Operands& o) {
         const Tensor x = matrices_of(o), lower = o.flag(1, "upper") ? turned(x) : x;
         return inv(matmul(lower, turned(lower)));
       }},
      {"Solve",
       [](const Operands& o) {
         return solved(o, [](const Tensor& a, const Tensor& b) { return solve(a, b); });
       }},
      {"SolveTriangular",
       [](const Operands& o) {
         const bool lower = o.flag(2, "lower");
         return solved(o, [&](const Tensor& a, const Tensor& b) { return triangular_solve(a, b, lower); });
       }},
      {"Pinv", pseudo_inverse},
      {"Logdet", [](const Operands& o) { return slogdet(matrices_of(o))[1]; }},
      {"CDist", distances},
      {"IRFFT", real_inverse},
      {"ExtractSequences",
       [](const Operands& o) {
         return frames(o, x_of(o), o.integer(1, "sequence_length"), o.integer(2, "sequence_stride"));
       }},
  };
  return all_functions;
}

const ManyFunctions& algebra_many_functions() {
  static const ManyFunctions all_functions = {
      {"Eigh", [](const Operands& o) { return eigh(matrices_of(o)); }},
      {"LuFactor", lu_factors},
      {"Qr", factors},
      {"SVD",
       [](const Operands& o) {
         const Json* vectors = o.option(2, "compute_uv");
         const Json* full = o.option(1, "full_matrices");
         const Tensors all = svd(matrices_of(o), !full || o.flag(1, "full_matrices"));
         return vectors && !o.flag(2, "compute_uv") ? Tensors{all[1]} : all;
       }},
      {"Slogdet", [](const Operands& o) { return slogdet(matrices_of(o)); }},
      {"FFT", transformed<fft>},
      {"FFT2", transformed<fft2>},
      {"IFFT2", transformed<ifft2>},
      {"RFFT", real_transform},
      {"STFT", short_time_transform},
  };
  return all_functions;
}

}  // namespace plimsoll::operation
