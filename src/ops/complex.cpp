// Complex numbers, written in ops on their parts: no kernel knows them. What is linear in the parts works on
// both at once, through a bitcast; the rest takes them apart. A chain of such functions meets in the middle:
// the parts of what was just put together are those that went in.
#include <array>

#include "ops/complex_parts.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

DType part_type(DType complex_type) { return complex_type == DType::c64 ? DType::f32 : DType::f64; }

// Part i of a tensor that complex() made, without the detour; undefined for others.
Tensor part_given(const Tensor& z, size_t i) {
  if (!z.is_symbolic()) return {};
  const Graph& graph = z.graph();
  const NodeId cast = graph.value(z.id()).producer;
  if (cast == kNone || !graph.is(cast, "bitcast")) return {};
  const ValueId joined = graph.node(cast).inputs[0];
  const NodeId join = graph.value(joined).producer;
  if (join == kNone || !graph.is(join, "concatenate") || graph.type(joined).shape.rank() != z.rank() + 1)
    return {};
  const Node& node = graph.node(join);
  if (node.inputs.size() != 2 ||
      normalize_axis(node.attrs.integer("axis"), z.rank() + 1, "complex") != z.rank())
    return {};
  return reshape(Tensor(z.graph(), node.inputs[i]), z.shape());
}

Tensor part(const Tensor& z, int64_t i) {
  if (const Tensor given = part_given(z, static_cast<size_t>(i)); given.defined()) return given;
  const Tensor p = pairs(z);
  Ints starts(static_cast<size_t>(p.rank()), 0), limits(p.shape().begin(), p.shape().end());
  starts.back() = i;
  limits.back() = i + 1;
  return reshape(slice(p, starts, limits), z.shape());
}

struct Parts {
  Tensor re, im;
  explicit Parts(const Tensor& z) : re(part(z, 0)), im(part(z, 1)) {}
  Parts(Tensor real, Tensor imag) : re(std::move(real)), im(std::move(imag)) {}
  operator Tensor() const { return complex(re, im); }
};

// A concrete number as a value of the other's graph, so that repeating it takes no memory.
Tensor placed_beside(const Tensor& other, const Tensor& x) {
  return other.is_symbolic() && !x.is_symbolic() ? other.graph().constant(x) : x;
}

Tensor zero_of(const Tensor& like) { return scalar_like(like, 0); }

Parts times(const Parts& a, const Parts& b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

// The larger part, by which both are divided where squares could overflow.
Tensor scale_of(const Parts& z) {
  const Tensor s = maximum(absolute(z.re), absolute(z.im));
  const Tensor plain = bitwise_and(isfinite(s), greater(s, zero_of(s)));
  return stop_gradient(where(plain, s, scalar_like(s, 1)));
}

Parts divided(const Parts& a, const Parts& b) {
  const Tensor s = scale_of(b);
  const Tensor c = b.re / s, d = b.im / s;
  const Tensor n = (square(c) + square(d)) * s;
  return {(a.re * c + a.im * d) / n, (a.im * c - a.re * d) / n};
}

// Smooth but at 0, where its gradient is 0.
Tensor length(const Parts& z) {
  const Tensor s = scale_of(z);
  const Tensor q = square(z.re / s) + square(z.im / s);
  const Tensor none = equal(q, zero_of(q));
  return where(none, zero_of(q), s * sqrt(where(none, scalar_like(q, 1), q)));
}

Parts exponential(const Parts& z) {
  const Tensor e = exp(z.re);
  return {e * cos(z.im), e * sin(z.im)};
}
Parts logarithm(const Parts& z) { return {log(length(z)), arctan2(z.im, z.re)}; }

// The root with a real part that is not negative, from the larger of its two parts.
Parts root(const Parts& z) {
  const Tensor t = sqrt((length(z) + absolute(z.re)) * 0.5);
  const Tensor none = equal(t, zero_of(t));
  const Tensor u = where(none, z.im, z.im / (where(none, scalar_like(t, 1), t) * 2.0));
  const Tensor right = greater_equal(z.re, zero_of(t));
  const Tensor signed_t = where(less(z.im, zero_of(t)), -t, t);
  return {where(right, t, absolute(u)), where(right, u, signed_t)};
}

Parts hyperbolic_tangent(const Parts& z) {
  const Tensor t = tanh(z.re), u = tan(z.im);
  return divided({t, u}, {scalar_like(t, 1), t * u});
}

// f(i z) / i and the like: the circular functions from the hyperbolic ones.
Parts times_i(const Parts& z) { return {-z.im, z.re}; }
Parts over_i(const Parts& z) { return {z.im, -z.re}; }

Parts sine_h(const Parts& z) { return {sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)}; }
Parts cosine_h(const Parts& z) { return {cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)}; }

Parts one_like(const Parts& z) { return {scalar_like(z.re, 1), zero_of(z.re)}; }

