// lu(a): {L and U in one matrix, pivots, permutation}, by rows; and what follows from it: solve, inv, det,
// slogdet.
#include <numeric>

#include "ops/matrices.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require_matrices(call, 0, false);
  const Shape& a = call.in[0].shape;
  const Matrices m(a);
  const Shape lead = a.without(a.rank() - 1).without(a.rank() - 2);
  return {call.in[0],
          {DType::i32, lead.inserted(lead.rank(), m.least())},
          {DType::i32, lead.inserted(lead.rank(), m.rows)}};
}

struct State {
  Matrices m;
  int64_t scratch;  // of a thread
  int threads;
};

template <class T>
void factor(const Matrices& m, const T* a, T* lu, int32_t* pivots, int32_t* permutation, T* by_columns) {
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.columns; ++j) by_columns[j * m.rows + i] = a[i * m.columns + j];
  }
  lapack::lu(m.rows, m.columns, by_columns, pivots);
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.columns; ++j) lu[i * m.columns + j] = by_columns[j * m.rows + i];
  }
  std::iota(permutation, permutation + m.rows, 0);
  for (int i = 0; i < m.least(); ++i) std::swap(permutation[i], permutation[--pivots[i]]);
}

template <class T>
void run(const State& s, void* const* args) {
  const T* a = static_cast<const T*>(args[0]);
  T* lu = static_cast<T*>(args[1]);
  int32_t* pivots = static_cast<int32_t*>(args[2]);
  int32_t* permutation = static_cast<int32_t*>(args[3]);
  char* scratch = static_cast<char*>(args[4]);
  const int64_t size = s.m.elements();
  each_row(s.m.count, size * s.m.least(), s.threads, [&](int64_t i, int thread) noexcept {
    factor(s.m, a + i * size, lu + i * size, pivots + i * s.m.least(), permutation + i * s.m.rows,
           reinterpret_cast<T*>(scratch + thread * s.scratch));
  });
}

Kernel prepare(const KernelQuery& q) {
  const Matrices m(q.in[0].shape);
  const int threads = std::max(q.threads, 1);
  return with_real(q.in[0].dtype, [&](auto t) {
    const State s{m, aligned(m.elements() * static_cast<int64_t>(sizeof t)), threads};
    return make_kernel<State, run<decltype(t)>>("lapack", s, s.scratch * threads);
  });
}

Cost cost(const OpCall& call, std::span<const TensorType> out) { return matrix_cost(call, out, 1); }

Tensor unit_lower(const Tensor& lu) { return where(on_diagonal(lu), scalar_like(lu, 1), tril(lu)); }

// rows of x in the order of `permutation` (..., rows).
Tensor permuted(const Tensor& x, const Tensor& permutation) {
  const Tensor index = broadcast_to(expand_dims(permutation, -1), x.shape());
  return take_along_axis(x, index, -2);
}

// P a = L U: L^-T (strict lower of L^T dL + upper of dU U^T) U^-T, with its rows back in their places.
void grad(GradContext& g) {
  const Tensor& f = g.out(0);
  if (!g.has_dout(0)) return;
  if (f.dim(-1) != f.dim(-2))
    fail(ErrorKind::unsupported, "lu", "expected square matrices to differentiate, got ", f.type());
  const Tensor l = unit_lower(f), u = triu(f);
  const Tensor inner =
      tril(matmul(transposed(l), tril(g.dout(0), -1)), -1) + triu(matmul(triu(g.dout(0)), transposed(u)));
  const Tensor left = triangular_solve(l, inner, true, true);
  const Tensor both = transposed(triangular_solve(u, transposed(left), false));
  g.set(0, permuted(both, argsort(g.out(2), -1)));
}

std::vector<OpCase> cases() {
  return {{{{{5, 5}}}, {}},         {{{{2, 3, 4, 4}}}, {}},     {{{{1, 1}}}, {}},
          {{{{6, 6}}}, {}, false},  {{{{2, 7, 4}}}, {}, false}, {{{{3, 8}}}, {}, false},
          {{{{40, 40}}}, {}, false}};
}

constexpr KernelDef kKernels[] = {{.name = "lapack", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "lu",
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .cost = cost,
                            .cases = cases,
                            .dtypes = kFloats32Up,
                            .tolerance = 2e-5}};  // random matrices: errors grow with their condition

void require_square(std::string_view place, const Tensor& a) {
  require(a.rank() >= 2 && a.dim(-1) == a.dim(-2), place, "expected square matrices, got ", a.type());
}

Tensor with_lead(const Tensor& x, const Shape& lead) {
  Ints sizes(lead.begin(), lead.end());
  sizes.insert(sizes.end(), x.shape().end() - 2, x.shape().end());
  return broadcast_to(x, Shape(std::span<const int64_t>(sizes)));
}

Shape lead_of(const Tensor& x) { return Shape(x.shape().sizes().first(static_cast<size_t>(x.rank() - 2))); }

// 1, or -1 for an odd number of exchanges.
Tensor parity(const Tensor& pivots, DType dtype) {
  const Tensor moved = not_equal(pivots, iota(DType::i32, {pivots.dim(-1)}, 0));
  const Tensor odd = mod(sum(cast(moved, DType::i32), {pivots.rank() - 1}), scalar_like(pivots, 2));
  return 1.0 - cast(odd, dtype) * 2.0;
}

}  // namespace

std::span<const OpDef> ops_lu() { return kDefs; }

std::vector<Tensor> lu(const Tensor& a) {
  const Tensor x = as_real(a);
  std::vector<Tensor> out = apply(kDefs[0], std::span(&x, 1));
  out[0] = back_to(out[0], a.dtype());
  return out;
}

Tensor solve(const Tensor& a, const Tensor& b) {
  require_square("solve", a);
  require(b.rank() >= 2 && b.dim(-2) == a.dim(-1), "solve", "expected b with as many rows as a, got ",
          a.type(), " and ", b.type());
  const DType met = promote(a.dtype(), b.dtype()), t = real_type(met);
  const Shape lead = broadcast(lead_of(a), lead_of(b), "solve");
  const Tensor right = a.is_symbolic() && !b.is_symbolic() ? a.graph().constant(b) : b;
  const std::vector<Tensor> f = lu(with_lead(cast(a, t), lead));
  const Tensor y = triangular_solve(unit_lower(f[0]), permuted(with_lead(cast(right, t), lead), f[2]), true);
  return back_to(triangular_solve(triu(f[0]), y, false), met);
}

Tensor inv(const Tensor& a) {
  require_square("inv", a);
  const Tensor x = as_real(a);
  return back_to(solve(x, cast(on_diagonal(x), x.dtype())), a.dtype());
}

Tensor det(const Tensor& a) {
  require_square("det", a);
  const std::vector<Tensor> f = lu(as_real(a));
  const Tensor d = prod(diagonal(f[0]), {f[0].rank() - 2});
  return back_to(d * parity(f[1], d.dtype()), a.dtype());
}

std::vector<Tensor> slogdet(const Tensor& a) {
  require_square("slogdet", a);
  const std::vector<Tensor> f = lu(as_real(a));
  const Tensor d = diagonal(f[0]);
  const Tensor sign_of = prod(sign(d), {d.rank() - 1}) * parity(f[1], d.dtype());
  return {back_to(sign_of, a.dtype()), back_to(sum(log(absolute(d)), {d.rank() - 1}), a.dtype())};
}

}  // namespace plimsoll
