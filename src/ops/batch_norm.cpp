// batch_norm(x, gamma, beta [, residual]) -> {y, mean, variance}: normalisation with the statistics of this
// batch, over all axes but the last; y may have a residual added and a relu applied. batch_norm_grad is its
// gradient; behind y it may be given beta, from which and x a kernel can tell where the relu let something
// through as well. With halves, gamma and beta may be float32; the statistics have gamma's type.
#include <algorithm>

#include "device/cpu/batch_norm_kernels.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// The variance of float32 data is a difference of sums; gradients divide by its root.
constexpr double kBatchNormTolerance = 2e-5;

constexpr std::array<AttrDef, 3> kAttrs = {{
    {"epsilon", AttrKind::real, "0.001"},
    {"activation", AttrKind::string, "\"linear\""},
    {"residual", AttrKind::boolean, "false"},
}};

// input_relu: x came out of a relu, and dx is the gradient below it (passes set this).
constexpr std::array<AttrDef, 4> kGradAttrs = {
    kAttrs[0], kAttrs[1], kAttrs[2], {"input_relu", AttrKind::boolean, "false"}};

bool has_relu(std::string_view op, const Attrs& attrs) {
  const std::string& name = attrs.string("activation");
  require(name == "linear" || name == "relu", op, "expected the activation linear or relu, got \"", name,
          "\"");
  return name == "relu";
}

bool is_half_type(DType t) { return t == DType::f16 || t == DType::bf16; }

// x, and the per-channel input `i` beside it.
void check_channel_input(const OpCall& call, const TensorType& x, size_t i, std::string_view what) {
  const TensorType& got = call.in[i];
  const bool type = got.dtype == x.dtype || (is_half_type(x.dtype) && got.dtype == DType::f32);
  require(type && got.shape == Shape{x.shape.dim(-1)}, call.op.name, "expected ", what, " of type ",
          TensorType{x.dtype, Shape{x.shape.dim(-1)}}, ", got ", got);
}

void check_x(const OpCall& call, const TensorType& x) {
  require(is_float(x.dtype) && x.shape.rank() >= 2 && x.shape.dim(-1) >= 1, call.op.name,
          "expected floats of rank 2 or more with at least one channel, got ", x);
  const double epsilon = call.attrs.real("epsilon");
  require(epsilon >= 0, call.op.name, "expected an epsilon of at least 0, got ", epsilon);
}

void check_count(const OpCall& call, size_t expected) {
  require(call.in.size() == expected, call.op.name, "expected ", expected, " inputs, got ", call.in.size());
}

std::vector<TensorType> infer(const OpCall& call) {
  has_relu("batch_norm", call.attrs);
  const bool residual = call.attrs.flag("residual");
  check_count(call, residual ? 4 : 3);
  const TensorType& x = call.in[0];
  check_x(call, x);
  check_channel_input(call, x, 1, "gamma");
  check_channel_input(call, x, 2, "beta");
  require(call.in[1].dtype == call.in[2].dtype, "batch_norm", "expected gamma and beta of one type, got ",
          call.in[1], " and ", call.in[2]);
  if (residual)
    require(call.in[3] == x, "batch_norm", "expected a residual of type ", x, ", got ", call.in[3]);
  return {x, call.in[1], call.in[1]};
}

std::vector<TensorType> infer_grad(const OpCall& call) {
  const bool relu = has_relu("batch_norm_grad", call.attrs);
  const bool beta = relu && call.in.size() == 7;
  check_count(call, beta ? 7 : relu ? 6 : 5);
  const TensorType& x = call.in[1];
  check_x(call, x);
  require(call.in[0] == x, "batch_norm_grad", "expected dy of type ", x, ", got ", call.in[0]);
  check_channel_input(call, x, 2, "gamma");
  for (size_t i = 3; i < 5; ++i) {
    require(call.in[i] == call.in[2], "batch_norm_grad", "expected statistics of type ", call.in[2], ", got ",
            call.in[i]);
  }
  if (relu) require(call.in[5] == x, "batch_norm_grad", "expected y of type ", x, ", got ", call.in[5]);
  if (beta) check_channel_input(call, x, 6, "beta");
  std::vector<TensorType> out{x, call.in[2], call.in[2]};
  if (relu && call.attrs.flag("residual")) out.push_back(x);
  return out;
}

