#include "element_source/element_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/element_source.h"
#include "op_sweep/cases.h"
#include "ops/fused.h"
#include "passes/passes.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "random_graphs/choice.h"
#include "random_graphs/generator.h"

namespace plimsoll::testing {
namespace {

ElementCase case_of(const OpDef& op, std::string name, std::vector<Tensor> inputs, const Attrs& given) {
  const Attrs attrs = complete_attrs(op, given);
  std::vector<TensorType> in;
  for (const Tensor& t : inputs) in.push_back(t.type());
  const std::vector<TensorType> out = infer_types(op, in, attrs);
  return {std::move(name), tile_program(op, {in, out, attrs, 1}), std::move(inputs), out, op.tolerance};
}

ElementCase case_of(const Graph& body, std::string name, std::vector<Tensor> inputs, double tolerance) {
  std::vector<TensorType> out;
  for (const GraphOutput& o : body.outputs()) out.push_back(body.type(o.value));
  return {std::move(name), tile_program(body), std::move(inputs), std::move(out), tolerance};
}

template <class T>
std::vector<double> integer_edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<double> edges = {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127};
  if (std::is_signed_v<T>) {
    for (size_t i = 1; i < 19; ++i) edges.push_back(-edges[i]);
  }
  for (const T value : {Limits::min(), T(Limits::min() + 1), T(Limits::max() / 2), T(Limits::max() / 2 + 1)})
    edges.push_back(static_cast<double>(value));
  return edges;
}

template <class T>
std::vector<double> float_edges() {
  using Limits = std::numeric_limits<T>;
  std::vector<double> edges = {0,
                               0.25,
                               0.5,
                               0.75,
                               1,
                               1.5,
                               2,
                               2.5,
                               3,
                               7,
                               10,
                               30.5,
                               90,
                               127.5,
                               128,
                               255.5,
                               256,
                               1000.5,
                               32767.5,
                               65504,
                               65520,
                               65536,
                               1e5,
                               4e9,
                               1e10,
                               1.5e-3,
                               1e-6,
                               2147483648.0,
                               9.3e18,
                               1.9e19,
                               Limits::max(),
                               Limits::min(),
                               Limits::denorm_min(),
                               Limits::min() / 4,
                               Limits::epsilon(),
                               Limits::infinity(),
                               Limits::quiet_NaN()};
  const size_t positive = edges.size();
  for (size_t i = 0; i < positive; ++i) edges.push_back(-edges[i]);
  return edges;
}

std::vector<double> edges_of(DType t) {
  switch (t) {
    case DType::boolean: return {0, 1};
    case DType::u8: return integer_edges<uint8_t>();
    case DType::u16: return integer_edges<uint16_t>();
    case DType::u32: return integer_edges<uint32_t>();
    case DType::u64: return integer_edges<uint64_t>();
    case DType::i8: return integer_edges<int8_t>();
    case DType::i16: return integer_edges<int16_t>();
    case DType::i32: return integer_edges<int32_t>();
    case DType::i64: return integer_edges<int64_t>();
    case DType::f64: return float_edges<double>();
    default: return float_edges<float>();
  }
}

// The largest value of an integer type is not a double.
Tensor edge_tensor(const OpDef& op, DType t) {
  std::vector<double> edges = edges_of(t);
  // Further below 0 gelu is the small difference of larger numbers, of which errors are not small parts.
  if (op.name.starts_with("gelu"))
    std::erase_if(edges, [](double x) { return std::isfinite(x) && x < -0.4; });
  // Series with a hundred thousand terms.
  if (op.name.find("gamma") != op.name.npos)
    std::erase_if(edges, [](double x) { return std::isfinite(x) && x > 1000; });
  const int64_t n = static_cast<int64_t>(edges.size());
  const Tensor all = Tensor::empty(t, {n + is_integer(t)});
  for (int64_t i = 0; i < n; ++i) set_element(all, i, edges[static_cast<size_t>(i)]);
  if (is_integer(t)) {
    auto* const last = static_cast<uint8_t*>(all.data()) + n * static_cast<int64_t>(size_of(t));
    std::fill_n(last, size_of(t), 0xFF);
    if (is_signed_int(t)) last[size_of(t) - 1] = 0x7F;  // little-endian
  }
  return all;
}

std::vector<Tensor> edge_inputs(const OpDef& op, DType t) {
  const Tensor all = edge_tensor(op, t);
  if (op.arity.least == 1) return {all};
  const Tensor column = Tensor(t, {all.dim(0), 1}, all.buffer());
  if (op.arity.least == 2) return {column, all};
  return {fill(DType::boolean, {all.dim(0), all.dim(0)}, 0, 1, 7), column, all};
}

std::vector<Attrs> edge_attrs(const OpDef& op, DType t) {
  if (op.name == "cast") {
    std::vector<Attrs> list;
    for (const DType to : kAllReal) list.push_back({{"dtype", to}});
    return list;
  }
  if (op.name == "clip")
    return {{{"low", -1e300}, {"high", 1e300}}, {{"low", -2.5}, {"high", is_float(t) ? -0.1 : 6.5}}};
  if (op.name.starts_with("gelu")) return {{{"approximate", false}}, {{"approximate", true}}};
  return {{}};
}

Attrs random_attrs(const OpDef& op, Choice& choice) {
  if (op.name == "cast") return {{"dtype", kAllReal[static_cast<size_t>(choice.below(kAllReal.size()))]}};
  if (op.name == "clip") return {{"low", choice.real(-9, 1)}, {"high", choice.real(1, 90)}};
  return {};
}

bool is_exact(const Tile& tile, DType type) {
  return !is_float(type) || std::ranges::none_of(element_functions(), [&](const ElementFunction& f) {
    return !f.exact && tile.meaning.find(concat(f.name, "(")) != tile.meaning.npos;
  });
}

// Which zero is the larger one differs from processor to processor.
bool may_be_in_exact_chain(const OpDef& op, DType t) {
  if (is_float(t) && (op.name == "maximum" || op.name == "minimum" || op.name.starts_with("gelu")))
    return false;
  if (std::ranges::find(op.dtypes, t) == op.dtypes.end()) return false;
  const std::vector<TensorType> in(static_cast<size_t>(op.arity.least), {t, {}});
  return op.name == "cast" || op.name == "clip" || is_exact(op.tile(in, in[0], {}), t);
}

const OpDef& random_exact_op(Choice& choice, DType t) {
  static const std::vector<const OpDef*> ops = elementwise_ops();
  while (true) {
    const OpDef& op = *ops[static_cast<size_t>(choice.below(static_cast<int64_t>(ops.size())))];
    if (may_be_in_exact_chain(op, t)) return op;
  }
}

}  // namespace

