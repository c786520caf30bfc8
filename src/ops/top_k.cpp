// top_k(x, k): the k largest elements along the last axis, largest first, and their places (int32). Of equals
// the first comes first; a NaN is larger than any number.
#include <algorithm>
#include <cmath>

#include "device/aligned.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "graph/rows.h"
#include "ops/axis_rows.h"
#include "ops/sort_keys.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.in[0];
  const int64_t k = call.attrs.integer("k");
  require(!is_complex(x.dtype) && x.shape.rank() >= 1, "top_k",
          "expected real elements with at least one axis, got ", x);
  const int last = x.shape.rank() - 1;
  require(k >= 0 && k <= x.shape[last], "top_k", "expected k from 0 to ", x.shape[last], ", got ", k);
  require(x.shape[last] <= INT32_MAX, "top_k", "expected at most ", INT32_MAX, " elements, got ",
          x.shape[last]);
  const Shape out = x.shape.with(last, k);
  return {{x.dtype, out}, {DType::i32, out}};
}

struct State {
  int64_t rows, size, k;
  int64_t row_bytes;  // of a thread's scratch
  int threads;
};

template <class T>
void run(const State& s, void* const* args) {
  const T* x = static_cast<const T*>(args[0]);
  T* values = static_cast<T*>(args[1]);
  int32_t* places = static_cast<int32_t*>(args[2]);
  char* scratch = static_cast<char*>(args[3]);
  each_row(s.rows, 4 * s.size, s.threads, [&](int64_t row, int thread) noexcept {
    auto* const order = reinterpret_cast<KeyOf<T>*>(scratch + thread * s.row_bytes);
    const T* from = x + row * s.size;
    for (int64_t i = 0; i < s.size; ++i) {
      const auto key = ordered(load(from[i]));
      order[i] = KeyOf<T>::make(static_cast<decltype(key)>(~key), static_cast<uint32_t>(i));
    }
    if (s.k < s.size) std::nth_element(order, order + s.k, order + s.size);
    std::sort(order, order + s.k);
    for (int64_t i = 0; i < s.k; ++i) {
      places[row * s.k + i] = static_cast<int32_t>(place_of(order[i]));
      values[row * s.k + i] = from[place_of(order[i])];
    }
  });
}

Kernel prepare(const KernelQuery& q) {
  const Shape& x = q.in[0].shape;
  const AxisRows axis(x, x.rank() - 1);
  State s{axis.rows(), axis.size, q.attrs.integer("k"), 0, std::max(q.threads, 1)};
  return with_type(q.in[0].dtype, "top_k", [&](auto t) {
    s.row_bytes = aligned(s.size * static_cast<int64_t>(sizeof(KeyOf<decltype(t)>)));
    const int64_t scratch = s.row_bytes * s.threads;
    return make_kernel<State, run<decltype(t)>>("rows", s, scratch);
  });
}

Cost cost(const OpCall& call, std::span<const TensorType>) {
  const double n = static_cast<double>(call.in[0].shape.elements());
  return {6 * n, static_cast<double>(byte_size(call.in[0].dtype, call.in[0].shape))};
}

void grad(GradContext& g) {
  if (!is_float(g.in(0).dtype()) || !g.has_dout(0)) return;
  const Tensor zero = broadcast_to(g.in(0).graph().constant(scalar_like(g.in(0), 0)), g.in(0).shape());
  g.set(0, put_along_axis(zero, g.out(1), g.dout(0), -1, "add"));
}

std::optional<RowSplit> rows(const RowQuery& q) {
  const int last = q.call.in[0].shape.rank() - 1;
  return rows_but(q, std::span(&last, 1));
}

std::vector<OpCase> cases() {
  return {{{{{23}}}, {{"k", int64_t{4}}}},
          {{{{5, 3, 6}}}, {{"k", int64_t{6}}}},
          {{{{3, 7}}}, {{"k", int64_t{1}}}},
          {{{{3, 7}}}, {{"k", int64_t{0}}}, false},
          {{{{2, 1031}}}, {{"k", int64_t{40}}}, false}};
}

constexpr AttrDef kAttrs[] = {{"k", AttrKind::integer}};
constexpr KernelDef kKernels[] = {{.name = "reference", .prepare = prepare}};

}  // namespace

std::vector<Tensor> top_k(const Tensor& x, int64_t k) {
  return apply(get_op("top_k"), std::span(&x, 1), {{"k", k}});
}

std::span<const OpDef> ops_top_k() {
  static constexpr OpDef defs[] = {{.name = "top_k",
                                    .attrs = kAttrs,
                                    .infer = infer,
                                    .grad = grad,
                                    .kernels = kKernels,
                                    .cost = cost,
                                    .rows = rows,
                                    .cases = cases,
                                    .dtypes = kAllReal}};
  return defs;
}

}  // namespace plimsoll
