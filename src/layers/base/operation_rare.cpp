// Functions of keras.ops that few models call: of numbers, of order, cross-entropies, updates of parts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "layers/base/images.h"
#include "layers/base/json_parts.h"
#include "layers/base/operation_tables.h"
#include "plimsoll/ops/complex.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/order.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::operation {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor left_of(const Operands& o) { return o.tensor(0, "x1"); }
Tensor right_of(const Operands& o) { return o.tensor(1, "x2"); }
Tensor is_nan(const Tensor& x) { return not_equal(x, x); }
Tensor zero_of(const Tensor& x) { return scalar_like(x, 0); }

// ---- numbers -----------------------------------------------------------------------------------

// The other one where one is not a number.
template <Tensor (*f)(const Tensor&, const Tensor&)>
Tensor but_nan(const Operands& o) {
  const Tensor a = left_of(o), b = right_of(o);
  return where(is_nan(a), b, where(is_nan(b), a, f(a, b)));
}

Tensor heaviside(const Operands& o) {
  const Tensor x = to_float(left_of(o)), at_zero = to_float(right_of(o));
  const Tensor y =
      where(less(x, zero_of(x)), zero_of(x), where(greater(x, zero_of(x)), scalar_like(x, 1), at_zero));
  return where(is_nan(x), x, y);
}

Tensor log_add_exp2(const Operands& o) {
  const Tensor a = to_float(left_of(o)), b = to_float(right_of(o));
  const Tensor most = maximum(a, b);
  const Tensor more = log1p(exp(absolute(a - b) * -std::numbers::ln2)) * std::numbers::log2e;
  return where(equal(a, b), a + 1.0, most + more);
}

Tensor sinc(const Operands& o) {
  const Tensor x = to_float(x_of(o));
  const Tensor none = equal(x, zero_of(x)), angle = where(none, scalar_like(x, 1), x) * std::numbers::pi;
  return where(none, scalar_like(x, 1), divide(sin(angle), angle));
}

Tensor sign_bit(const Operands& o) {
  const Tensor x = x_of(o);
  if (!is_float(x.dtype())) return less(x, zero_of(x));
  return less(where(equal(x, zero_of(x)), divide(scalar_like(x, 1), x), x), zero_of(x));
}

Tensor all_close(const Operands& o) {
  const Tensor a = to_float(left_of(o)), b = to_float(right_of(o));
  const Tensor reach = absolute(b) * o.real(2, "rtol", 1e-5) + o.real(3, "atol", 1e-8);
  Tensor close = bitwise_or(equal(a, b), bitwise_and(isfinite(b), less_equal(absolute(a - b), reach)));
  if (o.flag(4, "equal_nan")) close = bitwise_or(close, bitwise_and(is_nan(a), is_nan(b)));
  return plimsoll::all(close);
}

Tensor saturated(const Operands& o) {
  const Tensor x = x_of(o);
  const DType to = o.dtype(1, "dtype", x.dtype());
  if (!is_integer(to)) return cast(x, to);
  const int bits = static_cast<int>(size_of(to)) * 8;
  const double most = is_signed_int(to) ? std::ldexp(1.0, bits - 1) - 1 : std::ldexp(1.0, bits) - 1;
  if (bits > 32) unsupported(o, "saturate_cast to 64 bits");
  return cast(clip(cast(x, DType::f64), is_signed_int(to) ? -most - 1 : 0.0, most), to);
}

