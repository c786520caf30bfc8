// broadcast_to: repeats along new axes and axes of size 1, as NumPy does.
#include "device/cpu/tile.h"
#include "graph/rows.h"
#include "ops/complex_parts.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require_dtype(call, 0, kAllReal);
  const Shape shape{std::span<const int64_t>(call.attrs.ints("shape"))};
  require(
      call.in[0].shape.rank() <= shape.rank() && broadcast(call.in[0].shape, shape, "broadcast_to") == shape,
      "broadcast_to", "expected a shape that ", call.in[0], " broadcasts to, got ", shape);
  return {{call.in[0].dtype, shape}};
}

void grad(GradContext& g) { g.set(0, sum_to(g.dout(), g.in(0).shape())); }

Kernel prepare(const KernelQuery& q) {
  TileProgram program(q.out[0].shape);
  program.write(1, program.read(0, q.in[0].dtype, broadcast_strides(q.in[0].shape, q.out[0].shape)));
  return program.build("broadcast_to", 2, q.threads);
}

RowPart row_part(const OpCall& whole, const RowSplit& split, int64_t, int64_t count) {
  return with_shape_attr("shape", whole, split, count);
}

std::vector<OpCase> cases() {
  const std::pair<Shape, Ints> shapes[] = {
      {{}, {}},           {{}, {3, 5}},     {{1}, {1031}},    {{7, 1, 3}, {2, 7, 5, 3}},
      {{1, 4}, {600, 4}}, {{0, 1}, {0, 3}}, {{1, 3}, {0, 3}}, {{5, 1}, {5, 3000}}};
  std::vector<OpCase> list;
  for (const auto& [from, to] : shapes) list.push_back({{{from}}, {{"shape", to}}});
  return list;
}

constexpr AttrDef kAttrs[] = {{"shape", AttrKind::ints}};
constexpr KernelDef kKernels[] = {{.name = "tiles", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "broadcast_to",
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .rows = broadcast_rows,
                            .row_part = row_part,
                            .cases = cases,
                            .dtypes = kAllReal}};

}  // namespace

std::span<const OpDef> ops_broadcast() { return kDefs; }

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (is_complex(x.dtype())) return from_pairs(broadcast_to(pairs(x), shape.inserted(shape.rank(), 2)));
  return apply1(get_op("broadcast_to"), {x}, {{"shape", Ints(shape.begin(), shape.end())}});
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  require(shape.rank() <= x.rank(), "sum_to", "expected a shape that broadcasts to ", x.shape(), ", got ",
          shape);
  Ints axes;
  for (int i = 0; i < x.rank(); ++i) {
    const int own = i - (x.rank() - shape.rank());
    if (own < 0 || (shape[own] == 1 && x.shape()[i] != 1)) {
      axes.push_back(i);
    } else {
      require(shape[own] == x.shape()[i], "sum_to", "expected a shape that broadcasts to ", x.shape(),
              ", got ", shape);
    }
  }
  return reshape(axes.empty() ? x : sum(x, axes), shape);
}

}  // namespace plimsoll
