// attention(q, k, v[, bias]; scale, causal): softmax(q k^T scale + bias) v on (batch, time, heads, width),
// and its gradient. The second output, the log-sum-exp of the scores (batch, heads, queries; float32 for
// halves), lets the gradient compute the scores again block by block, so the matrix of all scores is never in
// memory.
#include <limits>

#include "device/cpu/attention_kernels.h"
#include "graph/rows.h"
#include "ops/float_ops.h"
#include "ops/vjp_parts.h"

namespace plimsoll {
namespace {

constexpr AttrDef kAttrs[] = {{"scale", AttrKind::real}, {"causal", AttrKind::boolean, "false"}};
// dbias: the gradient by the bias, broadcast to all scores, is wanted too.
constexpr AttrDef kGradAttrs[] = {{"scale", AttrKind::real},
                                  {"causal", AttrKind::boolean, "false"},
                                  {"bias", AttrKind::boolean, "false"},
                                  {"dbias", AttrKind::boolean, "false"}};

// Inputs q, k, v and, if `bias`, the bias.
Shape scores_shape(std::span<const TensorType> in) {
  const Shape &q = in[0].shape, &k = in[1].shape;
  return {q[0], q[2], q[1], k[1]};
}

void check_inputs(const OpCall& c, bool bias) {
  require_float(c, 0, "q");
  const Shape &q = c.in[0].shape, &k = c.in[1].shape, &v = c.in[2].shape;
  for (size_t i = 0; i < 3; ++i) {
    require(c.in[i].shape.rank() == 4 && c.in[i].dtype == c.in[0].dtype, c.op.name,
            "expected q, k and v (batch, time, heads, width) of one dtype, got ", c.in[i]);
  }
  require(k[0] == q[0] && k[2] == q[2] && k[3] == q[3], c.op.name,
          "expected k with batch, heads and width of q ", c.in[0], ", got ", c.in[1]);
  require(v[0] == q[0] && v[1] == k[1] && v[2] == q[2], c.op.name,
          "expected v with batch, time and heads of k ", c.in[1], ", got ", c.in[2]);
  require(k[1] >= 1 || q.elements() == 0, c.op.name, "expected at least one key, got ", c.in[1]);
  if (!bias) return;
  const Shape scores = scores_shape(c.in);
  require(c.in[3].dtype == c.in[0].dtype && c.in[3].shape.rank() <= 4 &&
              broadcast(c.in[3].shape, scores, c.op.name) == scores,
          c.op.name, "expected a bias of dtype ", c.in[0].dtype, " that broadcasts to ", scores, ", got ",
          c.in[3]);
}

TensorType output_type(const OpCall& c) { return {c.in[0].dtype, c.in[0].shape.with(3, c.in[2].shape[3])}; }
TensorType lse_type(const OpCall& c) {
  const Shape& q = c.in[0].shape;
  return {wide_type(c.in[0].dtype), {q[0], q[2], q[1]}};
}

std::vector<TensorType> infer(const OpCall& c) {
  check_inputs(c, c.in.size() == 4);
  return {output_type(c), lse_type(c)};
}

// Inputs q, k, v[, bias], y, lse, dy; outputs dq, dk, dv[, dbias].
std::vector<TensorType> infer_grad(const OpCall& c) {
  const bool bias = c.attrs.flag("bias");
  const size_t saved = bias ? 4 : 3;
  require(c.in.size() == saved + 3, c.op.name, "expected ", saved + 3, " inputs, got ", c.in.size());
  check_inputs(c, bias);
  require(bias || !c.attrs.flag("dbias"), c.op.name, "expected a bias to take the gradient of");
  const TensorType y = output_type(c), lse = lse_type(c);
  require_type(c, saved, "y", y.dtype, y.shape);
  require_type(c, saved + 1, "lse", lse.dtype, lse.shape);
  require_type(c, saved + 2, "dy", y.dtype, y.shape);
  std::vector<TensorType> out = {c.in[0], c.in[1], c.in[2]};
  if (c.attrs.flag("dbias")) out.push_back({c.in[0].dtype, scores_shape(c.in)});
  return out;
}

AttentionSizes sizes_of(const KernelQuery& q, bool bias) {
  const Shape &a = q.in[0].shape, &k = q.in[1].shape;
  AttentionSizes s;
  s.dtype = q.in[0].dtype;
  s.batch = a[0], s.queries = a[1], s.heads = a[2], s.width = a[3];
  s.keys = k[1], s.value_width = q.in[2].shape[3];
  s.scale = q.attrs.real("scale"), s.causal = q.attrs.flag("causal");
  s.bias = bias, s.threads = q.threads;
  if (!bias) return s;
  int64_t* const strides[] = {&s.bias_batch, &s.bias_head, &s.bias_query, &s.bias_key};
  const Shape& shape = q.in[3].shape;
  int64_t stride = 1;
  for (int axis = shape.rank() - 1, i = 3; axis >= 0; --axis, --i) {
    if (shape[axis] > 1) *strides[i] = stride;
    stride *= shape[axis];
  }
  return s;
}

void run(const AttentionSizes& s, void* const* a) {
  void* const* out = a + (s.bias ? 4 : 3);
  attention_forward(s, {a[0], a[1], a[2], s.bias ? a[3] : nullptr, out[0], out[1]}, out[2]);
}
Kernel prepare(const KernelQuery& q) {
  const AttentionSizes s = sizes_of(q, q.in.size() == 4);
  return make_kernel<AttentionSizes, run>("highway attention", s, attention_forward_scratch(s));
}

struct GradState {
  AttentionSizes sizes;
  bool dbias;
};
void run_grad(const GradState& s, void* const* a) {
  const bool bias = s.sizes.bias;
  void* const* saved = a + (bias ? 4 : 3);
  void* const* out = saved + 3;
  attention_backward(s.sizes,
                     {a[0], a[1], a[2], bias ? a[3] : nullptr, saved[0], saved[1], saved[2], out[0], out[1],
                      out[2], s.dbias ? out[3] : nullptr},
                     out[s.dbias ? 4 : 3]);
}
Kernel prepare_grad(const KernelQuery& q) {
  const GradState s{sizes_of(q, q.attrs.flag("bias")), q.attrs.flag("dbias")};
  return make_kernel<GradState, run_grad>("highway attention", s, attention_backward_scratch(s.sizes));
}

Tensor scores_of(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor q = wide(in[0]), k = wide(in[1]);
  Tensor scores = dot_general(q, k, {3}, {3}, {0, 2}, {0, 2}) * attrs.real("scale");
  if (in.size() == 4) scores = scores + wide(in[3]);
  if (!attrs.flag("causal")) return scores;
  const Shape square{q.dim(1), k.dim(1)};
  const Tensor sees = greater_equal(iota(DType::i32, square, 0), iota(DType::i32, square, 1));
  return where(sees, scores, scalar_like(scores, -std::numeric_limits<double>::infinity()));
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor scores = scores_of(in, attrs);
  const Tensor top = max(scores, {-1});
  const Tensor above = exp(scores - expand_dims(top, -1)), total = sum(above, {-1});
  const Tensor lse = top + log(total), p = above / expand_dims(total, -1);
  const Tensor y = transpose(dot_general(p, wide(in[2]), {3}, {1}, {0, 1}, {0, 2}), {0, 2, 1, 3});
  return {narrow(y, in[0].dtype()), lse};
}

// From the saved lse and y, as the kernel does.
std::vector<Tensor> decompose_grad(std::span<const Tensor> in, const Attrs& attrs) {
  const size_t saved = attrs.flag("bias") ? 4 : 3;
  const Tensor q = wide(in[0]), k = wide(in[1]), v = wide(in[2]), y = wide(in[saved]),
               dy = wide(in[saved + 2]);
  const Tensor scores = scores_of(in.first(saved), attrs);
  const Tensor lse = expand_dims(in[saved + 1], -1);
  const Tensor lost = greater_equal(absolute(lse), scalar_like(lse, kLargestLse));
  const Tensor p = where(lost, softmax(scores, -1), exp(scores - lse));
  const Tensor dp = dot_general(dy, v, {3}, {3}, {0, 2}, {0, 2});
  const Tensor mean = transpose(sum(dy * y, {-1}), {0, 2, 1});
  const Tensor ds = p * (dp - expand_dims(mean, -1));
  const Ints back = {0, 2, 1, 3};
  const Tensor dq = transpose(dot_general(ds, k, {3}, {1}, {0, 1}, {0, 2}), back) * attrs.real("scale");
  const Tensor dk = transpose(dot_general(ds, q, {2}, {1}, {0, 1}, {0, 2}), back) * attrs.real("scale");
  const Tensor dv = transpose(dot_general(p, dy, {2}, {1}, {0, 1}, {0, 2}), back);
  const DType dtype = in[0].dtype();
  std::vector<Tensor> out = {narrow(dq, dtype), narrow(dk, dtype), narrow(dv, dtype)};
  if (attrs.flag("dbias")) out.push_back(narrow(ds, dtype));
  return out;
}

void grad(GradContext& g) {
  static const OpDef &forward = get_op("attention"), &op = get_op("attention_grad");
  std::vector<Tensor> in;
  for (int i = 0; i < g.inputs(); ++i) in.push_back(g.in(i));
  if (g.has_dout(1)) {  // only second derivatives reach the log-sum-exp
    const std::vector<Tensor> d = vjp_of_parts(forward, in, g.attrs(), {{g.dout(0), g.dout(1)}});
    for (int i = 0; i < g.inputs(); ++i) g.set(i, d[static_cast<size_t>(i)]);
    return;
  }
  const bool bias = g.inputs() == 4, dbias = bias && g.wants(3);
  in.insert(in.end(), {g.out(0), g.out(1), g.dout(0)});
  const Attrs& a = g.attrs();
  const std::vector<Tensor> d = apply(
      op, in, {{"scale", a.real("scale")}, {"causal", a.flag("causal")}, {"bias", bias}, {"dbias", dbias}});
  for (int i = 0; i < 3; ++i) g.set(i, d[static_cast<size_t>(i)]);
  if (dbias) g.set(3, sum_to(d[3], g.in(3).shape()));
}

Cost products_cost(const OpCall& c, std::span<const TensorType> out, double products) {
  const double scores = static_cast<double>(scores_shape(c.in).elements());
  const double widths = static_cast<double>(c.in[0].shape[3] + c.in[2].shape[3]);
  Cost cost = streaming_cost(c, out, 0);
  cost.flops = scores * (products * widths + 16);
  return cost;
}
Cost cost(const OpCall& c, std::span<const TensorType> out) { return products_cost(c, out, 2); }
Cost cost_grad(const OpCall& c, std::span<const TensorType> out) { return products_cost(c, out, 5); }

struct CaseShapes {
  Shape q, k, v;
};
const CaseShapes kShapes[] = {{{2, 5, 3, 4}, {2, 5, 3, 4}, {2, 5, 3, 4}},
                              {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}},
                              {{2, 3, 2, 5}, {2, 7, 2, 5}, {2, 7, 2, 3}},
                              {{1, 53, 1, 8}, {1, 41, 1, 8}, {1, 41, 1, 8}},
                              {{0, 3, 2, 4}, {0, 3, 2, 4}, {0, 3, 2, 4}}};

// Each shape with and without `causal`, and one of them with biases that broadcast in different ways.
template <class F>
void for_cases(const F& add) {
  for (const bool causal : {false, true}) {
    for (const CaseShapes& s : kShapes) add(s, causal, nullptr);
    for (const Shape& bias : {Shape{2, 2, 3, 7}, Shape{2, 1, 1, 7}, Shape{3, 7}, Shape{}})
      add(kShapes[2], causal, &bias);
  }
}

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for_cases([&](const CaseShapes& s, bool causal, const Shape* bias) {
    OpCase one{{InputCase{s.q}, InputCase{s.k}, InputCase{s.v}}, {{"scale", 0.6}, {"causal", causal}}};
    if (bias) one.in.push_back(InputCase{*bias});
    list.push_back(one);
  });
  return list;
}

