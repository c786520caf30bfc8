// fused: a chain of element-wise ops (attribute `body`), run tile by tile in one pass over memory. Made by
// passes.
#include "ops/fused.h"

#include <algorithm>
#include <unordered_map>

#include "device/cpu/finite_kernels.h"
#include "graph/body_rows.h"
#include "memory/buffer.h"
#include "ops/elementwise.h"
#include "plimsoll/contents.h"

namespace plimsoll {
namespace {

std::optional<Fold> fold_of(std::string_view op) {
  if (op == "reduce_sum") return Fold::sum;
  if (op == "reduce_prod") return Fold::prod;
  if (op == "reduce_max") return Fold::max;
  if (op == "reduce_min") return Fold::min;
  if (op == "reduce_and") return Fold::logical_and;
  if (op == "reduce_or") return Fold::logical_or;
  return std::nullopt;
}

[[noreturn]] void refuse(const Node& node) {
  fail(ErrorKind::unsupported, "fused", "a body cannot hold ", node.op->name, " in this place");
}

// Translates a body into a TileProgram.
class Translation {
 public:
  explicit Translation(const Graph& body)
      : body_(body), values_(body.values().size()), space_(find_space(body)), program_(space_) {}

  TileProgram translate() {
    const int inputs = static_cast<int>(body_.inputs().size());
    for (int i = 0; i < inputs; ++i) {
      const ValueId id = body_.inputs()[static_cast<size_t>(i)].value;
      values_[id] = View{i, nullptr, dense(body_.type(id).shape), body_.type(id).shape};
    }
    for (const Node& node : body_.nodes()) this->node(node);
    for (size_t o = 0; o < body_.outputs().size(); ++o) {
      const ValueId id = body_.outputs()[o].value;
      output(inputs + static_cast<int>(o), id);
    }
    return std::move(program_);
  }

 private:
  struct View {  // bytes of an input or a constant, read at strides
    int argument = -1;
    std::shared_ptr<const void> constant;
    TileStrides strides{};
    Shape shape;
  };
  struct Made {
    int value;
  };  // a value of the program, one per point of the space
  struct Folded {
    ValueId from;
    Fold kind;
    Ints axes;
  };
  using Known = std::variant<std::monostate, View, Made, Folded>;

  static TileStrides dense(const Shape& shape) { return broadcast_strides(shape, shape); }

  static Shape find_space(const Graph& body) {
    Shape space;
    const auto look = [&](const Shape& s) {
      const bool more =
          s.elements() > space.elements() || (s.elements() == space.elements() && s.rank() > space.rank());
      if (more || space.elements() == 0) space = s;
    };
    bool any = false;
    for (const Node& node : body.nodes()) {
      if (node.op->tile || node.op->name == "broadcast_to") {
        for (const ValueId v : node.outputs) {
          if (!any) space = body.type(v).shape;
          any = true;
          look(body.type(v).shape);
        }
      } else if (fold_of(node.op->name)) {
        if (!any) space = body.type(node.inputs[0]).shape;
        any = true;
        look(body.type(node.inputs[0]).shape);
      }
    }
    return space;
  }

  void node(const Node& node) {
    const std::string_view name = node.op->name;
    Known& out = values_[node.outputs[0]];
    if (name == "constant") {
      const Tensor& t = node.attrs.tensor("value");
      out = View{-1, std::shared_ptr<const void>(t.buffer(), read_bytes(t)), dense(t.shape()), t.shape()};
    } else if (node.op->tile) {
      out = call(node);
    } else if (const auto fold = fold_of(name)) {
      if (body_.type(node.inputs[0]).shape != space_) refuse(node);
      out = Folded{node.inputs[0], *fold, node.attrs.ints("axes")};
    } else if (name == "broadcast_to" && std::holds_alternative<Made>(values_[node.inputs[0]])) {
      check_broadcasts(body_.type(node.outputs[0]).shape, node);
      out = values_[node.inputs[0]];
    } else if (const View* view = std::get_if<View>(&values_[node.inputs[0]])) {
      out = moved(*view, node);
    } else if (name == "reshape" && only_output(node)) {
      out = values_[node.inputs[0]];
    } else {
      refuse(node);
    }
  }

  View moved(const View& view, const Node& node) const {
    const std::string_view name = node.op->name;
    const Shape& to = body_.type(node.outputs[0]).shape;
    View out = view;
    out.shape = to;
    if (name == "broadcast_to") {
      out.strides = {};
      for (int i = 0; i < view.shape.rank(); ++i) {
        const size_t axis = static_cast<size_t>(i + to.rank() - view.shape.rank());
        if (view.shape[i] != 1) out.strides[axis] = view.strides[static_cast<size_t>(i)];
      }
    } else if (name == "reshape" && view.strides == dense(view.shape)) {
      out.strides = dense(to);
    } else if (name == "transpose") {
      const Ints& order = node.attrs.ints("permutation");
      for (size_t i = 0; i < order.size(); ++i) {
        out.strides[i] = view.strides[static_cast<size_t>(normalize_axis(order[i], to.rank(), "fused"))];
      }
    } else {
      refuse(node);
    }
    return out;
  }

