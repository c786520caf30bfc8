// argmax and argmin along one axis: int32, the first of equals; a NaN counts as the largest (argmax) or
// smallest (argmin).
#include "device/cpu/row_chunks.h"
#include "device/cpu/typed.h"
#include "device/kernel.h"
#include "graph/op.h"
#include "graph/rows.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const Shape& x = call.in[0].shape;
  const int axis = normalize_axis(call.attrs.integer("axis"), x.rank(), call.op.name);
  require(x[axis] > 0, call.op.name, "expected an axis with elements, got ", call.in[0]);
  require(!is_complex(call.in[0].dtype), call.op.name, "expected real elements, got ", call.in[0]);
  require(x[axis] <= INT32_MAX, call.op.name, "expected at most ", INT32_MAX, " elements, got ", x[axis]);
  return {{DType::i32, call.attrs.flag("keepdims") ? x.with(axis, 1) : x.without(axis)}};
}

struct State {
  int64_t outer, size, inner;
  int threads;
};

template <class T, bool Max>
void run(const State& s, void* const* args) {
  const T* x = static_cast<const T*>(args[0]);
  int32_t* y = static_cast<int32_t*>(args[1]);
  parallel_rows(s.outer * s.inner, s.size, s.threads, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t r = begin; r < end; ++r) {
      const T* p = x + r / s.inner * s.size * s.inner + r % s.inner;
      auto best = load(p[0]);
      int32_t at = 0;
      for (int64_t i = 1; i < s.size && !is_nan(best); ++i) {  // a NaN stays
        const auto v = load(p[i * s.inner]);
        if (Max ? v > best || is_nan(v) : v < best || is_nan(v)) best = v, at = static_cast<int32_t>(i);
      }
      y[r] = at;
    }
  });
}

template <bool Max>
Kernel prepare(const KernelQuery& q) {
  const Shape& x = q.in[0].shape;
  const int axis = normalize_axis(q.attrs.integer("axis"), x.rank(), "arg_reduce");
  State s{1, x[axis], 1, q.threads};
  for (int i = 0; i < axis; ++i) s.outer *= x[i];
  for (int i = axis + 1; i < x.rank(); ++i) s.inner *= x[i];
  return with_type(q.in[0].dtype, Max ? "argmax" : "argmin",
                   [&](auto t) { return make_kernel<State, run<decltype(t), Max>>("rows", s); });
}

std::optional<RowSplit> rows(const RowQuery& q) {
  const int axis = normalize_axis(q.call.attrs.integer("axis"), q.call.in[0].shape.rank(), q.call.op.name);
  const int shift = q.call.attrs.flag("keepdims") ? 0 : 1;
  const int from = q.rows.axis + (!q.is_input() && q.rows.axis >= axis ? shift : 0);
  if (from == axis) return std::nullopt;
  return RowSplit{{{from, q.rows.per}}, {{from - (from > axis ? shift : 0), q.rows.per}}};
}

std::vector<OpCase> cases() {
  return {{{{{5, 7}}}, {{"axis", int64_t{1}}}, false},
          {{{{5, 7}}}, {{"axis", int64_t{0}}, {"keepdims", true}}, false},
          {{{{2, 3, 4}}}, {{"axis", int64_t{-2}}}, false},
          {{{{1}}}, {{"axis", int64_t{0}}}, false},
          {{{{0, 3}}}, {{"axis", int64_t{1}}}, false}};
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::integer}, {"keepdims", AttrKind::boolean, "false"}};
constexpr KernelDef kMax[] = {{.name = "reference", .prepare = prepare<true>}};
constexpr KernelDef kMin[] = {{.name = "reference", .prepare = prepare<false>}};

Tensor call(std::string_view name, const Tensor& x, int axis, bool keepdims) {
  return apply1(get_op(name), {x}, {{"axis", int64_t{axis}}, {"keepdims", keepdims}});
}

}  // namespace

Tensor argmax(const Tensor& x, int axis, bool keepdims) { return call("argmax", x, axis, keepdims); }
Tensor argmin(const Tensor& x, int axis, bool keepdims) { return call("argmin", x, axis, keepdims); }

std::span<const OpDef> ops_arg_reduce() {
  static constexpr OpDef defs[] = {
      {.name = "argmax",
       .arity = {1, 1},
       .attrs = kAttrs,
       .infer = infer,
       .kernels = kMax,
       .rows = rows,
       .cases = cases,
       .dtypes = kAllReal},
      {.name = "argmin",
       .arity = {1, 1},
       .attrs = kAttrs,
       .infer = infer,
       .kernels = kMin,
       .rows = rows,
       .cases = cases,
       .dtypes = kAllReal},
  };
  return defs;
}

}  // namespace plimsoll