std::vector<OpCase> cases_grad() {
  std::vector<OpCase> list;
  for_cases([&](const CaseShapes& s, bool causal, const Shape* bias) {
    const InputCase y{s.q.with(3, s.v[3])}, lse{{s.q[0], s.q[2], s.q[1]}, 2, 4, std::nullopt};
    OpCase one{{InputCase{s.q}, InputCase{s.k}, InputCase{s.v}},
               {{"scale", 0.6}, {"causal", causal}, {"bias", bias != nullptr}, {"dbias", bias != nullptr}}};
    if (bias) one.in.push_back(InputCase{*bias});
    one.in.insert(one.in.end(), {y, lse, y});
    list.push_back(one);
  });
  return list;
}

// A bias may have one row for all.
std::optional<RowSplit> rows_of(const RowQuery& q, bool bias) {
  std::string in(q.call.in.size(), 'b');
  const Shape& own = q.call.in[3].shape;
  if (bias && (own.rank() < 4 || own[0] != q.call.in[0].shape[0])) in[3] = '-';
  return leading_rows(q, in, "b");
}
std::optional<RowSplit> rows(const RowQuery& q) {
  return q.call.in.size() == 4 ? rows_of(q, true) : leading_rows(q, "b", "b");
}
std::optional<RowSplit> rows_grad(const RowQuery& q) { return rows_of(q, q.call.attrs.flag("bias")); }

