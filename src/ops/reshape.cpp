// reshape: the same bytes under another shape. Runs nothing.
#include "graph/rows.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const Shape shape{std::span<const int64_t>(call.attrs.ints("shape"))};
  require(shape.elements() == call.in[0].shape.elements(), "reshape", "expected a shape of ",
          call.in[0].shape.elements(), " elements for ", call.in[0], ", got ", shape);
  return {{call.in[0].dtype, shape}};
}

void grad(GradContext& g) { g.set(0, reshape(g.dout(), g.in(0).shape())); }

// Rows stay rows where as many elements come before them: an axis of the other shape holds a multiple of
// them.
std::optional<RowSplit> rows(const RowQuery& q) {
  const Shape &own = q.shape(q.given), &other = q.shape(q.is_input() ? 1 : 0);
  const auto before = [](const Shape& shape, int axis) {
    int64_t count = 1;
    for (int i = 0; i < axis; ++i) count *= shape[i];
    return count;
  };
  const int64_t count = q.count(), first = before(own, q.rows.axis);
  for (int axis = 0; axis < other.rank(); ++axis) {
    if (before(other, axis) != first || other[axis] == 0 || other[axis] % count != 0) continue;
    const Rows there{axis, other[axis] / count};
    return q.is_input() ? RowSplit{{q.rows}, {there}} : RowSplit{{there}, {q.rows}};
  }
  return std::nullopt;
}
RowPart row_part(const OpCall& whole, const RowSplit& split, int64_t, int64_t count) {
  return with_shape_attr("shape", whole, split, count);
}

std::vector<OpCase> cases() {
  return {{{{{6, 4}}}, {{"shape", Ints{2, 3, 4}}}},
          {{{{}}}, {{"shape", Ints{1, 1}}}},
          {{{{0, 3}}}, {{"shape", Ints{3, 0}}}},
          {{{{2, 3, 1, 5, 4}}}, {{"shape", Ints{120}}}}};
}

constexpr AttrDef kAttrs[] = {{"shape", AttrKind::ints}};
constexpr OpDef kDefs[] = {{.name = "reshape",
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .alias = true,
                            .rows = rows,
                            .row_part = row_part,
                            .cases = cases,
                            .dtypes = kAllReal}};

}  // namespace

std::span<const OpDef> ops_reshape() { return kDefs; }

Tensor reshape(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return apply1(get_op("reshape"), {x}, {{"shape", Ints(shape.begin(), shape.end())}});
}

Tensor reshape(const Tensor& x, std::span<const int64_t> sizes) {
  Ints whole(sizes.begin(), sizes.end());
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& size : whole) {
    if (size == -1) {
      require(open == nullptr, "reshape", "expected at most one size of -1, got two");
      open = &size;
    } else {
      require(size >= 0, "reshape", "expected sizes of at least 0 or one of -1, got ", size);
      known = checked_mul(known, size, "reshape");
    }
  }
  if (open) {
    require(known > 0 && x.shape().elements() % known == 0, "reshape", "expected sizes that divide ",
            x.shape(), ", got ", known, " for the known ones");
    *open = x.shape().elements() / known;
  }
  return reshape(x, Shape(std::span<const int64_t>(whole)));
}

Tensor expand_dims(const Tensor& x, int axis) {
  return reshape(x, x.shape().inserted(normalize_axis(axis, x.rank() + 1, "expand_dims"), 1));
}

Tensor squeeze(const Tensor& x, int axis) {
  const int at = normalize_axis(axis, x.rank(), "squeeze");
  require(x.shape()[at] == 1, "squeeze", "expected an axis of size 1, got axis ", axis, " of ", x.shape());
  return reshape(x, x.shape().without(at));
}

}  // namespace plimsoll
