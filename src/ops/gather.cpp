// take(x, indices, axis) and gather_nd(x, indices): rows of x, picked by integers. Negative indices count
// from the end; what is still outside is clamped, so nothing is read out of bounds. take_along_axis and
// one_hot are made of other ops.
#include <cstring>

#include "device/cpu/index_reader.h"
#include "device/cpu/row_chunks.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "graph/rows.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

void require_indices(std::string_view op, const TensorType& t) {
  require(is_integer(t.dtype), op, "expected integer indices, got ", t);
}

int64_t product(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

std::vector<TensorType> infer_take(const OpCall& call) {
  const Shape& x = call.in[0].shape;
  require_indices("take", call.in[1]);
  const int axis = normalize_axis(call.attrs.integer("axis"), x.rank(), "take");
  std::vector<int64_t> sizes(x.begin(), x.begin() + axis);
  sizes.insert(sizes.end(), call.in[1].shape.begin(), call.in[1].shape.end());
  sizes.insert(sizes.end(), x.begin() + axis + 1, x.end());
  const Shape out{std::span<const int64_t>(sizes)};
  require(x[axis] > 0 || out.elements() == 0, "take", "expected an axis with elements to take from, got ",
          call.in[0]);
  return {{call.in[0].dtype, out}};
}

struct TakeState {
  DType index_type;
  int64_t outer, size, count, row;  // x is (outer, size, row bytes), the result (outer, count, row bytes)
  int threads;
};

void run_take(const TakeState& s, void* const* args) {
  const char* x = static_cast<const char*>(args[0]);
  char* y = static_cast<char*>(args[2]);
  parallel_rows(s.outer * s.count, s.row / 4, s.threads, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t i = wrap_index(read_index(s.index_type, args[1], r % s.count), s.size);
      std::memcpy(y + r * s.row, x + (r / s.count * s.size + i) * s.row, static_cast<size_t>(s.row));
    }
  });
}

Kernel prepare_take(const KernelQuery& q) {
  const Shape& x = q.in[0].shape;
  const int axis = normalize_axis(q.attrs.integer("axis"), x.rank(), "take");
  const auto sizes = x.sizes();
  const TakeState s{
      q.in[1].dtype,
      product(sizes.first(static_cast<size_t>(axis))),
      x[axis],
      q.in[1].shape.elements(),
      product(sizes.subspan(static_cast<size_t>(axis) + 1)) * static_cast<int64_t>(size_of(q.in[0].dtype)),
      q.threads};
  return make_kernel<TakeState, run_take>("rows", s);
}

// Adds the rows of dy back where they were taken from: the axis goes first, then scatter_nd.
void grad_take(GradContext& g) {
  const Shape& x = g.in(0).shape();
  const int axis = normalize_axis(g.attrs().integer("axis"), x.rank(), "take");
  const int width = g.in(1).rank();
  Ints front, back;
  for (int i = 0; i < width; ++i) front.push_back(axis + i);
  for (int i = 0; i < g.dout().rank(); ++i) {
    if (i < axis || i >= axis + width) front.push_back(i);
  }
  std::vector<int64_t> moved = {x[axis]};
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) moved.push_back(x[i]);
    back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
  }
  const Tensor zero =
      broadcast_to(g.in(0).graph().constant(scalar_like(g.in(0), 0)), Shape(std::span<const int64_t>(moved)));
  const Tensor index = cast(g.in(1), DType::i64);
  const Tensor n = scalar_like(index, static_cast<double>(x[axis]));
  const Tensor wrapped =
      clip(where(less(index, scalar_like(index, 0)), index + n, index), 0, static_cast<double>(x[axis] - 1));
  const Tensor dx = scatter_nd(zero, expand_dims(wrapped, -1), transpose(g.dout(), front), "add");
  g.set(0, transpose(dx, back));
}