// Euclid's, in as many steps as the worst two numbers of 32 bits take.
Tensor common_divisor(Tensor a, Tensor b) {
  constexpr int kSteps = 47;
  a = absolute(a), b = absolute(b);
  const DType type = promote(a.dtype(), b.dtype());
  a = cast(a, type), b = cast(b, type);
  for (int i = 0; i < kSteps; ++i) {
    const Tensor done = equal(b, zero_of(b));
    const Tensor rest = where(done, zero_of(b), mod(a, where(done, scalar_like(b, 1), b)));
    a = where(done, a, b);
    b = rest;
  }
  return a;
}
Tensor gcd(const Operands& o) { return common_divisor(left_of(o), right_of(o)); }
Tensor lcm(const Operands& o) {
  const Tensor a = left_of(o), b = right_of(o), divisor = common_divisor(a, b);
  const Tensor none = equal(divisor, zero_of(divisor));
  return where(none, zero_of(divisor),
               absolute(floor_divide(a, where(none, scalar_like(divisor, 1), divisor)) * b));
}

Tensor trapezoid(const Operands& o) {
  const Tensor y = to_float(o.tensor(0, "y"));
  const int axis = from_front(o, o.axis(SIZE_MAX, "axis", -1), y.rank());
  if (o.option(SIZE_MAX, "x")) unsupported(o, "trapezoid with places of its own");
  const int64_t n = y.shape()[axis];
  return sum(part_of(y, axis, 1, n) + part_of(y, axis, 0, n - 1), {axis}) * (0.5 * o.real(SIZE_MAX, "dx", 1));
}

Tensor vander(const Operands& o) {
  const Tensor x = x_of(o);
  if (x.rank() != 1) o.missing("x");
  const int64_t columns = o.option(1, "N") ? o.integer(1, "N") : x.dim(0);
  if (columns < 1 || columns > 4096) o.missing("N");
  Tensors powers = {expand_dims(scalar_like(x, 1) + x * 0.0, 1)};
  for (int64_t i = 1; i < columns; ++i) powers.push_back(powers.back() * expand_dims(x, 1));
  if (!o.flag(2, "increasing")) std::reverse(powers.begin(), powers.end());
  return concatenate(powers, 1);
}

// ---- order and counts --------------------------------------------------------------------------

// How many of a row of ascending numbers come before each value.
Tensor count_before(const Tensor& row, const Tensor& values, bool or_equal) {
  const Tensor each = expand_dims(values, values.rank());
  return sum(cast(or_equal ? less_equal(row, each) : less(row, each), DType::i32), {-1});
}
Tensor search_sorted(const Operands& o) {
  const Tensor row = o.tensor(0, "sorted_sequence");
  if (row.rank() != 1) o.missing("sorted_sequence");
  const std::string side = o.text(2, "side");
  if (!side.empty() && side != "left" && side != "right") o.missing("side");
  return count_before(row, o.tensor(1, "values"), side == "right");
}
Tensor digitize(const Operands& o) {
  const Tensor bins = o.tensor(1, "bins");
  if (bins.rank() != 1) o.missing("bins");
  return count_before(bins, x_of(o), true);
}

Tensor is_in(const Operands& o) {
  const Tensor x = left_of(o);
  const Tensor found = any(equal(expand_dims(x, x.rank()), flat(right_of(o))), {-1});
  return o.flag(3, "invert") ? logical_not(found) : found;
}

Tensor in_top_k(const Operands& o) {
  const Tensor targets = cast(o.tensor(0, "targets"), DType::i32),
               given = to_float(o.tensor(1, "predictions"));
  if (given.rank() != 2 || targets.rank() != 1) o.missing("predictions");
  const Tensor chosen = take_along_axis(given, expand_dims(targets, 1), 1);
  const Tensor own = where(is_nan(chosen), scalar_like(chosen, -kInfinity), chosen);
  const Tensor rank = sum(cast(greater(given, own), DType::i32), {-1}) + 1.0;
  return less_equal(rank, scalar_like(rank, static_cast<double>(o.integer(2, "k"))));
}

Tensor arg_partition(const Operands& o) {
  const Tensor x = x_of(o);
  return argsort(x, from_front(o, o.axis(2, "axis", -1), x.rank()));
}