struct UnaryRule {
  std::string_view name;
  Tensor (*apply)(const Parts& z);
};
constexpr std::array kUnary = {
    UnaryRule{"absolute", [](const Parts& z) { return length(z); }},
    UnaryRule{"square", [](const Parts& z) -> Tensor { return times(z, z); }},
    UnaryRule{"reciprocal", [](const Parts& z) -> Tensor { return divided(one_like(z), z); }},
    UnaryRule{"exp", [](const Parts& z) -> Tensor { return exponential(z); }},
    UnaryRule{"log", [](const Parts& z) -> Tensor { return logarithm(z); }},
    UnaryRule{"sqrt", [](const Parts& z) -> Tensor { return root(z); }},
    UnaryRule{"rsqrt", [](const Parts& z) -> Tensor { return divided(one_like(z), root(z)); }},
    UnaryRule{"sinh", [](const Parts& z) -> Tensor { return sine_h(z); }},
    UnaryRule{"cosh", [](const Parts& z) -> Tensor { return cosine_h(z); }},
    UnaryRule{"tanh", [](const Parts& z) -> Tensor { return hyperbolic_tangent(z); }},
    UnaryRule{"sin", [](const Parts& z) -> Tensor { return over_i(sine_h(times_i(z))); }},
    UnaryRule{"cos", [](const Parts& z) -> Tensor { return cosine_h(times_i(z)); }},
    UnaryRule{"tan", [](const Parts& z) -> Tensor { return over_i(hyperbolic_tangent(times_i(z))); }},
    UnaryRule{"isfinite", [](const Parts& z) { return bitwise_and(isfinite(z.re), isfinite(z.im)); }},
    UnaryRule{"sign",
              [](const Parts& z) -> Tensor {  // z / |z|, and 0 for 0
                const Tensor n = length(z), none = equal(n, zero_of(n));
                const Tensor safe = where(none, scalar_like(n, 1), n);
                return Parts{z.re / safe, z.im / safe};
              }},
};

[[noreturn]] void refuse(std::string_view name, DType dtype) {
  fail(ErrorKind::unsupported, name, "expected real numbers, got ", dtype);
}

}  // namespace

Tensor pairs(const Tensor& z) { return bitcast(z, part_type(z.dtype())); }
Tensor from_pairs(const Tensor& p) { return bitcast(p, p.dtype() == DType::f64 ? DType::c128 : DType::c64); }

Tensor complex_unary(std::string_view name, const Tensor& z) {
  if (name == "negative") return from_pairs(negative(pairs(z)));
  for (const UnaryRule& rule : kUnary) {
    if (rule.name == name) return rule.apply(Parts(z));
  }
  refuse(name, z.dtype());
}

Tensor complex_binary(std::string_view name, const Tensor& a, const Tensor& b) {
  if (name == "add") return from_pairs(add(pairs(a), pairs(b)));
  if (name == "subtract") return from_pairs(subtract(pairs(a), pairs(b)));
  if (name == "multiply") return times(Parts(a), Parts(b));
  if (name == "divide") return divided(Parts(a), Parts(b));
  if (name != "power") refuse(name, a.dtype());
  const Tensor p = exponential(times(Parts(b), logarithm(Parts(a))));
  const Tensor zero = scalar_like(a, 0), one = scalar_like(a, 1);
  return where(equal(b, zero), one, where(equal(a, zero), zero, p));
}

Tensor complex_compare(std::string_view name, const Tensor& a, const Tensor& b) {
  if (name != "equal" && name != "not_equal") refuse(name, a.dtype());
  const Parts x(a), y(b);
  const Tensor same = bitwise_and(equal(x.re, y.re), equal(x.im, y.im));
  return name == "equal" ? same : logical_not(same);
}

Tensor complex_cast(const Tensor& x, DType dtype) {
  if (!is_complex(dtype)) {
    if (dtype == DType::boolean) return any(cast(pairs(x), dtype), {x.rank()});
    return cast(real(x), dtype);
  }
  if (is_complex(x.dtype())) return from_pairs(cast(pairs(x), part_type(dtype)));
  const Tensor re = cast(x, part_type(dtype));
  return complex(re, zero_of(re));
}

Tensor complex_sum(const Tensor& z, const Ints& axes, bool keepdims) {
  if (z.rank() == 0) return z;
  Ints own;
  for (const int64_t axis : axes) own.push_back(normalize_axis(axis, z.rank(), "sum"));
  for (int i = 0; axes.empty() && i < z.rank(); ++i) own.push_back(i);
  return from_pairs(sum(pairs(z), own, keepdims));
}

Tensor complex(const Tensor& re, const Tensor& im) {
  const DType met = promote(re.dtype(), im.dtype());
  require(!is_complex(met), "complex", "expected two real parts, got ", re.type(), " and ", im.type());
  const DType t = met == DType::f64 ? DType::f64 : DType::f32;
  const Shape shape = broadcast(re.shape(), im.shape(), "complex");
  const auto column = [&](const Tensor& x, const Tensor& other) {
    return expand_dims(broadcast_to(placed_beside(other, cast(x, t)), shape), -1);
  };
  return from_pairs(concatenate(std::array{column(re, im), column(im, re)}, -1));
}

Tensor real(const Tensor& z) { return is_complex(z.dtype()) ? part(z, 0) : z; }
Tensor imag(const Tensor& z) {
  return is_complex(z.dtype()) ? part(z, 1) : broadcast_to(placed_beside(z, zero_of(z)), z.shape());
}
Tensor conj(const Tensor& z) {
  if (!is_complex(z.dtype())) return z;
  const Parts p(z);
  return Parts{p.re, -p.im};
}
Tensor angle(const Tensor& z) {
  if (!is_complex(z.dtype())) return angle(complex(to_float(z), zero_of(to_float(z))));
  return arctan2(part(z, 1), part(z, 0));
}

std::span<const OpDef> ops_complex() { return {}; }

}  // namespace plimsoll
