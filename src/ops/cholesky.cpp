// cholesky(a): the lower L with L L^T = (a + a^T) / 2, NaN where that is not positive definite.
#include "ops/matrices.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require_matrices(call, 0, true);
  return {call.in[0]};
}

struct State {
  int64_t count;
  int n;
  int threads;
};

template <class T>
void factor(int n, const T* a, T* l) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) l[i * n + j] = (a[i * n + j] + a[j * n + i]) / 2;
  }
  // Read by columns, the rows of a lower triangle are the columns of an upper one.
  if (!lapack::cholesky(n, l)) return fill_nan(l, int64_t{n} * n);
  for (int64_t i = 0; i < n; ++i) std::fill(l + i * n + i + 1, l + (i + 1) * n, T(0));
}

template <class T>
void run(const State& s, void* const* args) {
  const T* a = static_cast<const T*>(args[0]);
  T* l = static_cast<T*>(args[1]);
  const int64_t size = int64_t{s.n} * s.n;
  each_row(s.count, size * s.n, s.threads,
           [&](int64_t i, int) noexcept { factor(s.n, a + i * size, l + i * size); });
}

Kernel prepare(const KernelQuery& q) {
  const Matrices m(q.in[0].shape);
  const State s{m.count, m.rows, q.threads};
  return with_real(q.in[0].dtype, [&](auto t) { return make_kernel<State, run<decltype(t)>>("lapack", s); });
}

Cost cost(const OpCall& call, std::span<const TensorType> out) { return matrix_cost(call, out, 1.0 / 3); }

// With P the lower triangle of L^T dL, its diagonal halved: L^-T P L^-1, made symmetric.
void grad(GradContext& g) {
  const Tensor& l = g.out();
  const Tensor p = tril(matmul(transposed(l), tril(g.dout())));
  const Tensor halved = where(on_diagonal(p), p * 0.5, p);
  const Tensor left = triangular_solve(l, halved, true, true);
  const Tensor s = triangular_solve(l, transposed(left), true, true);
  g.set(0, (s + transposed(s)) * 0.5);
}

std::vector<OpCase> cases() {
  return {{{{{5, 5}}}, {}}, {{{{2, 3, 4, 4}}}, {}}, {{{{1, 1}}}, {}}, {{{{40, 40}}}, {}}};
}

constexpr KernelDef kKernels[] = {{.name = "lapack", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "cholesky",
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .cost = cost,
                            .cases = cases,
                            .dtypes = kFloats32Up}};

}  // namespace

std::span<const OpDef> ops_cholesky() { return kDefs; }

Tensor cholesky(const Tensor& a) { return back_to(apply1(kDefs[0], {as_real(a)}), a.dtype()); }

}  // namespace plimsoll