Tensor without_nan(const Tensor& x, double instead) {
  return is_float(x.dtype()) ? where(is_nan(x), scalar_like(x, instead), x) : x;
}
// Of nothing but NaN: -1.
template <Tensor (*f)(const Tensor&, int, bool), int sign>
Tensor arg_but_nan(const Operands& o) {
  int axis = 0;
  const Tensor x = to_float(flat_unless_axis(o, axis));
  const bool keep = o.option(1, "axis") && o.flag(2, "keepdims");
  const Tensor at = f(without_nan(x, -sign * kInfinity), axis, keep);
  return where(plimsoll::all(is_nan(x), {axis}, keep), scalar_like(at, -1), at);
}
template <Tensor (*f)(const Tensor&, int, bool), int instead>
Tensor running_but_nan(const Operands& o) {
  int axis = 0;
  const Tensor x = flat_unless_axis(o, axis);
  return f(without_nan(x, instead), axis, false);
}
template <bool root>
Tensor variance_but_nan(const Operands& o) {
  const Tensor x = to_float(x_of(o));
  const Ints axes = o.ints(1, "axis");
  const bool keep = o.flag(2, "keepdims");
  const Tensor there = cast(logical_not(is_nan(x)), x.dtype());
  const auto mean_of = [&](const Tensor& values, bool keepdims) {
    return divide(sum(values * there, axes, keepdims), sum(there, axes, keepdims));
  };
  const Tensor zeroed = without_nan(x, 0);
  const Tensor y = mean_of(square(zeroed - mean_of(zeroed, true)), keep);
  return root ? sqrt(y) : y;
}

Tensor select(const Operands& o) {
  const Tensors conditions = o.tensors(0, "condlist"), choices = o.tensors(1, "choicelist");
  if (conditions.size() != choices.size() || conditions.empty()) o.missing("choicelist");
  Tensor y = o.option(2, "default") ? o.tensor(2, "default") : scalar_like(choices[0], 0);
  for (size_t i = conditions.size(); i-- > 0;) y = where(to_bool(conditions[i]), choices[i], y);
  return y;
}

// ---- matrices ----------------------------------------------------------------------------------

// A vector on the k-th diagonal of a matrix of zeros.
Tensor on_diagonal(const Operands& o, const Tensor& x) {
  const int64_t k = o.option(1, "k") ? o.integer(1, "k") : 0, n = x.dim(0);
  if (k < -4096 || k > 4096) o.missing("k");
  const int64_t side = n + std::abs(k), above = std::max<int64_t>(k, 0), below = std::max<int64_t>(-k, 0);
  const Tensor spread = broadcast_to(expand_dims(x, 1), Shape{n, n});
  const Shape square{n, n};
  const Tensor whole =
      where(equal(iota(DType::i32, square, 0), iota(DType::i32, square, 1)), spread, zero_of(x));
  return pad(whole, {below, above}, {side - n - below, side - n - above});
}
Tensor diagonal_of(const Operands& o) {
  const Tensor x = x_of(o);
  if (x.rank() == 1) return on_diagonal(o, x);
  if (x.rank() != 2) o.missing("x");
  const int64_t k = o.option(1, "k") ? o.integer(1, "k") : 0;
  const int64_t row = std::max<int64_t>(-k, 0), column = std::max<int64_t>(k, 0);
  const int64_t n = std::min(x.dim(0) - row, x.dim(1) - column);
  if (n < 1) o.missing("k");
  const Tensor part = slice(x, {row, column}, {row + n, column + n});
  const Shape square{n, n};
  const Tensor on = equal(iota(DType::i32, square, 0), iota(DType::i32, square, 1));
  return sum(where(on, part, zero_of(part)), {1});
}

Tensor kron(const Operands& o) {
  Tensor a = left_of(o), b = right_of(o);
  while (a.rank() < b.rank()) a = expand_dims(a, 0);
  while (b.rank() < a.rank()) b = expand_dims(b, 0);
  Ints of_a, of_b, sizes;
  for (int i = 0; i < a.rank(); ++i) {
    of_a.insert(of_a.end(), {a.dim(i), 1});
    of_b.insert(of_b.end(), {1, b.dim(i)});
    sizes.push_back(checked_mul(a.dim(i), b.dim(i), o.place()));
  }
  if (std::ssize(of_a) > Shape::kMaxRank) unsupported(o, "kron of more than 4 axes");
  return reshape(multiply(reshape(a, of_a), reshape(b, of_b)), sizes);
}

