// svd(a): {U, singular values, descending, V^T}. The signs of a pair of vectors are free: here the largest
// element of each column of U is positive.
#include "ops/matrices.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require_matrices(call, 0, false);
  const TensorType& a = call.in[0];
  const Matrices m(a.shape);
  const bool full = call.attrs.flag("full");
  const int64_t k = m.least();
  return {{a.dtype, with_matrix(a.shape, m.rows, full ? m.rows : k)},
          {a.dtype, a.shape.without(a.shape.rank() - 1).with(a.shape.rank() - 2, k)},
          {a.dtype, with_matrix(a.shape, full ? m.columns : k, m.columns)}};
}

struct State {
  Matrices m;
  bool full;
  int work_size;
  int64_t scratch;  // of a thread
  int threads;
  int64_t u_columns() const { return full ? m.rows : m.least(); }
  int64_t v_rows() const { return full ? m.columns : m.least(); }
};

template <class T>
struct Parts {
  T *matrix, *work;
  int* integers;
  int64_t bytes;
  Parts(const State& s, void* base) {
    Scratch scratch(base);
    matrix = scratch.take<T>(s.m.elements());
    work = scratch.take<T>(s.work_size);
    integers = scratch.take<int>(8 * int64_t{s.m.least()});
    bytes = scratch.used();
  }
};

template <class T>
void choose_signs(const State& s, T* u, T* v) {
  const int64_t step = s.u_columns();
  for (int64_t j = 0; j < s.m.least(); ++j) {
    T largest = 0;
    for (int64_t i = 0; i < s.m.rows; ++i) {
      if (std::fabs(u[i * step + j]) > std::fabs(largest)) largest = u[i * step + j];
    }
    if (largest >= 0) continue;
    for (int64_t i = 0; i < s.m.rows; ++i) u[i * step + j] = -u[i * step + j];
    for (int64_t i = 0; i < s.m.columns; ++i) v[j * s.m.columns + i] = -v[j * s.m.columns + i];
  }
}

// Read by columns, a is its transpose V S U^T, and the results are V^T and U by rows.
template <class T>
void decompose(const State& s, const T* a, T* u, T* values, T* v, const Parts<T>& p) {
  std::copy(a, a + s.m.elements(), p.matrix);
  if (all_finite(a, s.m.elements()) &&
      lapack::svd(s.full, s.m.columns, s.m.rows, p.matrix, values, v, u, p.work, s.work_size, p.integers)) {
    return choose_signs(s, u, v);
  }
  fill_nan(u, s.m.rows * s.u_columns());
  fill_nan(values, s.m.least());
  fill_nan(v, s.v_rows() * s.m.columns);
}

template <class T>
void run(const State& s, void* const* args) {
  const T* a = static_cast<const T*>(args[0]);
  T* u = static_cast<T*>(args[1]);
  T* values = static_cast<T*>(args[2]);
  T* v = static_cast<T*>(args[3]);
  char* scratch = static_cast<char*>(args[4]);
  each_row(s.m.count, 32 * s.m.elements() * s.m.least(), s.threads, [&](int64_t i, int thread) noexcept {
    decompose(s, a + i * s.m.elements(), u + i * s.m.rows * s.u_columns(), values + i * s.m.least(),
              v + i * s.v_rows() * s.m.columns, Parts<T>(s, scratch + thread * s.scratch));
  });
}

Kernel prepare(const KernelQuery& q) {
  const Matrices m(q.in[0].shape);
  State s{m, q.attrs.flag("full"), 0, 0, std::max(q.threads, 1)};
  return with_real(q.in[0].dtype, [&](auto t) {
    using T = decltype(t);
    s.work_size = lapack::svd_work<T>(s.full, m.columns, m.rows);
    s.scratch = Parts<T>(s, nullptr).bytes;
    return make_kernel<State, run<T>>("lapack", s, s.scratch * s.threads);
  });
}

Cost cost(const OpCall& call, std::span<const TensorType> out) { return matrix_cost(call, out, 32); }

// (X^T dX - dX^T X) / E, E_ij = s_j^2 - s_i^2 off the diagonal.
Tensor turning(const Tensor& x, const Tensor& dx, const Tensor& s) {
  const Tensor m = matmul(transposed(x), dx);
  const Tensor q = square(s), own = on_diagonal(m);
  const Tensor gap = where(own, scalar_like(m, 1), expand_dims(q, -2) - expand_dims(q, -1));
  return where(own, scalar_like(m, 0), (m - transposed(m)) / gap);
}

// What of dx lies outside the space of x's columns.
Tensor outside(const Tensor& x, const Tensor& dx) { return dx - matmul(x, matmul(transposed(x), dx)); }

void grad(GradContext& g) {
  if (g.attrs().flag("full"))
    fail(ErrorKind::unsupported, "svd", "expected reduced factors to differentiate, got full ones");
  const Tensor &u = g.out(0), &s = g.out(1), v = transposed(g.out(2));
  const Tensor row = expand_dims(s, -2), column = expand_dims(s, -1);
  Tensor inner =
      where(identity(s.dim(-1), s.dim(-1)), expand_dims(dout_or_zero(g, 1), -1), scalar_like(s, 0));
  if (g.has_dout(0)) inner = inner + turning(u, g.dout(0), s) * row;
  if (g.has_dout(2)) inner = inner + column * turning(v, transposed(g.dout(2)), s);
  Tensor da = matmul(matmul(u, inner), g.out(2));
  if (g.has_dout(0) && u.dim(-2) > s.dim(-1)) da = da + matmul(outside(u, g.dout(0)) / row, g.out(2));
  if (g.has_dout(2) && v.dim(-2) > s.dim(-1))
    da = da + matmul(u, transposed(outside(v, transposed(g.dout(2))) / row));
  g.set(0, da);
}

std::vector<OpCase> cases() {
  return {{{{{5, 5}}}, {}}, {{{{2, 6, 4}}}, {}},        {{{{3, 5}}}, {}},         {{{{1, 1}}}, {}},
          {{{{3, 1}}}, {}}, {{{{2, 3, 7}}}, {}, false}, {{{{40, 25}}}, {}, false}};
}

constexpr AttrDef kAttrs[] = {{"full", AttrKind::boolean, "false"}};
constexpr KernelDef kKernels[] = {{.name = "lapack", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "svd",
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .cost = cost,
                            .cases = cases,
                            .dtypes = kFloats32Up,
                            .tolerance = 1e-3}};  // vectors turn by the error over the gap between values

}  // namespace

std::span<const OpDef> ops_svd() { return kDefs; }

std::vector<Tensor> svd(const Tensor& a, bool full) {
  const Tensor x = as_real(a);
  std::vector<Tensor> out = apply(kDefs[0], std::span(&x, 1), {{"full", full}});
  for (Tensor& t : out) t = back_to(t, a.dtype());
  return out;
}

}  // namespace plimsoll