Ints all_but_last(const Tensor& x) {
  Ints axes;
  for (int a = 0; a + 1 < x.rank(); ++a) axes.push_back(a);
  return axes;
}
double rows_of(const Tensor& x) {
  return static_cast<double>(std::max<int64_t>(1, x.shape().elements() / x.dim(-1)));
}
// The type sums are kept in.
Tensor wide(const Tensor& t) { return is_half_type(t.dtype()) ? cast(t, DType::f32) : t; }

void grad(GradContext& g) {
  const Tensor& x = g.in(0);
  const bool relu = has_relu("batch_norm", g.attrs());
  Tensor dx;
  if (g.has_dout(0)) {
    std::vector<Tensor> in{g.dout(0), x, g.in(1), g.out(1), g.out(2)};
    if (relu) in.push_back(g.out(0));
    const std::vector<Tensor> d = plimsoll::apply(get_op("batch_norm_grad"), in, g.attrs());
    dx = d[0];
    g.set(1, d[1]);
    g.set(2, d[2]);
    if (g.inputs() == 4) g.set(3, relu ? d[3] : g.dout(0));
  }
  // The statistics are outputs too: a loss may depend on them.
  const auto also = [&](const Tensor& t) { dx = dx.defined() ? dx + t : t; };
  const double rows = rows_of(x);
  if (g.has_dout(1)) also(broadcast_to(cast(g.dout(1) / rows, x.dtype()), x.shape()));
  if (g.has_dout(2)) {
    also(cast((wide(x) - wide(g.out(1))) * (wide(g.dout(2)) * (2.0 / rows)), x.dtype()));
  }
  if (g.wants(0) && dx.defined()) g.set(0, dx);
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor x = wide(in[0]);
  const Ints axes = all_but_last(x);
  const Tensor m = sum(x, axes) / rows_of(x);
  const Tensor v = sum(square(x - m), axes) / rows_of(x);
  Tensor y = (x + negative(m)) * (rsqrt(v + attrs.real("epsilon")) * wide(in[1])) + wide(in[2]);
  if (attrs.flag("residual")) y = y + wide(in[3]);
  if (has_relu("batch_norm", attrs)) y = relu(y);
  return {cast(y, in[0].dtype()), cast(m, in[1].dtype()), cast(v, in[1].dtype())};
}

std::vector<Tensor> decompose_grad(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor x = wide(in[1]), gamma = wide(in[2]);
  const Ints axes = all_but_last(x);
  const bool relu = has_relu("batch_norm_grad", attrs);
  Tensor dz = wide(in[0]);
  if (relu) dz = where(greater(in[5], scalar_like(in[5], 0)), dz, scalar_like(dz, 0));
  const Tensor rstd = rsqrt(wide(in[4]) + attrs.real("epsilon"));
  const Tensor mean = wide(in[3]);
  // x - mean is written in four ways, here and above: one value for all of them would be kept from the first
  // to the last, and where a batch is cut that is all rows of it.
  const Tensor dbeta = sum(dz, axes), dgamma = negative(sum(dz * (mean - x), axes) * rstd);
  // (dz - dbeta / rows - normal x * dgamma / rows) * gamma * rstd, of which only dz and x have rows.
  const double rows = rows_of(x);
  const Tensor of_dz = gamma * rstd, of_x = of_dz * rstd * (dgamma / -rows);
  Tensor dx = dz * of_dz + (negative(mean) + x) * of_x - of_dz * (dbeta / rows);
  if (attrs.flag("input_relu")) dx = where(greater(x, scalar_like(x, 0)), dx, scalar_like(dx, 0));
  const DType type = in[1].dtype(), statistics = in[2].dtype();
  std::vector<Tensor> out{cast(dx, type), cast(dgamma, statistics), cast(dbeta, statistics)};
  if (relu && attrs.flag("residual")) out.push_back(cast(dz, type));
  return out;
}