Tensor correlations(const Operands& o) {
  const Tensor given = to_float(x_of(o));
  const Tensor x = given.rank() == 1 ? expand_dims(given, 0) : given;
  if (x.rank() != 2) o.missing("x");
  const Tensor c = x - mean(x, {1}, true), scale = rsqrt(sum(square(c), {1}, true));
  const Tensor unit = c * scale;
  const Tensor y = clip(sum(expand_dims(unit, 1) * expand_dims(unit, 0), {-1}), -1, 1);
  return given.rank() == 1 ? reshape(y, Shape{}) : y;
}

// ---- what losses are made of -------------------------------------------------------------------

Tensor clipped(const Tensor& p) { return clip(p, 1e-7, 1 - 1e-7); }
Tensor binary_crossentropy(const Operands& o) {
  const Tensor y = o.tensor(0, "target"), p = o.tensor(1, "output");
  if (o.flag(2, "from_logits"))
    return negative(y * negative(softplus(-p)) + (1.0 - y) * negative(softplus(p)));
  return negative(y * log(clipped(p)) + (1.0 - y) * log(1.0 - clipped(p)));
}
Tensor log_probabilities(const Operands& o, const Tensor& p, int axis) {
  return o.flag(2, "from_logits") ? log_softmax(p, axis) : log(clipped(p / sum(p, {axis}, true)));
}
Tensor categorical_crossentropy(const Operands& o) {
  const Tensor p = o.tensor(1, "output");
  const int axis = from_front(o, o.axis(3, "axis", -1), p.rank());
  return negative(sum(o.tensor(0, "target") * log_probabilities(o, p, axis), {axis}));
}
Tensor sparse_crossentropy(const Operands& o) {
  const Tensor p = o.tensor(1, "output");
  if (from_front(o, o.axis(3, "axis", -1), p.rank()) != p.rank() - 1) o.missing("axis");
  Tensor y = cast(o.tensor(0, "target"), DType::i32);
  if (y.rank() == p.rank() && y.dim(-1) == 1) y = squeeze(y, -1);
  return negative(sum(one_hot(y, p.dim(-1), p.dtype()) * log_probabilities(o, p, p.rank() - 1), {-1}));
}
Tensor psnr(const Operands& o) {
  const Tensor error = mean(square(left_of(o) - right_of(o)));
  return log(error) * (-10 / std::numbers::ln10) + 20 * std::log10(o.real(2, "max_val", 1));
}

Tensors moments(const Operands& o) {
  const Tensor x = x_of(o);
  const Ints axes = o.ints(1, "axes");
  const bool keep = o.flag(2, "keepdims"), narrow = x.dtype() == DType::f16;
  const Tensor wide = narrow ? cast(x, DType::f32) : x;
  const Tensor all[] = {mean(wide, axes, keep), variance(wide, axes, keep)};
  return {cast(all[0], x.dtype()), cast(all[1], x.dtype())};
}

// ---- parts that change -------------------------------------------------------------------------

Tensor slice_update(const Operands& o) {
  const Tensor x = o.tensor(0, "inputs"), updates = o.tensor(2, "updates");
  return dynamic_update_slice(x, cast(updates, x.dtype()), cast(o.tensor(1, "start_indices"), DType::i32));
}
Tensor scatter(const Operands& o) {
  const Tensor values = o.tensor(1, "values");
  const Tensor zeros = broadcast_to(scalar_like(values, 0), Shape(o.ints(2, "shape")));
  return scatter_nd(zeros, cast(o.tensor(0, "indices"), DType::i32), values, "add");
}
Tensor scatter_update(const Operands& o) {
  const Tensor x = o.tensor(0, "inputs");
  const std::string given = o.text(SIZE_MAX, "reduction");
  return scatter_nd(x, cast(o.tensor(1, "indices"), DType::i32), cast(o.tensor(2, "updates"), x.dtype()),
                    given.empty() ? "set" : given);
}

