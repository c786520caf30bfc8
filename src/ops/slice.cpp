// slice: x[start:limit:stride] on every axis; and x[...] of tensors, made of it.
#include <algorithm>
#include <limits>

#include "device/cpu/strided_copy.h"
#include "device/kernel.h"
#include "graph/rows.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const Shape& in = call.in[0].shape;
  const Ints &starts = call.attrs.ints("starts"), &limits = call.attrs.ints("limits"),
             &strides = call.attrs.ints("strides");
  const size_t rank = static_cast<size_t>(in.rank());
  require(starts.size() == rank && limits.size() == rank && (strides.size() == rank || strides.empty()),
          "slice", "expected ", rank, " starts, limits and strides for ", call.in[0], ", got ", starts.size(),
          ", ", limits.size(), " and ", strides.size());
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = in[static_cast<int>(i)], stride = strides.empty() ? 1 : strides[i];
    require(0 <= starts[i] && starts[i] <= limits[i] && limits[i] <= size && stride >= 1, "slice",
            "expected 0 <= start <= limit <= ", size, " and stride >= 1 on axis ", i, ", got ", starts[i],
            ":", limits[i], ":", stride);
    sizes.push_back((limits[i] - starts[i]) / stride + ((limits[i] - starts[i]) % stride != 0));
  }
  return {{call.in[0].dtype, Shape(std::span<const int64_t>(sizes))}};
}

// What was cut off comes back as zeros.
void grad(GradContext& g) {
  const Shape& in = g.in(0).shape();
  const Ints &starts = g.attrs().ints("starts"), &strides = g.attrs().ints("strides");
  Ints high, interior;
  for (int i = 0; i < in.rank(); ++i) {
    const size_t a = static_cast<size_t>(i);
    const int64_t stride = strides.empty() ? 1 : strides[a], size = g.out().shape()[i];
    interior.push_back(stride - 1);
    high.push_back(in[i] - starts[a] - (size == 0 ? 0 : (size - 1) * stride + 1));
  }
  g.set(0, pad(g.dout(), starts, high, interior));
}

struct State {
  StridedCopy copy;
  int64_t start;  // bytes
};

void run(const State& s, void* const* args) {
  s.copy.run(args[1], static_cast<const char*>(args[0]) + s.start);
}

Kernel prepare(const KernelQuery& q) {
  const Ints &starts = q.attrs.ints("starts"), &strides = q.attrs.ints("strides");
  StridedCopy::Strides from = row_major(q.in[0].shape);
  const size_t size = size_of(q.in[0].dtype);
  int64_t start = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    start += starts[i] * from[i] * static_cast<int64_t>(size);
    if (!strides.empty()) from[i] *= strides[i];
  }
  StridedCopy copy(q.out[0].shape, row_major(q.out[0].shape), from, size, q.threads);
  return make_kernel<State, run>("strided copy", {copy, start});
}

std::optional<RowSplit> rows(const RowQuery& q) {
  const size_t axis = static_cast<size_t>(q.rows.axis);
  const Ints& strides = q.call.attrs.ints("strides");
  if (q.call.in[0].shape[q.rows.axis] != q.out[0].shape[q.rows.axis]) return std::nullopt;
  if (!strides.empty() && strides[axis] != 1) return std::nullopt;
  return rows_but(q, {});
}
RowPart row_part(const OpCall& whole, const RowSplit& split, int64_t, int64_t count) {
  return with_shape_attr("limits", whole, split, count);
}

std::vector<OpCase> cases() {
  struct Row {
    Shape shape;
    Ints starts, limits, strides;
  };
  const Row rows[] = {{{7}, {2}, {6}, {}},
                      {{7}, {3}, {3}, {}},
                      {{5, 4}, {1, 0}, {5, 4}, {2, 3}},
                      {{}, {}, {}, {}},
                      {{0, 3}, {0, 1}, {0, 3}, {}},
                      {{2, 3, 1, 5, 4}, {0, 1, 0, 2, 0}, {2, 3, 1, 5, 3}, {1, 1, 1, 2, 1}},
                      {{40, 70}, {3, 8}, {39, 64}, {}}};
  std::vector<OpCase> list;
  for (const Row& r : rows) {
    list.push_back({{{r.shape}}, {{"starts", r.starts}, {"limits", r.limits}, {"strides", r.strides}}});
  }
  return list;
}