Cost streaming(const OpCall& call, std::span<const TensorType> out, double flops) {
  Cost c{flops * static_cast<double>(call.in[0].shape.elements()), 0};
  for (const TensorType& t : call.in) c.bytes += 2 * static_cast<double>(byte_size(t.dtype, t.shape));
  for (const TensorType& t : out) c.bytes += static_cast<double>(byte_size(t.dtype, t.shape));
  return c;
}
Cost cost(const OpCall& call, std::span<const TensorType> out) { return streaming(call, out, 7); }
Cost cost_grad(const OpCall& call, std::span<const TensorType> out) { return streaming(call, out, 9); }

uint64_t in_place(const OpCall& call, int out) {
  return out == 0 ? (call.in.size() == 4 ? 0b1001u : 0b1u) : 0;
}
uint64_t in_place_grad(const OpCall&, int out) { return out == 0 ? 0b11u : 0; }

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list = {{4, 3},          {2, 5, 3, 7}, {3, 4, 4, 16}, {600, 9},
                                          {2, 3, 2, 2, 5}, {7, 1},       {0, 4, 3}};
  return list;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& x : shapes()) {
    for (const bool relu : {false, true}) {
      const Shape c{x.dim(-1)};
      const bool residual = list.size() % 4 >= 2;
      OpCase one{.in = {{x}, {c, 0.5, 2}, {c}},
                 .attrs = {{"epsilon", 1e-3},
                           {"activation", std::string(relu ? "relu" : "linear")},
                           {"residual", residual}},
                 .differentiable = x.elements() > 0};
      if (residual) one.in.push_back({x});
      list.push_back(one);
    }
  }
  return list;
}

std::vector<OpCase> grad_cases() {
  std::vector<OpCase> list;
  for (const OpCase& c : cases()) {
    const Shape& x = c.in[0].shape;
    const Shape& channels = c.in[1].shape;
    OpCase one{.in = {{x}, {x}, {channels, 0.5, 2}, {channels}, {channels, 0.5, 2}},
               .attrs = c.attrs,
               .differentiable = c.differentiable};
    if (c.attrs.string("activation") == "relu") one.in.push_back({x});
    one.attrs.set("input_relu", list.size() % 3 == 2);
    list.push_back(one);
  }
  return list;
}

}  // namespace

std::vector<Tensor> batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  return plimsoll::apply(get_op("batch_norm"), std::array{x, gamma, beta}, {{"epsilon", epsilon}});
}

Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma,
                            const Tensor& beta, double epsilon) {
  const Tensor scale = rsqrt(wide(variance) + epsilon) * wide(gamma);
  const Tensor y = wide(x) * scale + (wide(beta) - wide(mean) * scale);
  return cast(y, x.dtype());
}

std::span<const OpDef> ops_batch_norm() {
  static constexpr KernelDef kernels[] = {{"highway", nullptr, highway::prepare_batch_norm}};
  static constexpr KernelDef grad_kernels[] = {{"highway", nullptr, highway::prepare_batch_norm_grad}};
  static const OpDef defs[] = {
      {.name = "batch_norm",
       .arity = {3, 4},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad,
       .decompose = decompose,
       .kernels = kernels,
       .cost = cost,
       .in_place = in_place,
       .cases = cases,
       .dtypes = kFloats,
       .tolerance = kBatchNormTolerance},
      {.name = "batch_norm_grad",
       .arity = {5, 7},
       .attrs = kGradAttrs,
       .infer = infer_grad,
       .decompose = decompose_grad,
       .kernels = grad_kernels,
       .cost = cost_grad,
       .in_place = in_place_grad,
       .cases = grad_cases,
       .dtypes = kFloats,
       .tolerance = kBatchNormTolerance},
  };
  return defs;
}

}  // namespace plimsoll