// Rows that share a number become one. Of none: what the reduction begins with.
Tensor segments(const Operands& o, double neutral, std::string_view mode) {
  const Tensor data = o.tensor(0, "data"), ids = cast(o.tensor(1, "segment_ids"), DType::i32);
  if (!o.option(2, "num_segments")) unsupported(o, "a segment reduction without num_segments");
  if (data.rank() < 1 || ids.rank() != 1) o.missing("segment_ids");
  const Tensor start =
      broadcast_to(scalar_like(data, neutral), data.shape().with(0, o.integer(2, "num_segments")));
  return scatter_nd(start, expand_dims(ids, 1), data, mode);
}
Tensor segment_extreme(const Operands& o, bool largest) {
  const DType type = o.tensor(0, "data").dtype();
  const double most =
      is_float(type) ? kInfinity : std::ldexp(1.0, static_cast<int>(size_of(type)) * 8 - 1) - 1;
  return segments(o, largest ? (is_float(type) ? -most : -most - 1) : most, largest ? "max" : "min");
}

// Windows of (batch, channels, rows, columns), each as a column.
Tensor unfold(const Operands& o) {
  Tensor x = x_of(o);
  if (x.rank() != 4) o.missing("x");
  const auto two = [&](size_t i, std::string_view name, int64_t otherwise, int64_t least) {
    Ints n = o.ints(i, name);
    if (n.empty()) n = {otherwise};
    if (n.size() == 1) n.push_back(n[0]);
    if (n.size() != 2 || std::min(n[0], n[1]) < least || std::max(n[0], n[1]) > 4096) o.missing(name);
    return n;
  };
  const Ints size = two(1, "kernel_size", 0, 1), dilation = two(2, "dilation", 1, 1),
             around = two(3, "padding", 0, 0), stride = two(4, "stride", 1, 1);
  if (size[0] * size[1] > 4096) unsupported(o, "windows of more than 4096 pixels");
  x = pad(x, {0, 0, around[0], around[1]}, {0, 0, around[0], around[1]});
  Ints counts;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t room = x.dim(static_cast<int>(i) + 2) - (size[i] - 1) * dilation[i] - 1;
    if (room < 0) o.missing("kernel_size");
    counts.push_back(room / stride[i] + 1);
  }
  Tensors parts;
  for (int64_t row = 0; row < size[0]; ++row) {
    for (int64_t column = 0; column < size[1]; ++column) {
      const int64_t top = row * dilation[0], left = column * dilation[1];
      const Tensor part = slice(
          x, {0, 0, top, left},
          {x.dim(0), x.dim(1), top + (counts[0] - 1) * stride[0] + 1, left + (counts[1] - 1) * stride[1] + 1},
          {1, 1, stride[0], stride[1]});
      parts.push_back(reshape(part, Shape{x.dim(0), x.dim(1), 1, counts[0] * counts[1]}));
    }
  }
  return reshape(concatenate(parts, 2), Shape{x.dim(0), x.dim(1) * size[0] * size[1], counts[0] * counts[1]});
}

// ---- images ------------------------------------------------------------------------------------

// f of images with their channels last.
template <class F>
Tensor of_images(const Operands& o, F f) {
  const Tensor given = o.tensor(0, "images");
  if (given.rank() != 3 && given.rank() != 4) o.missing("images");
  const bool first = o.text(SIZE_MAX, "data_format") == "channels_first";
  Tensor x = given.rank() == 3 ? expand_dims(given, 0) : given;
  if (first) x = transpose(x, {0, 2, 3, 1});
  Tensor y = f(x);
  if (first) y = transpose(y, {0, 3, 1, 2});
  return given.rank() == 3 ? squeeze(y, 0) : y;
}