constexpr KernelDef kForward[] = {{.name = "highway", .prepare = prepare}};
constexpr KernelDef kBackward[] = {{.name = "highway", .prepare = prepare_grad}};

// Two products and a softmax, each with sums in another order.
constexpr double kTolerance = 1e-5;

}  // namespace

std::span<const OpDef> ops_attention() {
  static const OpDef defs[] = {
      {.name = "attention",
       .arity = {3, 4},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad,
       .decompose = decompose,
       .kernels = kForward,
       .cost = cost,
       .rows = rows,
       .cases = cases,
       .dtypes = kFloats,
       .tolerance = kTolerance},
      {.name = "attention_grad",
       .arity = {6, 7},
       .attrs = kGradAttrs,
       .infer = infer_grad,
       .decompose = decompose_grad,
       .kernels = kBackward,
       .cost = cost_grad,
       .rows = rows_grad,
       .cases = cases_grad,
       .dtypes = kFloats32Up,
       .tolerance = kTolerance},
  };
  return defs;
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias, double scale,
                 bool causal) {
  static const OpDef& op = get_op("attention");
  std::vector<Tensor> in = {q, k, v};
  if (bias.defined()) in.push_back(bias);
  return apply(op, in, {{"scale", scale}, {"causal", causal}}).front();
}

}  // namespace plimsoll
