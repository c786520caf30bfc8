#include "ops.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "complex_ops.h"
#include "graph/op.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/control.h"

namespace nb = nanobind;

namespace plimsoll::python {
namespace {

// Results of more elements than this are not made while a step is traced: they would be constants in it.
constexpr int64_t kMostConstant = 256;

std::vector<Tensor> unwrap(const Tensors& tensors) {
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  for (const PyTensor* t : tensors) out.push_back(t->get());
  return out;
}

// Of an op with a body: as values of what is recorded now, so that its body may use all that lies around it,
// also where the op is in a body itself and its operands are from further out.
Tensor brought_in(const PyTensor& given) {
  const Tensor& t = given.get();
  Graph* graph = current_tracing() ? current_tracing()->graph : nullptr;
  return graph && t.is_symbolic() && graph->is_inside(t.graph()) ? graph->capture(t) : t;
}

std::vector<Tensor> brought_in(const Tensors& given) {
  std::vector<Tensor> out;
  for (const PyTensor* t : given) out.push_back(brought_in(*t));
  return out;
}

Attr attr_of(const OpDef& op, const AttrDef& def, nb::handle value) {
  try {
    switch (def.kind) {
      case AttrKind::boolean: return nb::cast<bool>(value);
      case AttrKind::integer: return nb::cast<int64_t>(value);
      case AttrKind::real: return nb::cast<double>(nb::float_(value));
      case AttrKind::string: return nb::cast<std::string>(value);
      case AttrKind::ints: return nb::cast<Ints>(value);
      case AttrKind::dtype: {
        const auto name = nb::cast<std::string>(value);
        const auto dtype = dtype_from_name(name);
        require(dtype.has_value(), op.name, "expected a dtype, got '", name, "'");
        return *dtype;
      }
      case AttrKind::tensor: return nb::cast<const PyTensor&>(value).concrete();
      case AttrKind::graph: break;
    }
  } catch (const nb::cast_error&) {
    fail(ErrorKind::invalid_argument, op.name, "attribute '", def.name, "' has a value of the wrong type");
  }
  fail(ErrorKind::invalid_argument, op.name, "attribute '", def.name, "' cannot be given here");
}

Attrs attrs_of(const OpDef& op, const nb::dict& values) {
  Attrs attrs;
  for (const auto& [key, value] : values) {
    const auto name = nb::cast<std::string>(key);
    const auto def = std::ranges::find(op.attrs, std::string_view(name), &AttrDef::name);
    require(def != op.attrs.end(), op.name, "has no attribute '", name, "'");
    attrs.set(name, attr_of(op, *def, value));
  }
  return attrs;
}

bool is_large(const OpDef& op, const std::vector<Tensor>& in, const Attrs& attrs) {
  std::vector<TensorType> types;
  for (const Tensor& t : in) types.push_back(t.type());
  const std::vector<TensorType> out = infer_types(op, types, complete_attrs(op, attrs));
  return std::ranges::any_of(out, [](const TensorType& t) { return t.shape.elements() > kMostConstant; });
}

constexpr std::string_view kMoving[] = {"cast",         "slice",   "reshape",      "transpose",
                                        "broadcast_to", "reverse", "stop_gradient"};

// Whether numbers that are indices are the same after a cast.
bool keeps_numbers(DType to) {
  return to == DType::i32 || to == DType::i64 || to == DType::u32 || to == DType::f32 || to == DType::f64;
}

// A Python function as the body of a loop: what it records belongs to the body's graph.
Body body_of(const nb::callable& fn) {
  return [&fn](std::span<const Tensor> args) {
    require(!args.empty(), "control", "expected a body with at least one operand");
    Graph& graph = args[0].graph();
    const auto tracing = std::make_shared<Tracing>(Tracing{.graph = &graph, .around = current_tracing()});
    struct Inside {
      explicit Inside(std::shared_ptr<Tracing> inner) : mine(inner), before(current_tracing()) {
        current_tracing() = std::move(inner);
      }
      ~Inside() {
        mine->graph = nullptr;
        current_tracing() = before;
      }
      std::shared_ptr<Tracing> mine, before;
    } inside(tracing);
    nb::list values;
    for (const Tensor& t : args) values.append(nb::cast(wrap(t)));
    const nb::object results = fn(*nb::tuple(values));
    std::vector<Tensor> out;
    for (const nb::handle result : results) {
      const Tensor& t = nb::cast<const PyTensor&>(result).get();
      out.push_back(t.is_symbolic() ? (&t.graph() == &graph ? t : graph.capture(t)) : graph.constant(t));
    }
    return out;
  };
}

std::vector<Tensor> results_of(const OpDef& op, const std::vector<Tensor>& in, Attrs attrs) {
  if (auto out = complex_op(op, in, attrs)) return {*std::move(out)};
  const std::shared_ptr<Tracing>& tracing = current_tracing();
  if (tracing && tracing->graph && !tracing->eager &&
      std::ranges::none_of(in, [](const Tensor& t) { return t.is_symbolic(); }) && is_large(op, in, attrs))
    return tracing->graph->add(op, in, std::move(attrs));
  return apply(op, in, std::move(attrs));
}

// Of an op without attributes.
nb::object only_result(const OpDef& op, const std::vector<Tensor>& in) {
  return nb::cast(wrap(std::move(results_of(op, in, {})[0])));
}

}  // namespace

NewTensors apply_op(const std::string& name, const Tensors& inputs, const nb::dict& attrs) {
  const OpDef& op = get_op(name);
  return wrap(results_of(op, unwrap(inputs), attrs_of(op, attrs)));
}

nb::object call_op(std::string_view name, const nb::tuple& inputs, const nb::dict& attrs) {
  const OpDef& op = get_op(name);
  std::vector<Tensor> in;
  in.reserve(inputs.size());
  for (const nb::handle input : inputs) in.push_back(nb::cast<const PyTensor&>(input).get());
  std::vector<Tensor> out = results_of(op, in, attrs_of(op, attrs));
  if (out.size() == 1) return nb::cast(wrap(std::move(out[0])));
  nb::list all;
  for (Tensor& t : out) all.append(nb::cast(wrap(std::move(t))));
  return nb::tuple(all);
}

nb::object quick_op(const std::string& name, const std::string& kinds) {
  require(kinds == "any" || kinds == "numbers" || kinds == "floats", "quick_op",
          "expected 'any', 'numbers' or 'floats', got '", kinds, "'");
  const OpDef& op = get_op(name);
  const bool floats = kinds == "floats", numbers = kinds == "numbers";
  const auto fits = [=](DType d) {
    return size_of(d) <= 4 && (floats ? is_float(d) : !numbers || d != DType::boolean);
  };
  if (op.arity.least == 1)
    return nb::cpp_function([&op, fits](nb::handle x) -> nb::object {
      const PyTensor* t = nullptr;
      if (!nb::try_cast(x, t) || t == nullptr || !fits(t->type().dtype)) return nb::none();
      return only_result(op, {t->get()});
    });
  return nb::cpp_function([&op, fits](nb::handle x1, nb::handle x2) -> nb::object {
    const PyTensor *a = nullptr, *b = nullptr;
    if (!nb::try_cast(x1, a) || a == nullptr || !nb::try_cast(x2, b) || b == nullptr) return nb::none();
    const DType dtype = a->type().dtype;
    if (b->type().dtype != dtype || !fits(dtype)) return nb::none();
    return only_result(op, {a->get(), b->get()});
  });
}

NewTensors gradients_of(const Tensors& ys, const Tensors& xs, const Tensors& dys) {
  const std::vector<Tensor> y = unwrap(ys), x = unwrap(xs);
  if (dys.empty() && y.size() == 1) return wrap(gradients(y[0], x));
  std::vector<Tensor> dy = unwrap(dys);
  return wrap(gradients(y, x, dy));
}

std::optional<std::pair<int64_t, Moves>> origin_of(const PyTensor& tensor) {
  const Tensor& t = tensor.get();
  if (!t.is_symbolic()) return std::nullopt;
  const Graph& graph = t.graph();
  ValueId value = t.id();
  Moves moves;
  for (NodeId n; (n = graph.value(value).producer) != kNone; value = graph.node(n).inputs[0]) {
    const Node& node = graph.node(n);
    const Attrs& a = node.attrs;
    const bool keeps = !graph.is(n, "cast") || keeps_numbers(graph.type(value).dtype);
    if (!keeps || std::ranges::find(kMoving, node.op->name) == std::end(kMoving)) return std::nullopt;
    auto& [name, first, second, third] = moves.emplace_back(node.op->name, Ints(), Ints(), Ints());
    if (name == "reshape") first = a.ints("shape");
    if (name != "slice") continue;
    first = a.ints("starts"), second = a.ints("limits"), third = a.ints("strides");
    if (third.empty()) third.assign(first.size(), 1);
  }
  const auto in = std::ranges::find(graph.inputs(), value, &GraphInput::value);
  if (in == graph.inputs().end()) return std::nullopt;
  std::ranges::reverse(moves);
  return std::pair(in - graph.inputs().begin(), std::move(moves));
}

std::unique_ptr<PyTensor> recorded(const PyTensor& tensor) {
  const std::shared_ptr<Tracing>& tracing = current_tracing();
  const Tensor& t = tensor.get();
  return wrap(t.is_symbolic() || !tracing || !tracing->graph ? t : tracing->graph->constant(t));
}

NewTensors cond_op(const PyTensor& predicate, const Tensors& operands, const nb::callable& if_true,
                   const nb::callable& if_false) {
  return wrap(cond(brought_in(predicate), brought_in(operands), body_of(if_true), body_of(if_false)));
}

NewTensors while_op(const Tensors& state, const nb::callable& test, const nb::callable& body) {
  return wrap(while_loop(brought_in(state), body_of(test), body_of(body)));
}

NewTensors scan_op(const Tensors& carry, const Tensors& xs, int64_t length, const nb::callable& body,
                   bool reverse) {
  return wrap(scan(brought_in(carry), brought_in(xs), length, body_of(body), reverse));
}

NewTensors custom_vjp_op(const Tensors& ys, const Tensors& xs, const nb::callable& backward) {
  return wrap(custom_vjp(brought_in(ys), brought_in(xs), body_of(backward)));
}

NewTensors remat_op(const Tensors& operands, const nb::callable& body) {
  return wrap(remat(brought_in(operands), body_of(body)));
}

}  // namespace plimsoll::python