std::vector<const OpDef*> elementwise_ops() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : all_ops()) {
    if (op->tile) ops.push_back(op);
  }
  return ops;
}

std::vector<ElementCase> cases_of(const OpDef& op) {
  std::vector<ElementCase> cases;
  for (const SweepCase& c : sweep_cases(op)) cases.push_back(case_of(op, c.key, make_inputs(c, 1), c.attrs));
  return cases;
}

std::vector<ElementCase> edge_cases(const OpDef& op) {
  std::vector<ElementCase> cases;
  for (const DType t : op.dtypes) {
    for (const Attrs& attrs : edge_attrs(op, t))
      cases.push_back(case_of(op, concat(op.name, " of ", t, " at the edges"), edge_inputs(op, t), attrs));
  }
  return cases;
}

std::vector<ElementCase> reduction_cases() {
  std::vector<ElementCase> cases;
  for (const char* name :
       {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"}) {
    for (const SweepCase& c : sweep_cases(get_op(name))) {
      Graph body;
      const Tensor x = body.input("x", c.in[0].type.dtype, c.in[0].type.shape);
      body.output("y", apply1(*c.op, {x}, c.attrs));
      cases.push_back(case_of(body, c.key, make_inputs(c, 1), c.op->tolerance));
    }
  }
  return cases;
}

std::vector<ElementCase> fused_cases(uint64_t seed) {
  std::vector<ElementCase> cases;
  const RandomGraph made = build(random_recipe(seed));
  const Graph graph = run_passes(made.graph, {});
  for (const Node& node : graph.nodes()) {
    if (node.op->name != "fused") continue;
    const Graph& body = *node.attrs.graph("body");
    std::vector<Tensor> inputs;
    for (const GraphInput& input : body.inputs()) {
      const TensorType& t = body.type(input.value);
      inputs.push_back(fill(t.dtype, t.shape, -2, 2, seed + inputs.size()));
    }
    cases.push_back(case_of(body, concat("seed ", seed, "\n", body.text()), std::move(inputs), 2e-5));
  }
  return cases;
}

ElementCase exact_chain(uint64_t seed) {
  Choice choice(seed);
  const Shape space{3, 5, 7};
  const Shape shapes[] = {space, {7}, {5, 1}, {3, 1, 1}, {}};
  Graph body;
  std::vector<Tensor> inputs, pool;
  for (const Shape& shape : shapes) {
    const DType t = kAllReal[static_cast<size_t>(choice.below(kAllReal.size()))];
    inputs.push_back(fill(t, shape, -20, 100, choice.seed()));
    pool.push_back(body.input("", t, shape));
    if (choice.coin()) pool.push_back(fill(t, shape, -20, 100, choice.seed()));
  }
  Tensor x = pool[0];
  for (int64_t step = 2 + choice.below(8); step > 0; --step) {
    const DType t = kAllReal[static_cast<size_t>(choice.below(kAllReal.size()))];
    const OpDef& op = random_exact_op(choice, t);
    std::vector<Tensor> in;
    for (int i = 0; i < op.arity.least; ++i) {
      const Tensor& other = pool[static_cast<size_t>(choice.below(static_cast<int64_t>(pool.size())))];
      in.push_back(cast(i == 0 ? x : other, op.name == "where" && i == 0 ? DType::boolean : t));
    }
    x = apply(op, in, random_attrs(op, choice))[0];
    pool.push_back(x);
    if (choice.below(4) == 0) body.output("", x);
  }
  body.output("", x);
  body.output("", max(x, {choice.below(3)}));
  return case_of(body, concat("seed ", seed, "\n", body.text()), std::move(inputs), 0);
}

bool leaves_zeros_open(const TileProgram& program) {
  const auto chooses = [](const TileProgram::Call& call) {
    return call.tile.meaning == "isnan(a) || a > b ? a : b" ||
           call.tile.meaning == "isnan(a) || a < b ? a : b";
  };
  const auto folds = [](const TileProgram::FoldTo& f) { return f.kind == Fold::max || f.kind == Fold::min; };
  return std::ranges::any_of(program.calls(), chooses) || std::ranges::any_of(program.folds(), folds);
}

bool is_exact(const TileProgram& program) {
  for (const TileProgram::Call& call : program.calls()) {
    if (!call.operands.empty() && !is_exact(call.tile, program.dtype_of(call.operands.back()))) return false;
  }
  return std::ranges::none_of(program.folds(), [&](const TileProgram::FoldTo& f) {
    return is_float(program.dtype_of(f.value)) && (f.kind == Fold::sum || f.kind == Fold::prod);
  });
}

}  // namespace plimsoll::testing