std::vector<OpCase> cases_take() {
  const auto at = [](const Shape& s) { return InputCase{s, 0, 3, DType::i32}; };
  return {{{{{5, 3}}, at({4})}, {{"axis", int64_t{0}}}},
          {{{{4, 7}}, at({2, 3})}, {{"axis", int64_t{-1}}}},
          {{{{3, 4, 5}}, at({})}, {{"axis", int64_t{1}}}},
          {{{{4}}, at({0})}, {{"axis", int64_t{0}}}},
          {{{{2, 4, 1}}, {{3}, -6, 6, DType::i64}}, {{"axis", int64_t{1}}}}};
}

// ---- gather_nd

std::vector<TensorType> infer_gather_nd(const OpCall& call) {
  const Shape& x = call.in[0].shape;
  const Shape& indices = call.in[1].shape;
  require_indices("gather_nd", call.in[1]);
  require(indices.rank() >= 1 && indices.dim(-1) <= x.rank(), "gather_nd", "expected indices of at most ",
          x.rank(), " columns, got shape ", indices);
  const int64_t k = indices.dim(-1);
  std::vector<int64_t> sizes(indices.begin(), indices.end() - 1);
  sizes.insert(sizes.end(), x.begin() + k, x.end());
  const Shape out{std::span<const int64_t>(sizes)};
  require(x.elements() > 0 || out.elements() == 0, "gather_nd", "expected elements to gather from, got ",
          call.in[0]);
  return {{call.in[0].dtype, out}};
}

struct GatherState {
  DType index_type;
  int64_t count, columns, row;
  std::array<int64_t, Shape::kMaxRank> sizes;
  int threads;
};

void run_gather_nd(const GatherState& s, void* const* args) {
  const char* x = static_cast<const char*>(args[0]);
  char* y = static_cast<char*>(args[2]);
  parallel_rows(s.count, s.row / 4 + 4, s.threads, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t r = begin; r < end; ++r) {
      int64_t at = 0;
      for (int64_t c = 0; c < s.columns; ++c) {
        const int64_t size = s.sizes[static_cast<size_t>(c)];
        at = at * size + wrap_index(read_index(s.index_type, args[1], r * s.columns + c), size);
      }
      std::memcpy(y + r * s.row, x + at * s.row, static_cast<size_t>(s.row));
    }
  });
}

Kernel prepare_gather_nd(const KernelQuery& q) {
  const Shape& x = q.in[0].shape;
  GatherState s{};
  s.index_type = q.in[1].dtype;
  s.columns = q.in[1].shape.dim(-1);
  s.count = product(q.in[1].shape.sizes().first(static_cast<size_t>(q.in[1].shape.rank() - 1)));
  s.row = product(x.sizes().subspan(static_cast<size_t>(s.columns))) *
          static_cast<int64_t>(size_of(q.in[0].dtype));
  std::copy(x.begin(), x.begin() + s.columns, s.sizes.begin());
  s.threads = q.threads;
  return make_kernel<GatherState, run_gather_nd>("rows", s);
}

// The indices as scatter_nd wants them: wrapped and clamped as the kernel reads them.
Tensor plain_indices(const Tensor& indices, const Shape& x) {
  const int64_t k = indices.shape().dim(-1);
  std::vector<int64_t> sizes(x.begin(), x.begin() + k);
  const Tensor n = Tensor::from<int64_t>(sizes, Shape{k});
  const Tensor i = cast(indices, DType::i64);
  const Tensor zero = scalar_like(i, 0);
  return maximum(minimum(where(less(i, zero), i + n, i), n - 1.0), zero);
}

void grad_gather_nd(GradContext& g) {
  const Tensor zero = broadcast_to(g.in(0).graph().constant(scalar_like(g.in(0), 0)), g.in(0).shape());
  g.set(0, scatter_nd(zero, plain_indices(g.in(1), g.in(0).shape()), g.dout(), "add"));
}

std::vector<OpCase> cases_gather_nd() {
  const auto at = [](const Shape& s) { return InputCase{s, 0, 2, DType::i32}; };
  return {{{{{3, 4}}, at({5, 2})}, {}},
          {{{{3, 4, 5}}, at({2, 1})}, {}},
          {{{{3, 4}}, at({0, 2})}, {}},
          {{{{3, 2}}, at({2, 0})}, {}},
          {{{{2, 3, 2, 5}}, {{3, 7, 3}, -4, 4, DType::i64}}, {}}};
}

