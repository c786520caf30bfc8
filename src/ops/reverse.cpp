// reverse: some axes run backwards.
#include "device/cpu/strided_copy.h"
#include "device/kernel.h"
#include "graph/rows.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  for (const int64_t axis : call.attrs.ints("axes")) normalize_axis(axis, call.in[0].shape.rank(), "reverse");
  return {call.in[0]};
}

void grad(GradContext& g) { g.set(0, reverse(g.dout(), g.attrs().ints("axes"))); }

struct State {
  StridedCopy copy;
  int64_t start;  // bytes
};

void run(const State& s, void* const* args) {
  s.copy.run(args[1], static_cast<const char*>(args[0]) + s.start);
}

Kernel prepare(const KernelQuery& q) {
  const Shape& shape = q.in[0].shape;
  StridedCopy::Strides from = row_major(shape);
  const int64_t size = static_cast<int64_t>(size_of(q.in[0].dtype));
  int64_t start = 0;
  for (const int64_t axis : q.attrs.ints("axes")) {
    const int a = normalize_axis(axis, shape.rank(), "reverse");
    int64_t& stride = from[static_cast<size_t>(a)];
    if (stride < 0 || shape.elements() == 0) continue;
    start += stride * (shape[a] - 1) * size;
    stride = -stride;
  }
  StridedCopy copy(shape, row_major(shape), from, static_cast<size_t>(size), q.threads);
  return make_kernel<State, run>("strided copy", {copy, start});
}

std::optional<RowSplit> rows(const RowQuery& q) {
  std::vector<int> axes;
  for (const int64_t axis : q.call.attrs.ints("axes"))
    axes.push_back(normalize_axis(axis, q.call.in[0].shape.rank(), "reverse"));
  return rows_but(q, axes);
}

std::vector<OpCase> cases() {
  const std::pair<Shape, Ints> shapes[] = {
      {{7}, {0}}, {{5, 4}, {1}}, {{5, 4, 3}, {0, -1}}, {{0, 3}, {0}}, {{2, 3, 1, 5, 4}, {1, 3}}};
  std::vector<OpCase> list;
  for (const auto& [shape, axes] : shapes) list.push_back({{{shape}}, {{"axes", axes}}});
  return list;
}

constexpr AttrDef kAttrs[] = {{"axes", AttrKind::ints}};
constexpr KernelDef kKernels[] = {{.name = "strided copy", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "reverse",
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .rows = rows,
                            .cases = cases,
                            .dtypes = kAllReal}};

}  // namespace

std::span<const OpDef> ops_reverse() { return kDefs; }

Tensor reverse(const Tensor& x, const Ints& axes) { return apply1(get_op("reverse"), {x}, {{"axes", axes}}); }

}  // namespace plimsoll
