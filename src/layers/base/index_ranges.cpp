#include "layers/base/index_ranges.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/op.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"

namespace plimsoll {
namespace {

// Where the value comes from, if it is an input that was at most cast, cut or given another shape.
std::optional<IndexRange> origin(const Graph& graph, ValueId value) {
  IndexRange found;
  bool cut = false;
  while (graph.value(value).producer != kNone) {
    const Node& node = graph.node(graph.value(value).producer);
    const std::string_view op = node.op->name;
    if (op != "cast" && op != "reshape" && op != "slice" && op != "transpose") return {};
    if (op == "cast" && graph.type(value).dtype == DType::boolean) return {};
    cut = cut || op == "slice";
    if (op != "cast") found.cuts.emplace_back(node.op, node.attrs);
    value = node.inputs[0];
  }
  const auto at = std::find_if(graph.inputs().begin(), graph.inputs().end(),
                               [&](const GraphInput& input) { return input.value == value; });
  if (at == graph.inputs().end()) return {};
  found.input = static_cast<size_t>(at - graph.inputs().begin());
  found.input_name = at->name;
  if (!cut) found.cuts.clear();
  std::reverse(found.cuts.begin(), found.cuts.end());
  return found;
}

// The first element outside; the number of elements if there is none. A fraction is cut off, as by the step.
template <class T>
int64_t first_outside(const T* values, int64_t count, double below, double above) {
  for (int64_t i = 0; i < count; ++i) {
    const auto v = static_cast<double>(values[i]);
    if (v <= below || v >= above) return i;
  }
  return count;
}

int64_t first_outside(const Tensor& t, double below, double above) {
  const void* bytes = read_bytes(t);
  const int64_t n = t.shape().elements();
  switch (t.dtype()) {
    case DType::i32: return first_outside(static_cast<const int32_t*>(bytes), n, below, above);
    case DType::i64: return first_outside(static_cast<const int64_t*>(bytes), n, below, above);
    case DType::u8: return first_outside(static_cast<const uint8_t*>(bytes), n, below, above);
    case DType::f32: return first_outside(static_cast<const float*>(bytes), n, below, above);
    case DType::f64: return first_outside(static_cast<const double*>(bytes), n, below, above);
    case DType::boolean:
    case DType::c64:
    case DType::c128: return n;
    default: return first_outside(cast(t, DType::f64), below, above);
  }
}

std::string place_of(int64_t element, const Shape& shape) {
  std::string text;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    text = concat(element % shape[axis], text.empty() ? "" : ", ", text);
    element /= shape[axis];
  }
  return concat("[", text, "]");
}

[[noreturn]] void refuse(const IndexRange& r, const Tensor& seen, int64_t element) {
  const Tensor wide = cast(seen, DType::f64);
  const auto* values = static_cast<const double*>(read_bytes(wide));
  double most = 0;
  for (int64_t i = 0; i < wide.shape().elements(); ++i) most = std::max(most, values[i]);
  const bool countable = most < 1e15;
  const auto bad = static_cast<int64_t>(std::clamp(values[element], -1e15, 1e15));
  const std::string found =
      concat(", but ", r.input_name, " of the batch has ", bad, " at ", place_of(element, seen.shape()), ".");
  if (!r.labels)
    fail(ErrorKind::invalid_argument, r.layer.empty() ? "embedding" : r.layer, "expected indices from 0 to ",
         r.size - 1, " for its ", r.size, " rows", found,
         countable && most >= static_cast<double>(r.size)
             ? concat(" The largest is ", static_cast<int64_t>(most),
                      ": it needs input_dim=", static_cast<int64_t>(most) + 1, " or more.")
             : "");
  fail(ErrorKind::invalid_argument, "sparse_categorical_crossentropy", "expected labels from 0 to ",
       r.size - 1, " for ", r.size, " classes", found,
       bad < 0     ? " Name one that is to be left out as ignore_class."
       : countable ? concat(" Count classes from 0, or give the last layer ", static_cast<int64_t>(most) + 1,
                            " outputs.")
                   : "");
}

}  // namespace

std::vector<IndexRange> index_ranges(const Graph& graph) {
  std::vector<IndexRange> ranges;
  for (const Node& node : graph.nodes()) {
    const bool labels = node.op->name == "sparse_softmax_cross_entropy";
    if (!labels && node.op->name != "embedding") continue;
    std::optional<IndexRange> range = origin(graph, node.inputs[1]);
    if (!range) continue;
    const Shape& shape = graph.type(node.inputs[0]).shape;
    range->size = labels ? shape.dim(-1) : shape[0];
    range->labels = labels;
    range->layer = node.layer;
    ranges.push_back(std::move(*range));
  }
  return ranges;
}

void check_indices(const std::vector<IndexRange>& ranges, std::span<const Tensor> inputs) {
  for (const IndexRange& r : ranges) {
    Tensor seen = inputs[r.input];
    for (const auto& [op, attrs] : r.cuts) seen = apply1(*op, {seen}, attrs);
    // A lookup counts negative indices from the end.
    const double below = r.labels ? -1 : -static_cast<double>(r.size) - 1;
    const int64_t element = first_outside(seen, below, static_cast<double>(r.size));
    if (element < seen.shape().elements()) refuse(r, seen, element);
  }
}

}  // namespace plimsoll
