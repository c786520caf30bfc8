// qr(a): {Q, R} with orthonormal columns in Q and R upper triangular; signs as LAPACK's Householder
// reflections give them, that is NumPy's.
#include "ops/matrices.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require_matrices(call, 0, false);
  const Matrices m(call.in[0].shape);
  const int64_t k = call.attrs.flag("complete") ? m.rows : m.least();
  return {{call.in[0].dtype, with_matrix(call.in[0].shape, m.rows, k)},
          {call.in[0].dtype, with_matrix(call.in[0].shape, k, m.columns)}};
}

struct State {
  Matrices m;
  int k;     // columns of Q
  int lead;  // rows of the buffer that holds a, read by columns
  int work_size;
  int64_t scratch;  // of a thread
  int threads;
};

template <class T>
struct Parts {
  T *buffer, *tau, *work;
  int64_t bytes;
  Parts(const State& s, void* base) {
    Scratch scratch(base);
    buffer = scratch.take<T>(int64_t{s.lead} * s.m.rows);
    tau = scratch.take<T>(s.m.least());
    work = scratch.take<T>(s.work_size);
    bytes = scratch.used();
  }
};

// Read by columns, a is its transpose R^T Q^T: LAPACK's LQ.
template <class T>
void factor(const State& s, const T* a, T* q, T* r, const Parts<T>& p) {
  const int64_t rows = s.m.rows, columns = s.m.columns, lead = s.lead;
  for (int64_t i = 0; i < rows; ++i) std::copy(a + i * columns, a + (i + 1) * columns, p.buffer + i * lead);
  lapack::lq(s.m.columns, s.m.rows, p.buffer, s.lead, p.tau, p.work, s.work_size);
  for (int64_t i = 0; i < s.k; ++i) {
    for (int64_t j = 0; j < columns; ++j) r[i * columns + j] = j < i ? T(0) : p.buffer[i * lead + j];
  }
  lapack::q(s.k, s.m.rows, s.m.least(), p.buffer, s.lead, p.tau, p.work, s.work_size);
  for (int64_t i = 0; i < rows; ++i) std::copy(p.buffer + i * lead, p.buffer + i * lead + s.k, q + i * s.k);
}

template <class T>
void run(const State& s, void* const* args) {
  const T* a = static_cast<const T*>(args[0]);
  T* q = static_cast<T*>(args[1]);
  T* r = static_cast<T*>(args[2]);
  char* scratch = static_cast<char*>(args[3]);
  each_row(s.m.count, 4 * s.m.elements() * s.m.least(), s.threads, [&](int64_t i, int thread) noexcept {
    factor(s, a + i * s.m.elements(), q + i * s.m.rows * s.k, r + i * s.k * s.m.columns,
           Parts<T>(s, scratch + thread * s.scratch));
  });
}

Kernel prepare(const KernelQuery& q) {
  const Matrices m(q.in[0].shape);
  State s{m, static_cast<int>(q.out[0].shape.dim(-1)), 0, 0, 0, std::max(q.threads, 1)};
  s.lead = std::max(s.k, m.columns);
  return with_real(q.in[0].dtype, [&](auto t) {
    using T = decltype(t);
    s.work_size = lapack::lq_work<T>(m.columns, m.rows, s.lead, s.k);
    s.scratch = Parts<T>(s, nullptr).bytes;
    return make_kernel<State, run<T>>("lapack", s, s.scratch * s.threads);
  });
}

Cost cost(const OpCall& call, std::span<const TensorType> out) { return matrix_cost(call, out, 4); }

Tensor columns(const Tensor& x, int64_t first, int64_t end) {
  Ints starts(static_cast<size_t>(x.rank()), 0), limits(x.shape().begin(), x.shape().end());
  starts.back() = first;
  limits.back() = end;
  return slice(x, starts, limits);
}

// R square: (dQ + Q S) R^-T, S symmetric with the lower triangle of R dR^T - dQ^T Q.
Tensor tall_gradient(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  const Tensor m = matmul(r, transposed(triu(dr))) - matmul(transposed(dq), q);
  const Tensor s = tril(m) + transposed(tril(m, -1));
  const Tensor right = dq + matmul(q, s);
  return transposed(triangular_solve(r, transposed(right), false));
}

// The columns of a wide matrix beyond the square ones are Q times those of R.
void grad(GradContext& g) {
  const Tensor &a = g.in(0), &q = g.out(0), &r = g.out(1);
  const int64_t k = q.dim(-1), n = r.dim(-1);
  if (k > n) {
    fail(ErrorKind::unsupported, "qr", "expected reduced factors to differentiate, got ", q.type(), " and ",
         r.type());
  }
  const Tensor dq = dout_or_zero(g, 0), dr = dout_or_zero(g, 1);
  if (k == n) return g.set(0, tall_gradient(q, r, dq, dr));
  const Tensor rest = columns(dr, k, n);
  const Tensor square =
      tall_gradient(q, columns(r, 0, k), dq + matmul(columns(a, k, n), transposed(rest)), columns(dr, 0, k));
  g.set(0, concatenate(std::array{square, matmul(q, rest)}, -1));
}

std::vector<OpCase> cases() {
  const Attrs complete = {{"complete", true}};
  return {{{{{5, 5}}}, {}},         {{{{2, 6, 4}}}, {}},           {{{{1, 1}}}, {}},
          {{{{2, 3, 5}}}, {}},      {{{{6, 4}}}, complete, false}, {{{{4, 6}}}, complete, false},
          {{{{70, 40}}}, {}, false}};
}

constexpr AttrDef kAttrs[] = {{"complete", AttrKind::boolean, "false"}};
constexpr KernelDef kKernels[] = {{.name = "lapack", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "qr",
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .cost = cost,
                            .cases = cases,
                            .dtypes = kFloats32Up,
                            .tolerance = 2e-5}};  // random matrices: errors grow with their condition

}  // namespace

std::span<const OpDef> ops_qr() { return kDefs; }

std::vector<Tensor> qr(const Tensor& a, bool complete) {
  const Tensor x = as_real(a);
  std::vector<Tensor> out = apply(kDefs[0], std::span(&x, 1), {{"complete", complete}});
  for (Tensor& t : out) t = back_to(t, a.dtype());
  return out;
}

}  // namespace plimsoll
