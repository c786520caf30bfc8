// Chains of small ops that a library kernel does in one go become that op. In a training graph this reaches
// what the backward pass does not look into (a bias and a ReLU behind a convolution); layers that want more
// call the library op.
#include "passes/match.h"

#include <array>

#include "graph/op.h"
#include "passes/passes.h"

namespace plimsoll {
namespace {

constexpr std::array kMatchers = {match_dense,      match_conv_bias, match_cross_entropy,
                                  match_layer_norm, match_attention, match_finite_rows};
constexpr int kMaxRounds = 4;  // an activation joins what an earlier round made

std::vector<Tensor> replacement(Match& m, const Node& node) {
  if (std::vector<Tensor> update = match_half_gradient(m, node); !update.empty()) return update;
  if (node.outputs.size() != 1) return match_table_update(m, node);
  for (const auto matcher : kMatchers) {
    if (const Tensor t = matcher(m, node); t.defined()) return {t};
  }
  return {};
}

bool once(const Graph& graph, Graph* out) {
  Rewriter r(graph);
  Match m(r);
  bool changed = false;
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    if (!r.live(n)) continue;
    const Node& node = graph.node(n);
    const std::string layer = r.graph().set_layer(node.layer);
    const std::vector<Tensor> instead = replacement(m, node);
    r.graph().set_layer(layer);
    if (instead.empty()) {
      r.copy(n);
    } else {
      r.set(n, instead);
      changed = true;
    }
  }
  *out = r.finish();
  return changed;
}

}  // namespace

const Node* Match::made_by(ValueId v, std::string_view op) const {
  const NodeId p = graph().value(v).producer;
  return graph().is(p, op) ? &graph().node(p) : nullptr;
}

const Node* Match::only_made_by(ValueId v, std::string_view op) const {
  return r_.uses(v) == 1 ? made_by(v, op) : nullptr;
}

std::optional<Match::Operands> Match::one_made_by(const Node& node, std::string_view op) const {
  if (const Node* n = only_made_by(node.inputs[0], op)) return Operands{n, node.inputs[1]};
  if (const Node* n = only_made_by(node.inputs[1], op)) return Operands{n, node.inputs[0]};
  return std::nullopt;
}

Tensor Match::call(std::string_view op, std::initializer_list<Tensor> in, Attrs attrs) {
  const OpDef* def = find_op(op);
  return def ? apply(*def, std::span<const Tensor>(in.begin(), in.size()), std::move(attrs))[0] : Tensor();
}

std::optional<double> Match::number(ValueId v) const {
  const Splat s = splat(graph(), v);
  return s.known ? std::optional(s.value) : std::nullopt;
}

Graph pass_match(const Graph& graph) {
  Graph current = Rewriter(graph).copy_all();
  for (int round = 0; round < kMaxRounds; ++round) {
    Graph next;
    const bool changed = once(current, &next);
    current = Rewriter(next).copy_all();
    if (!changed) break;
  }
  return current;
}

}  // namespace plimsoll