// Axes of the result: those of x before `axis`, those of the indices, the rest of x.
std::optional<RowSplit> rows_take(const RowQuery& q) {
  const int axis = normalize_axis(q.call.attrs.integer("axis"), q.call.in[0].shape.rank(), "take");
  const int count = q.call.in[1].shape.rank(), at = q.rows.axis;
  const auto of_x = [&](int from) {
    return RowSplit{{{from, q.rows.per}, {}}, {{from < axis ? from : from + count - 1, q.rows.per}}};
  };
  const auto of_indices = [&](int from) {
    return RowSplit{{{}, {from, q.rows.per}}, {{axis + from, q.rows.per}}};
  };
  if (q.given == 0) return at == axis ? std::nullopt : std::optional(of_x(at));
  if (q.given == 1) return of_indices(at);
  if (at >= axis && at < axis + count) return of_indices(at - axis);
  return of_x(at < axis ? at : at - count + 1);
}
std::optional<RowSplit> rows_gather_nd(const RowQuery& q) {
  if (q.given == 0 || q.rows.axis + 1 >= q.call.in[1].shape.rank()) return std::nullopt;
  return RowSplit{{{}, q.rows}, {q.rows}};
}

constexpr AttrDef kTakeAttrs[] = {{"axis", AttrKind::integer, "0"}};
constexpr KernelDef kTake[] = {{.name = "reference", .prepare = prepare_take}};
constexpr KernelDef kGather[] = {{.name = "reference", .prepare = prepare_gather_nd}};

// The index along `axis`, with the position along every other axis beside it: what gather_nd reads.
Tensor along_axis(std::string_view op, const Tensor& x, const Tensor& indices, int axis) {
  const int at = normalize_axis(axis, x.rank(), op);
  require(indices.rank() == x.rank(), op, "expected indices of rank ", x.rank(), ", got ", indices.type());
  Shape shape = indices.shape();
  for (int i = 0; i < x.rank(); ++i) {
    if (i == at) continue;
    require(shape[i] == x.shape()[i] || shape[i] == 1, op, "expected indices that broadcast to ", x.shape(),
            " but along axis ", at, ", got ", indices.shape());
    shape = shape.with(i, x.shape()[i]);
  }
  std::vector<Tensor> columns;
  for (int i = 0; i < x.rank(); ++i) {
    const Tensor column =
        i == at ? broadcast_to(cast(indices, DType::i64), shape) : iota(DType::i64, shape, i);
    columns.push_back(expand_dims(column, -1));
  }
  return concatenate(columns, -1);
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, int axis) {
  static const OpDef& op = get_op("take");
  return apply1(op, {x, indices}, {{"axis", int64_t{axis}}});
}

Tensor gather_nd(const Tensor& x, const Tensor& indices) {
  static const OpDef& op = get_op("gather_nd");
  return apply1(op, {x, indices});
}

Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis) {
  return gather_nd(x, along_axis("take_along_axis", x, indices, axis));
}

Tensor put_along_axis(const Tensor& x, const Tensor& indices, const Tensor& updates, int axis,
                      std::string_view mode) {
  return scatter_nd(x, along_axis("put_along_axis", x, indices, axis), updates, mode);
}

Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype) {
  const Tensor i = expand_dims(indices, -1);
  return cast(equal(i, iota(indices.dtype(), Shape{classes}, 0)), dtype);
}

std::span<const OpDef> ops_gather() {
  static constexpr OpDef defs[] = {
      {.name = "take",
       .arity = {2, 2},
       .attrs = kTakeAttrs,
       .infer = infer_take,
       .grad = grad_take,
       .kernels = kTake,
       .rows = rows_take,
       .cases = cases_take,
       .dtypes = kAllReal},
      {.name = "gather_nd",
       .arity = {2, 2},
       .infer = infer_gather_nd,
       .grad = grad_gather_nd,
       .kernels = kGather,
       .rows = rows_gather_nd,
       .cases = cases_gather_nd,
       .dtypes = kAllReal},
  };
  return defs;
}

}  // namespace plimsoll
