// triangular_solve(a, b): X with A X = b, or A^T X = b; A is the lower or upper triangle of a, the rest is
// not read.
#include <cstring>

#include "ops/matrices.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require_matrices(call, 0, true);
  require_matrices(call, 1, false);
  const Shape &a = call.in[0].shape, &b = call.in[1].shape;
  require(call.in[0].dtype == call.in[1].dtype && b.rank() == a.rank() &&
              with_matrix(b, a.dim(-2), a.dim(-1)) == a,
          "triangular_solve", "expected b of the dtype of a, with as many rows, got ", call.in[0], " and ",
          call.in[1]);
  return {call.in[1]};
}

struct State {
  int64_t count;
  int n, k;
  bool lower, transposed;
  int threads;
};

// Read by columns, all is transposed: X^T A^T = b^T.
template <class T>
void run(const State& s, void* const* args) {
  const T* a = static_cast<const T*>(args[0]);
  const T* b = static_cast<const T*>(args[1]);
  T* x = static_cast<T*>(args[2]);
  const int64_t size = int64_t{s.n} * s.k;
  if (x != b) std::memcpy(x, b, static_cast<size_t>(s.count * size) * sizeof(T));
  each_row(s.count, size * s.n, s.threads, [&](int64_t i, int) noexcept {
    lapack::solve_triangle(s.lower, s.transposed, s.k, s.n, a + i * s.n * s.n, x + i * size);
  });
}

Kernel prepare(const KernelQuery& q) {
  const Matrices b(q.in[1].shape);
  const State s{b.count, b.rows, b.columns, q.attrs.flag("lower"), q.attrs.flag("transposed"), q.threads};
  return with_real(q.in[0].dtype, [&](auto t) { return make_kernel<State, run<decltype(t)>>("blas", s); });
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  return streaming_cost(call, out, static_cast<double>(call.in[1].shape.dim(-1)));
}

uint64_t in_place(const OpCall&, int) { return 2; }

void grad(GradContext& g) {
  const bool lower = g.attrs().flag("lower"), turned = g.attrs().flag("transposed");
  const Tensor db = triangular_solve(g.in(0), g.dout(), lower, !turned);
  g.set(1, db);
  if (!g.wants(0)) return;
  const Tensor da = -(turned ? matmul(g.out(), transposed(db)) : matmul(db, transposed(g.out())));
  g.set(0, lower ? tril(da) : triu(da));
}

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const bool lower : {true, false}) {
    for (const bool turned : {true, false})
      list.push_back({{{{2, 5, 5}}, {{2, 5, 3}}}, {{"lower", lower}, {"transposed", turned}}});
  }
  list.push_back({{{{40, 40}}, {{40, 7}}}, {{"lower", true}}});
  list.push_back({{{{1, 1}}, {{1, 1}}}, {{"lower", false}}});
  return list;
}

constexpr AttrDef kAttrs[] = {{"lower", AttrKind::boolean}, {"transposed", AttrKind::boolean, "false"}};
constexpr KernelDef kKernels[] = {{.name = "blas", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "triangular_solve",
                            .arity = {2, 2},
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .cost = cost,
                            .in_place = in_place,
                            .cases = cases,
                            .dtypes = kFloats32Up}};

}  // namespace

std::span<const OpDef> ops_triangular_solve() { return kDefs; }

Tensor triangular_solve(const Tensor& a, const Tensor& b, bool lower, bool transposed) {
  const DType met = promote(a.dtype(), b.dtype()), t = real_type(met);
  const Tensor x = apply1(kDefs[0], {cast(a, t), cast(b, t)}, {{"lower", lower}, {"transposed", transposed}});
  return back_to(x, met);
}

}  // namespace plimsoll