  bool only_output(const Node& node) const {
    for (const Node& other : body_.nodes()) {
      for (const ValueId v : other.inputs) {
        if (v == node.outputs[0]) return false;
      }
    }
    return true;
  }

  void check_broadcasts(const Shape& shape, const Node& node) const {
    if (shape.rank() > space_.rank() || broadcast(shape, space_, "fused") != space_) refuse(node);
  }

  // The program's value for `id`, reading it if it is an input.
  int value_of(ValueId id) {
    if (const Made* made = std::get_if<Made>(&values_[id])) return made->value;
    const View* view = std::get_if<View>(&values_[id]);
    if (!view || view->shape.rank() > space_.rank())
      fail(ErrorKind::unsupported, "fused", "a reduction cannot be used in its own body");
    if (const auto it = read_.find(id); it != read_.end()) return it->second;
    TileStrides strides{};
    for (int i = 0; i < view->shape.rank(); ++i) {
      const int axis = i + space_.rank() - view->shape.rank();
      const int64_t size = view->shape[i];
      if (size != 1 && size != space_[axis])
        fail(ErrorKind::unsupported, "fused", view->shape, " does not broadcast to ", space_);
      if (size != 1) strides[static_cast<size_t>(axis)] = view->strides[static_cast<size_t>(i)];
    }
    const DType dtype = body_.type(id).dtype;
    const int value = view->constant ? program_.constant(view->constant, dtype, strides)
                                     : program_.read(view->argument, dtype, strides);
    read_.emplace(id, value);
    return value;
  }

  Made call(const Node& node) {
    const TensorType& out = body_.type(node.outputs[0]);
    check_broadcasts(out.shape, node);
    std::vector<TensorType> in;
    std::vector<int> operands;
    for (const ValueId v : node.inputs) {
      in.push_back(body_.type(v));
      operands.push_back(value_of(v));
    }
    const Tile tile = node.op->tile(in, out, node.attrs);
    if (!tile.fn) refuse(node);
    return {program_.call(tile, operands, out.dtype)};
  }

  void output(int argument, ValueId id) {
    if (const Folded* fold = std::get_if<Folded>(&values_[id])) {
      program_.fold(argument, value_of(fold->from), fold->kind, fold_strides(space_, fold->axes),
                    body_.type(id).shape.elements());
      return;
    }
    if (body_.type(id).shape.elements() != space_.elements()) {
      fail(ErrorKind::unsupported, "fused", "an output of shape ", body_.type(id).shape, " over ", space_);
    }
    program_.write(argument, value_of(id));
  }