constexpr AttrDef kAttrs[] = {
    {"limits", AttrKind::ints}, {"starts", AttrKind::ints}, {"strides", AttrKind::ints, "[]"}};
constexpr KernelDef kKernels[] = {{.name = "strided copy", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "slice",
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .rows = rows,
                            .row_part = row_part,
                            .cases = cases,
                            .dtypes = kAllReal}};

}  // namespace

std::span<const OpDef> ops_slice() { return kDefs; }

namespace {

// The elements of `axis` that Python's start:stop:step names.
Tensor sliced(const Tensor& x, int axis, const Slice& s) {
  const int64_t size = x.dim(axis), step = s.step.value_or(1);
  require(step != 0, "slice", "expected a step that is not 0");
  const bool back = step < 0;
  const auto bound = [&](const std::optional<int64_t>& given, int64_t otherwise) {
    if (!given) return otherwise;
    const int64_t at = *given < 0 ? *given + size : *given;
    return std::clamp<int64_t>(at, back ? -1 : 0, back ? size - 1 : size);
  };
  const int64_t start = bound(s.start, back ? size - 1 : 0), stop = bound(s.stop, back ? -1 : size);
  const auto a = static_cast<size_t>(axis);
  Ints starts(static_cast<size_t>(x.rank()), 0), limits(x.shape().begin(), x.shape().end()),
      strides(starts.size(), 1);
  if (!back) {
    starts[a] = std::min(start, size), limits[a] = std::max(starts[a], stop), strides[a] = step;
    return slice(x, starts, limits, strides);
  }
  // Forwards from the last that is named, then turned round.
  const int64_t stride = step == std::numeric_limits<int64_t>::min() ? size + 1 : -step;
  const int64_t count = start > stop ? (start - stop - 1) / stride + 1 : 0;
  starts[a] = count > 0 ? start - (count - 1) * stride : 0;
  limits[a] = count > 0 ? start + 1 : 0;
  strides[a] = stride;
  return reverse(slice(x, starts, limits, strides), {axis});
}

Tensor picked(const Tensor& x, int axis, int64_t place) {
  const int64_t size = x.dim(axis), at = place < 0 ? place + size : place;
  require(at >= 0 && at < size, "index", "expected a place from ", -size, " to ", size - 1, " on axis ", axis,
          " of shape ", x.shape(), ", got ", place);
  return squeeze(sliced(x, axis, {at, at + 1}), axis);
}

}  // namespace

Tensor Tensor::at(std::span<const Index> indices) const {
  using Kind = Index::Kind;
  const auto count = [&](auto... kinds) {
    return std::count_if(indices.begin(), indices.end(),
                         [&](const Index& i) { return ((i.kind == kinds) || ...); });
  };
  const int64_t used = count(Kind::place, Kind::slice);
  require(used <= rank() && count(Kind::ellipsis) <= 1, "index", "expected at most ", rank(),
          " places and slices, and one Ellipsis, for shape ", shape(), ", got ", used, " and ",
          count(Kind::ellipsis));
  Tensor x = *this;
  int axis = 0;
  for (const Index& index : indices) {
    if (index.kind == Kind::ellipsis) axis += rank() - static_cast<int>(used);
    if (index.kind == Kind::new_axis) x = expand_dims(x, axis++);
    if (index.kind == Kind::slice) x = sliced(x, axis++, index.slice);
    if (index.kind == Kind::place) x = picked(x, axis, index.place);
  }
  return x;
}

Tensor slice(const Tensor& x, const Ints& starts, const Ints& limits, const Ints& strides) {
  return apply1(get_op("slice"), {x}, {{"starts", starts}, {"limits", limits}, {"strides", strides}});
}

}  // namespace plimsoll
