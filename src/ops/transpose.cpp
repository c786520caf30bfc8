// transpose: axis i of the result is axis permutation[i] of the input.
#include "device/cpu/strided_copy.h"
#include "device/kernel.h"
#include "graph/rows.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const Ints& order = call.attrs.ints("permutation");
  const Shape& in = call.in[0].shape;
  require(static_cast<int>(order.size()) == in.rank(), "transpose", "expected a permutation of ", in.rank(),
          " axes for ", call.in[0], ", got ", order.size());
  std::array<bool, Shape::kMaxRank> seen{};
  std::vector<int64_t> sizes;
  for (const int64_t axis : order) {
    const int a = normalize_axis(axis, in.rank(), "transpose");
    require(!seen[static_cast<size_t>(a)], "transpose", "expected every axis once, got ", axis, " twice");
    seen[static_cast<size_t>(a)] = true;
    sizes.push_back(in[a]);
  }
  return {{call.in[0].dtype, Shape(std::span<const int64_t>(sizes))}};
}

void grad(GradContext& g) {
  const Ints& order = g.attrs().ints("permutation");
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(normalize_axis(order[i], g.in(0).rank(), "transpose"))] =
        static_cast<int64_t>(i);
  }
  g.set(0, transpose(g.dout(), back));
}

void run(const StridedCopy& copy, void* const* args) { copy.run(args[1], args[0]); }

Kernel prepare(const KernelQuery& q) {
  const Ints& order = q.attrs.ints("permutation");
  const StridedCopy::Strides in = row_major(q.in[0].shape);
  StridedCopy::Strides from{};
  for (size_t i = 0; i < order.size(); ++i) {
    from[i] = in[static_cast<size_t>(normalize_axis(order[i], q.in[0].shape.rank(), "transpose"))];
  }
  StridedCopy copy(q.out[0].shape, row_major(q.out[0].shape), from, size_of(q.in[0].dtype), q.threads);
  return make_kernel<StridedCopy, run>("strided copy", copy);
}

std::optional<RowSplit> rows(const RowQuery& q) {
  const Ints& order = q.call.attrs.ints("permutation");
  for (size_t i = 0; i < order.size(); ++i) {
    const int from = normalize_axis(order[i], q.call.in[0].shape.rank(), "transpose"),
              to = static_cast<int>(i);
    if (q.rows.axis == (q.is_input() ? from : to)) return RowSplit{{{from, q.rows.per}}, {{to, q.rows.per}}};
  }
  return std::nullopt;
}

std::vector<OpCase> cases() {
  const std::pair<Shape, Ints> shapes[] = {{{}, {}},
                                           {{7}, {0}},
                                           {{33, 65}, {1, 0}},
                                           {{0, 3}, {1, 0}},
                                           {{5, 1, 17}, {2, 0, 1}},
                                           {{4, 9, 10, 3}, {0, 3, 1, 2}},
                                           {{2, 3, 1, 5, 4}, {4, 2, 0, 3, 1}},
                                           {{3, 8, 40}, {0, 2, 1}},
                                           {{6, 5, 4}, {1, 0, -1}}};
  std::vector<OpCase> list;
  for (const auto& [shape, order] : shapes) list.push_back({{{shape}}, {{"permutation", order}}});
  return list;
}

constexpr AttrDef kAttrs[] = {{"permutation", AttrKind::ints}};
constexpr KernelDef kKernels[] = {{.name = "strided copy", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "transpose",
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .rows = rows,
                            .cases = cases,
                            .dtypes = kAllReal}};

}  // namespace

std::span<const OpDef> ops_transpose() { return kDefs; }

Tensor transpose(const Tensor& x, const Ints& permutation) {
  bool moves = false;
  for (size_t i = 0; i < permutation.size(); ++i) moves = moves || permutation[i] != static_cast<int64_t>(i);
  if (!moves && static_cast<int>(permutation.size()) == x.rank()) return x;
  return apply1(get_op("transpose"), {x}, {{"permutation", permutation}});
}

}  // namespace plimsoll