Tensor window_of(const Tensor& x, const std::vector<float>& values, int64_t rows, int64_t columns) {
  const int64_t channels = x.dim(-1);
  const Tensor one = reshape(Tensor::from<float>(values, {rows * columns}), Shape{rows, columns, 1, 1});
  const Tensor kernel = broadcast_to(cast(one, x.dtype()), Shape{rows, columns, 1, channels});
  const auto [top, bottom] = same_padding(x.dim(1), rows, 1);
  const auto [left, right] = same_padding(x.dim(2), columns, 1);
  return conv(x, kernel, {.pad_low = {top, left}, .pad_high = {bottom, right}, .groups = channels});
}

Tensor gaussian_blur(const Operands& o) {
  const auto pair = [&](size_t i, std::string_view name, double otherwise) {
    const Json* given = o.option(i, name);
    std::vector<double> two(2, otherwise);
    for (size_t k = 0; given && k < 2; ++k) {
      const Json& n = given->is_array() && given->size() == 2 ? (*given)[k] : *given;
      if (!n.is_number()) o.missing(name);
      two[k] = n.get<double>();
    }
    return two;
  };
  const std::vector<double> size = pair(1, "kernel_size", 3), sigma = pair(2, "sigma", 1);
  std::vector<double> bells[2];
  for (size_t k = 0; k < 2; ++k) {
    if (!(size[k] >= 1 && size[k] <= 1024) || !(sigma[k] > 0)) o.missing("kernel_size");
    double total = 0;
    for (int i = 0; i < static_cast<int>(size[k]); ++i) {
      const double at = (i - (size[k] - 1) / 2) / sigma[k];
      bells[k].push_back(std::exp(-0.5 * at * at));
      total += bells[k].back();
    }
    for (double& b : bells[k]) b /= total;
  }
  std::vector<float> window;
  for (const double down : bells[1])
    for (const double across : bells[0]) window.push_back(static_cast<float>(down * across));
  return of_images(
      o, [&](const Tensor& x) { return window_of(x, window, std::ssize(bells[1]), std::ssize(bells[0])); });
}

Tensor affine_transform(const Operands& o) {
  const Tensor given = to_float(o.tensor(1, "transform"));
  const Tensor all = given.rank() == 1 ? expand_dims(given, 0) : given;
  if (all.rank() != 2 || all.dim(1) != 8) o.missing("transform");
  const auto or_else = [&](std::string_view name, std::string otherwise) {
    const std::string text = o.text(SIZE_MAX, name);
    return text.empty() ? otherwise : text;
  };
  const Sampling sampling{or_else("interpolation", "bilinear"), or_else("fill_mode", "constant"),
                          o.real(SIZE_MAX, "fill_value", 0)};
  return of_images(o, [&](const Tensor& x) {
    const Grid grid(x);
    const auto part = [&](int64_t i) { return expand_dims(part_of(all, 1, i, i + 1), 2); };
    const Tensor across = part(0) * grid.across + part(1) * grid.down + part(2);
    const Tensor down = part(3) * grid.across + part(4) * grid.down + part(5);
    return cast(sampled_images(to_float(x), across, down, sampling, o.place()), x.dtype());
  });
}

template <Tensor (*f)(const Tensor&)>
Tensor unary(const Operands& o) {
  return f(x_of(o));
}

}  // namespace

