// embedding(table, indices): rows of a table (vocabulary, width), and embedding_grad(indices, dy; rows): dy
// summed into a dense table, each row's terms in the order of the indices. Indices are read as take() reads
// them.
#include "device/cpu/embedding_kernels.h"
#include "graph/rows.h"
#include "ops/float_ops.h"

namespace plimsoll {
namespace {

constexpr AttrDef kGradAttrs[] = {{"rows", AttrKind::integer}};

Shape rows_shape(const Shape& indices, int64_t width) { return indices.inserted(indices.rank(), width); }

std::vector<TensorType> infer(const OpCall& c) {
  require(c.in[0].shape.rank() == 2, c.op.name, "expected a table (vocabulary, width), got ", c.in[0]);
  require_integer(c, 1, "indices");
  require(c.in[0].shape[0] > 0 || c.in[1].shape.elements() == 0, c.op.name,
          "expected a table with rows to look up, got ", c.in[0]);
  return {{c.in[0].dtype, rows_shape(c.in[1].shape, c.in[0].shape[1])}};
}

std::vector<TensorType> infer_grad(const OpCall& c) {
  require_integer(c, 0, "indices");
  require_float(c, 1, "dy");
  const int64_t rows = c.attrs.integer("rows");
  const Shape& dy = c.in[1].shape;
  require(dy.rank() == c.in[0].shape.rank() + 1 && dy.without(dy.rank() - 1) == c.in[0].shape, c.op.name,
          "expected dy of the shape of the indices ", c.in[0].shape, " and a width, got ", c.in[1]);
  require(rows >= 0 && (rows > 0 || dy.elements() == 0), c.op.name, "expected rows > 0, got ", rows);
  return {{c.in[1].dtype, {rows, dy.dim(-1)}}};
}

struct State {
  TableView view;
  int threads;
};

void run(const State& s, void* const* a) { embedding_forward(s.view, a[0], a[1], a[2], s.threads); }
Kernel prepare(const KernelQuery& q) {
  const Shape& table = q.in[0].shape;
  return make_kernel<State, run>(
      "copy of rows",
      {{q.in[0].dtype, table[0], table[1], q.in[1].dtype, q.in[1].shape.elements()}, q.threads});
}

void run_grad(const State& s, void* const* a) {
  embedding_backward(s.view, a[0], a[1], a[2], a[3], s.threads);
}
Kernel prepare_grad(const KernelQuery& q) {
  const Shape& table = q.out[0].shape;
  const State s{{q.in[1].dtype, table[0], table[1], q.in[0].dtype, q.in[0].shape.elements()}, q.threads};
  return make_kernel<State, run_grad>("sum of rows", s, embedding_scratch(s.view, s.threads));
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs&) { return {take(in[0], in[1], 0)}; }

std::vector<Tensor> decompose_grad(std::span<const Tensor> in, const Attrs& attrs) {
  const int64_t rows = attrs.integer("rows"), width = in[1].dim(-1);
  const Tensor flat = reshape(in[0], Shape{in[0].shape().elements()});
  const Tensor index = cast(flat, DType::i64);
  const Tensor wrapped = where(less(index, scalar_like(index, 0)), index + static_cast<double>(rows), index);
  const Tensor clamped = clip(wrapped, 0, static_cast<double>(rows - 1));
  const Tensor dy = reshape(wide(in[1]), Shape{flat.dim(0), width});
  const Tensor zero = broadcast_to(scalar_like(dy, 0), Shape{rows, width});
  return {narrow(scatter_nd(zero, expand_dims(clamped, 1), dy, "add"), in[1].dtype())};
}

void grad(GradContext& g) {
  static const OpDef& op = get_op("embedding_grad");
  if (is_float(g.in(0).dtype())) g.set(0, apply1(op, {g.in(1), g.dout()}, {{"rows", g.in(0).dim(0)}}));
}

// Linear in dy: its gradient is the lookup.
void grad_grad(GradContext& g) { g.set(1, embedding(g.dout(), g.in(0))); }

// Only the rows looked up are read.
Cost cost(const OpCall& c, std::span<const TensorType> out) {
  const double moved = static_cast<double>(byte_size(out[0].dtype, out[0].shape));
  return {0, 2 * moved + static_cast<double>(byte_size(c.in[1].dtype, c.in[1].shape))};
}

std::vector<OpCase> cases_of(bool gradient) {
  struct One {
    int64_t rows, width;
    Shape indices;
  };
  std::vector<OpCase> list;
  for (const One& o :
       {One{5, 3, {7}}, One{11, 17, {2, 3}}, One{1, 1, {}}, One{4, 8, {0}}, One{300, 33, {5, 41}}}) {
    // Some outside, on both sides.
    const double n = static_cast<double>(o.rows);
    const InputCase indices{o.indices, -n - 1, n + 2, DType::i64};
    if (gradient) {
      list.push_back({{indices, InputCase{rows_shape(o.indices, o.width)}}, {{"rows", o.rows}}});
    } else {
      list.push_back({{InputCase{{o.rows, o.width}}, indices}, {}});
    }
  }
  return list;
}
std::vector<OpCase> cases() { return cases_of(false); }
std::vector<OpCase> cases_grad() { return cases_of(true); }

std::optional<RowSplit> rows(const RowQuery& q) {
  if (q.given == 0 || q.rows.axis >= q.call.in[1].shape.rank()) return std::nullopt;
  return RowSplit{{{}, q.rows}, {q.rows}};
}
std::optional<RowSplit> rows_grad(const RowQuery& q) {
  if (!q.is_input() || q.rows.axis >= q.call.in[0].shape.rank()) return std::nullopt;
  return RowSplit{{q.rows, q.rows}, {{Rows::kSummed}}};
}

constexpr KernelDef kForward[] = {{.name = "rows", .prepare = prepare}};
constexpr KernelDef kBackward[] = {{.name = "rows", .prepare = prepare_grad}};

}  // namespace

std::span<const OpDef> ops_embedding() {
  static const OpDef defs[] = {
      {.name = "embedding",
       .arity = {2, 2},
       .infer = infer,
       .grad = grad,
       .decompose = decompose,
       .kernels = kForward,
       .cost = cost,
       .rows = rows,
       .cases = cases,
       .dtypes = kFloats},
      {.name = "embedding_grad",
       .arity = {2, 2},
       .attrs = kGradAttrs,
       .infer = infer_grad,
       .grad = grad_grad,
       .decompose = decompose_grad,
       .kernels = kBackward,
       .rows = rows_grad,
       .cases = cases_grad,
       .dtypes = kFloats},
  };
  return defs;
}

Tensor embedding(const Tensor& table, const Tensor& indices) {
  static const OpDef& op = get_op("embedding");
  return apply1(op, {table, indices});
}

}  // namespace plimsoll
