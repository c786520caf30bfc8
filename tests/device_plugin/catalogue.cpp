#include "device_plugin/catalogue.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "op_sweep/kernel_cases.h"
#include "plimsoll/error.h"

namespace plimsoll::testing {
namespace {

constexpr std::string_view kHead =
    R"(/* Every op of the engine, for the authors of device plug-ins; docs/devices.md says what each primitive computes. Printed from
 * the registry: PLIMSOLL_WRITE_DOCS=1 build/bin/device_sweep_test --gtest_filter='Catalogue.*' writes it anew.
 *
 * PLIMSOLL_OPS(OP) calls OP once per op with
 *   its name;
 *   the least and the most inputs, -1: any number;
 *   the least and the most outputs, -1: as many as its sub-graph has;
 *   flags, below;
 *   its attributes, "name: kind = default" with commas between; those without a default are always there.
 * The names, for example:
 *   #define NAME(name, ...) #name,
 *   static const char* const names[] = {PLIMSOLL_OPS(NAME)};
 */
#ifndef PLIMSOLL_DEVICE_OPS_H
#define PLIMSOLL_DEVICE_OPS_H

enum {
  PLIMSOLL_OP_PRIMITIVE = 1,   /* has no parts: a device that cannot run it cannot run graphs with it */
  PLIMSOLL_OP_ELEMENTWISE = 2, /* element i of the output from element i of the inputs, broadcast as NumPy does; most
                                  have a meaning (plimsoll_node.meaning) */
  PLIMSOLL_OP_ALIAS = 4        /* the bytes of input 0 under another type: it never runs */
};

/* clang-format off */
#define PLIMSOLL_OPS(OP) \
)";
constexpr std::string_view kTail = R"(/* clang-format on */

#endif
)";

std::string attributes_of(const OpDef& op) {
  std::string text;
  for (const AttrDef& attr : op.attrs) {
    text += concat(text.empty() ? "" : ", ", attr.name, ": ", name_of(attr.kind));
    if (attr.fallback) text += concat(" = ", *attr.fallback);
  }
  std::string quoted;
  for (const char c : text) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
  return quoted;
}

// Ops with a sub-graph return what it returns; for the others their cases tell.
std::pair<int, int> outputs_of(const OpDef& op) {
  const bool has_graph = std::any_of(op.attrs.begin(), op.attrs.end(),
                                     [](const AttrDef& a) { return a.kind == AttrKind::graph; });
  if (has_graph) return {-1, -1};
  std::pair<int, int> count = {1, 1};
  bool any = false;
  for (const SweepCase& c : sweep_cases(op)) {
    const int n = static_cast<int>(c.out.size());
    count = any ? std::pair{std::min(count.first, n), std::max(count.second, n)} : std::pair{n, n};
    any = true;
  }
  return count;
}

std::string flags_of(const OpDef& op) {
  std::string text;
  const auto add = [&](bool has, std::string_view name) {
    if (has) text += concat(text.empty() ? "" : " | ", "PLIMSOLL_OP_", name);
  };
  add(is_primitive(op), "PRIMITIVE");
  add(op.tile != nullptr, "ELEMENTWISE");
  add(op.alias, "ALIAS");
  return text.empty() ? "0" : text;
}

std::string row(const OpDef& op) {
  const auto [least, most] = outputs_of(op);
  return concat("  OP(", op.name, ", ", op.arity.least, ", ",
                op.arity.most >= kAnyNumber ? -1 : op.arity.most, ", ", least, ", ", most, ", ", flags_of(op),
                ", \"", attributes_of(op), "\")");
}

}  // namespace

bool is_primitive(const OpDef& op) { return op.decompose == nullptr && !op.alias && op.name != "constant"; }

// Name here what the example may do without, with the reason. Linear algebra is calls of a library
// everywhere.
bool left_out(std::string_view op) {
  static constexpr std::array<std::string_view, 6> kLeftOut = {"cholesky", "eigh", "lu",
                                                               "qr",       "svd",  "triangular_solve"};
  return std::find(kLeftOut.begin(), kLeftOut.end(), op) != kLeftOut.end();
}

std::string catalogue_text() {
  std::map<std::string_view, std::string> rows;
  for (const OpDef* op : all_ops()) rows[op->name] = row(*op);
  std::string text(kHead);
  size_t i = 0;
  for (const auto& [name, line] : rows) text += concat(line, ++i < rows.size() ? " \\\n" : "\n");
  return text + std::string(kTail);
}

}  // namespace plimsoll::testing
