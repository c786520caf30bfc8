// What the device can do, asked before anything is compiled.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "chain.h"
#include "ops.h"
#include "support.h"

namespace plimsoll::cuda {
namespace {

constexpr Op kMap = {
    .name = "", .lower = lower_chain, .overlap = Op::Overlap::same_shape, .fuses = PLIMSOLL_FUSE_MAP};
constexpr Op kFold = {.name = "", .lower = lower_chain, .fuses = PLIMSOLL_FUSE_FOLD};
constexpr Op kFused = {.name = "fused", .lower = lower_chain, .overlap = Op::Overlap::same_shape};

const std::unordered_map<std::string_view, const Op*>& table() {
  static const auto* const made = [] {
    auto* const all = new std::unordered_map<std::string_view, const Op*>;
    for (const auto ops : {move_ops(), index_ops(), row_ops(), window_ops(), conv_ops(), random_ops(),
                           fourier_ops(), product_ops(), matrix_ops(), control_ops(), normal_ops(),
                           recurrent_ops(), attention_ops(), batch_norm_ops()})
      for (const Op& op : ops) all->emplace(op.name, &op);
    return all;
  }();
  return *made;
}

const Op* op_of(const Node& node) {
  if (node.op() == "fused") return &kFused;
  if (is_reduction(node.op())) return &kFold;
  if (const auto found = table().find(node.op()); found != table().end()) return found->second;
  return node.get().meaning != nullptr && node.output_count() == 1 ? &kMap : nullptr;
}

bool has_complex(const Node& node) {
  for (size_t i = 0; i < node.input_count(); ++i)
    if (is_complex(node.in(i).dtype)) return true;
  for (size_t i = 0; i < node.output_count(); ++i)
    if (is_complex(node.out(i).dtype)) return true;
  return false;
}

// Whether output k of a "fused" node is a reduction, which is written when others may still read what is
// there.
bool is_folded(const Node& node, size_t k) {
  const plimsoll_attr* const body = node.attr("body");
  if (node.op() != "fused" || body == nullptr || body->graph == nullptr) return false;
  for (int32_t i = 0; i < body->graph->node_count; ++i) {
    const Node member(*body->graph, i);
    if (member.output_count() > 0 && member.output(0) == body->graph->outputs[k])
      return is_reduction(member.op());
  }
  return false;
}

uint64_t inputs_to_overwrite(const Op& op, const Node& node, size_t k) {
  const Type out = node.out(k);
  uint64_t mask = 0;
  if (op.overlap == Op::Overlap::none || is_folded(node, k)) return mask;
  for (size_t i = 0; i < std::min<size_t>(node.input_count(), 64); ++i) {
    const Type in = node.in(i);
    const bool fits = in.sizes == out.sizes && size_of(in.dtype) == size_of(out.dtype);
    if (fits && (op.overlap == Op::Overlap::same_shape || i == 0)) mask |= uint64_t{1} << i;
  }
  return mask;
}

}  // namespace

const Op* find_op(const plimsoll_device& device, const Node& node) {
  const Op* const op = op_of(node);
  if (op == nullptr || (has_complex(node) && !op->moves)) return nullptr;
  if (op->knows != nullptr && !op->knows(node)) return nullptr;
  return op->fits == nullptr || op->fits(device, node) ? op : nullptr;
}

void answer_support(const plimsoll_device& device, const plimsoll_graph& graph, int32_t index,
                    plimsoll_support& support) {
  const Node node(graph, index);
  const Op* const op = find_op(device, node);
  if (op == nullptr) return;  // zeros: it can do nothing with it
  support.runs = 1;
  support.fuses = has_complex(node) ? PLIMSOLL_FUSE_NO : op->fuses;
  for (size_t k = 0; k < std::min<size_t>(node.output_count(), 8); ++k)
    support.in_place[k] = inputs_to_overwrite(*op, node, k);
}

}  // namespace plimsoll::cuda