const Functions& rare_functions() {
  static const Functions all_functions = {
      {"AllClose", all_close},
      {"Allclose", all_close},
      {"Angle", unary<angle>},
      {"Conj", unary<conj>},
      {"Conjugate", unary<conj>},
      {"Real", unary<real>},
      {"Imag", unary<imag>},
      {"Isreal", [](const Operands& o) { return equal(imag(x_of(o)), scalar_like(imag(x_of(o)), 0)); }},
      {"ViewAsReal",
       [](const Operands& o) {
         const Tensor x = x_of(o);
         const Tensor parts[] = {expand_dims(real(x), x.rank()), expand_dims(imag(x), x.rank())};
         return concatenate(parts, x.rank());
       }},
      {"ViewAsComplex",
       [](const Operands& o) {
         const Tensor x = x_of(o);
         if (x.rank() < 1 || x.dim(-1) != 2) o.missing("x");
         const auto part = [&](int64_t i) { return squeeze(part_of(x, x.rank() - 1, i, i + 1), -1); };
         return complex(part(0), part(1));
       }},
      {"Polar",
       [](const Operands& o) {
         const Tensor length = o.tensor(0, "abs_"), turn = o.tensor(1, "angle");
         return complex(length * cos(turn), length * sin(turn));
       }},
      {"Argpartition", arg_partition},
      {"BinaryCrossentropy", binary_crossentropy},
      {"CategoricalCrossentropy", categorical_crossentropy},
      {"SparseCategoricalCrossentropy", sparse_crossentropy},
      {"Corrcoef", correlations},
      {"Diag", diagonal_of},
      {"Diagflat", [](const Operands& o) { return on_diagonal(o, flat(x_of(o))); }},
      {"Digitize", digitize},
      {"EmptyLike",
       [](const Operands& o) {
         const Tensor x = x_of(o);
         return broadcast_to(scalar_like(cast(x, o.dtype(1, "dtype", x.dtype())), 0), x.shape());
       }},
      {"Fmax", but_nan<maximum>},
      {"Fmin", but_nan<minimum>},
      {"Gcd", gcd},
      {"Lcm", lcm},
      {"Heaviside", heaviside},
      {"I0",
       [](const Operands& o) { return bessel_i0e(to_float(x_of(o))) * exp(absolute(to_float(x_of(o)))); }},
      {"IsIn", is_in},
      {"InTopK", in_top_k},
      {"Kron", kron},
      {"Ldexp",
       [](const Operands& o) {
         return to_float(left_of(o)) * exp(to_float(right_of(o)) * std::numbers::ln2);
       }},
      {"Logaddexp2", log_add_exp2},
      {"Nanargmax", arg_but_nan<argmax, 1>},
      {"Nanargmin", arg_but_nan<argmin, -1>},
      {"Nancumsum", running_but_nan<cumsum, 0>},
      {"Nancumprod", running_but_nan<cumprod, 1>},
      {"Nanvar", variance_but_nan<false>},
      {"Nanstd", variance_but_nan<true>},
      {"Nextafter",
       [](const Operands& o) {
         return nextafter(to_float(left_of(o)), cast(right_of(o), to_float(left_of(o)).dtype()));
       }},
      {"PSNR", psnr},
      {"SaturateCast", saturated},
      {"Scatter", scatter},
      {"ScatterUpdate", scatter_update},
      {"SearchSorted", search_sorted},
      {"SegmentSum", [](const Operands& o) { return segments(o, 0, "add"); }},
      {"SegmentProd", [](const Operands& o) { return segments(o, 1, "mul"); }},
      {"SegmentMax", [](const Operands& o) { return segment_extreme(o, true); }},
      {"SegmentMin", [](const Operands& o) { return segment_extreme(o, false); }},
      {"Select", select},
      {"Signbit", sign_bit},
      {"Sinc", sinc},
      {"SliceUpdate", slice_update},
      {"Trapezoid", trapezoid},
      {"Unfold", unfold},
      {"Vander", vander},
      {"View", [](const Operands& o) { return bitcast(x_of(o), o.dtype(1, "dtype", x_of(o).dtype())); }},
      {"AffineTransform", affine_transform},
      {"GaussianBlur", gaussian_blur},
  };
  return all_functions;
}

const ManyFunctions& rare_many_functions() {
  static const ManyFunctions all_functions = {{"Moments", moments}};
  return all_functions;
}

}  // namespace plimsoll::operation
