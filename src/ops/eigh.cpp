// eigh(a): {eigenvalues, ascending; eigenvectors, as columns} of (a + a^T) / 2. The sign of a vector is free:
// here its largest element is positive, so that results do not depend on how they were found.
#include "ops/matrices.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require_matrices(call, 0, true);
  const Shape& a = call.in[0].shape;
  return {{call.in[0].dtype, a.without(a.rank() - 1)}, call.in[0]};
}

struct State {
  int64_t count;
  int n;
  int work_size, integers_size;
  int64_t scratch;  // of a thread
  int threads;
};

template <class T>
struct Parts {
  T *matrix, *work;
  int* integers;
  int64_t bytes;
  Parts(const State& s, void* base) {
    Scratch scratch(base);
    matrix = scratch.take<T>(int64_t{s.n} * s.n);
    work = scratch.take<T>(s.work_size);
    integers = scratch.take<int>(s.integers_size);
    bytes = scratch.used();
  }
};

template <class T>
void decompose(const State& s, const T* a, T* values, T* vectors, const Parts<T>& p) {
  const int64_t n = s.n;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) p.matrix[i * n + j] = (a[i * n + j] + a[j * n + i]) / 2;
  }
  if (!all_finite(p.matrix, n * n) ||
      !lapack::eigh(s.n, p.matrix, values, p.work, s.work_size, p.integers, s.integers_size)) {
    fill_nan(values, n);
    return fill_nan(vectors, n * n);
  }
  for (int64_t j = 0; j < n; ++j) {
    const T* v = p.matrix + j * n;
    const T largest = *std::max_element(v, v + n, [](T x, T y) { return std::fabs(x) < std::fabs(y); });
    for (int64_t i = 0; i < n; ++i) vectors[i * n + j] = largest < 0 ? -v[i] : v[i];
  }
}

template <class T>
void run(const State& s, void* const* args) {
  const T* a = static_cast<const T*>(args[0]);
  T* values = static_cast<T*>(args[1]);
  T* vectors = static_cast<T*>(args[2]);
  char* scratch = static_cast<char*>(args[3]);
  const int64_t size = int64_t{s.n} * s.n;
  each_row(s.count, 16 * size * s.n, s.threads, [&](int64_t i, int thread) noexcept {
    decompose(s, a + i * size, values + i * s.n, vectors + i * size,
              Parts<T>(s, scratch + thread * s.scratch));
  });
}

Kernel prepare(const KernelQuery& q) {
  const Matrices m(q.in[0].shape);
  State s{m.count, m.rows, 0, 0, 0, std::max(q.threads, 1)};
  return with_real(q.in[0].dtype, [&](auto t) {
    using T = decltype(t);
    lapack::eigh_work<T>(s.n, &s.work_size, &s.integers_size);
    s.scratch = Parts<T>(s, nullptr).bytes;
    return make_kernel<State, run<T>>("lapack", s, s.scratch * s.threads);
  });
}

Cost cost(const OpCall& call, std::span<const TensorType> out) { return matrix_cost(call, out, 16); }

// V (diag(dw) + F * V^T dV) V^T, made symmetric; F_ij = 1 / (w_j - w_i), 0 on the diagonal.
void grad(GradContext& g) {
  const Tensor &w = g.out(0), &v = g.out(1);
  const Tensor gap = expand_dims(w, -2) - expand_dims(w, -1);
  const Tensor own = on_diagonal(v), zero = scalar_like(v, 0);
  Tensor inner = where(own, expand_dims(dout_or_zero(g, 0), -1), zero);
  if (g.has_dout(1)) {
    const Tensor turning = matmul(transposed(v), g.dout(1)) / where(own, scalar_like(v, 1), gap);
    inner = inner + where(own, zero, turning);
  }
  const Tensor da = matmul(matmul(v, inner), transposed(v));
  g.set(0, (da + transposed(da)) * 0.5);
}

std::vector<OpCase> cases() {
  return {{{{{5, 5}}}, {}}, {{{{2, 3, 4, 4}}}, {}}, {{{{1, 1}}}, {}}, {{{{40, 40}}}, {}, false}};
}

constexpr KernelDef kKernels[] = {{.name = "lapack", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "eigh",
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .cost = cost,
                            .cases = cases,
                            .dtypes = kFloats32Up,
                            .tolerance = 1e-3}};  // vectors turn by the error over the gap between values

}  // namespace

std::span<const OpDef> ops_eigh() { return kDefs; }

std::vector<Tensor> eigh(const Tensor& a) {
  const Tensor x = as_real(a);
  std::vector<Tensor> out = apply(kDefs[0], std::span(&x, 1));
  for (Tensor& t : out) t = back_to(t, a.dtype());
  return out;
}

}  // namespace plimsoll