  const Graph& body_;
  std::vector<Known> values_;
  Shape space_;
  TileProgram program_;
  std::unordered_map<ValueId, int> read_;
};

const Graph& body_of(const Attrs& attrs) {
  require(attrs.find("body") != nullptr && attrs.graph("body") != nullptr, "fused",
          "expected an attribute 'body'");
  return *attrs.graph("body");
}

std::vector<TensorType> infer(const OpCall& call) {
  const Graph& body = body_of(call.attrs);
  require(body.inputs().size() == call.in.size(), "fused", "expected ", body.inputs().size(), " inputs, got ",
          call.in.size());
  for (size_t i = 0; i < call.in.size(); ++i) {
    const TensorType& expected = body.type(body.inputs()[i].value);
    require(call.in[i] == expected, "fused", "expected input ", i, " of ", expected, ", got ", call.in[i]);
  }
  std::vector<TensorType> out;
  for (const GraphOutput& o : body.outputs()) out.push_back(body.type(o.value));
  return out;
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  return inline_graph(body_of(attrs), in);
}

Kernel prepare(const KernelQuery& q) {
  return tile_program(body_of(q.attrs))
      .build("fused", static_cast<int>(q.in.size() + q.out.size()), q.threads);
}

// all(isfinite(x)), which the NaN watch and a LossScaleOptimizer ask of every gradient; results of reshape
// are the same flag.
bool asks_all_finite(const KernelQuery& q) {
  const Graph& body = body_of(q.attrs);
  const auto is_flag = [](const TensorType& t) {
    return t.dtype == DType::boolean && t.shape.elements() == 1;
  };
  if (q.in.size() != 1 || !is_float(q.in[0].dtype) || !std::ranges::all_of(q.out, is_flag)) return false;
  size_t asked = 0, folded = 0;
  for (const Node& node : body.nodes()) {
    const std::string_view name = node.op->name;
    asked += name == "isfinite";
    folded += name == "reduce_and" && body.type(node.outputs[0]).shape.elements() == 1;
    if (name != "isfinite" && name != "reduce_and" && name != "reshape") return false;
  }
  return asked == 1 && folded == 1;
}

struct AllFinite {
  DType dtype;
  int64_t n;
  size_t flags;  // outputs
  int threads;
};

void run_all_finite(const AllFinite& s, void* const* a) {
  const bool all = all_finite(s.dtype, a[0], s.n, s.threads);
  for (size_t i = 0; i < s.flags; ++i) *static_cast<bool*>(a[1 + i]) = all;
}

Kernel prepare_all_finite(const KernelQuery& q) {
  return make_kernel<AllFinite, run_all_finite>(
      "highway all finite", {q.in[0].dtype, q.in[0].shape.elements(), q.out.size(), q.threads});
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  Cost cost;
  const Graph& body = body_of(call.attrs);
  for (const Node& node : body.nodes()) {
    for (const ValueId v : node.outputs) cost.flops += static_cast<double>(body.type(v).shape.elements());
  }
  for (const TensorType& t : call.in) cost.bytes += static_cast<double>(byte_size(t.dtype, t.shape));
  for (const TensorType& t : out) cost.bytes += static_cast<double>(byte_size(t.dtype, t.shape));
  return cost;
}

// An input is read tile by tile until its last reader is done; an output made by that reader or a later one
// may take its place.
uint64_t in_place(const OpCall& call, int out) {
  const Graph& body = body_of(call.attrs);
  const ValueId made = body.outputs()[static_cast<size_t>(out)].value;
  const NodeId maker = body.value(made).producer;
  if (maker == kNone || !body.node(maker).op->tile) return 0;
  uint64_t mask = 0;
  for (size_t i = 0; i < call.in.size() && i < 64; ++i) {
    const ValueId input = body.inputs()[i].value;
    bool fits = call.in[i].shape == body.type(made).shape &&
                size_of(call.in[i].dtype) == size_of(body.type(made).dtype);
    for (NodeId n = 0; fits && n < body.nodes().size(); ++n) {
      for (const ValueId v : body.node(n).inputs)
        fits = fits && (v != input || (n <= maker && body.node(n).op->tile));
    }
    for (const GraphOutput& o : body.outputs()) fits = fits && o.value != input;
    if (fits) mask |= uint64_t{1} << i;
  }
  return mask;
}

std::optional<BodyRows> body_rows(const Graph& body, size_t given, const Rows& rows) {
  const size_t inputs = body.inputs().size();
  return BodyRows::find(
      body, given < inputs ? body.inputs()[given].value : body.outputs()[given - inputs].value, rows);
}

std::optional<RowSplit> rows(const RowQuery& q) {
  const Graph& body = *q.call.attrs.graph("body");
  const std::optional<BodyRows> found = body_rows(body, q.given, q.rows);
  if (!found) return std::nullopt;
  RowSplit split;
  for (const GraphInput& i : body.inputs()) split.in.push_back(found->rows(i.value));
  for (const GraphOutput& o : body.outputs()) split.out.push_back(found->rows(o.value));
  return split;
}

RowPart row_part(const OpCall& whole, const RowSplit& split, int64_t first, int64_t count) {
  std::vector<Rows> all = split.in;
  all.insert(all.end(), split.out.begin(), split.out.end());
  size_t given = 0;
  while (!all[given].cut()) ++given;
  const std::optional<BodyRows> found = body_rows(*whole.attrs.graph("body"), given, all[given]);
  return {&whole.op, {{"body", found->part(first, count)}}};
}

constexpr AttrDef kAttrs[] = {{"body", AttrKind::graph}};
constexpr KernelDef kKernels[] = {
    {.name = "all finite", .fits = asks_all_finite, .prepare = prepare_all_finite},
    {.name = "tiles", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "fused",
                            .arity = {0, kAnyNumber},
                            .attrs = kAttrs,
                            .infer = infer,
                            .decompose = decompose,
                            .kernels = kKernels,
                            .cost = cost,
                            .in_place = in_place,
                            .rows = rows,
                            .row_part = row_part}};

}  // namespace

std::span<const OpDef> ops_fused() { return kDefs; }

TileProgram tile_program(const OpDef& op, const KernelQuery& q) {
  const Shape& space = q.out[0].shape;
  const Tile tile = op.tile ? op.tile(q.in, q.out[0], q.attrs) : Tile{};
  if (!tile.fn) fail(ErrorKind::unsupported, op.name, "no tile for these types");
  TileProgram program(space);
  std::vector<int> operands;
  for (size_t i = 0; i < q.in.size(); ++i) {
    operands.push_back(
        program.read(static_cast<int>(i), q.in[i].dtype, broadcast_strides(q.in[i].shape, space)));
  }
  program.write(static_cast<int>(q.in.size()), program.call(tile, operands, q.out[0].dtype));
  return program;
}

Kernel prepare_elementwise(const OpDef& op, const KernelQuery& q) {
  return tile_program(op, q).build(std::string(op.name), static_cast<int>(q.in.size()) + 1, q.threads);
}

TileProgram tile_program(const Graph& body) { return Translation(body).translate(); }

bool can_fuse(const Graph& body) {
  try {
    const int arguments = static_cast<int>(body.inputs().size() + body.outputs().size());
    tile_program(body).build("fused", arguments, 1);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return false;
  }
}

}  // namespace plimsoll
