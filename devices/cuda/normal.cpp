// Layer normalisation, softmax, cross-entropies and their gradients: a row is read once and stays in
// registers.
#include <algorithm>

#include "chain.h"
#include "ops.h"
#include "row_text.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

int64_t last(const Type& t) { return t.sizes.empty() ? 0 : t.sizes.back(); }
int64_t rows_of(const Type& t) { return last(t) == 0 ? 0 : t.count() / last(t); }
std::string function(std::string_view name, DType t) {
  return concat(name, "_", source_type(computed_type(t)).suffix);
}

bool knows_rows(const Node& node) {
  const Type x = node.in(0);
  return is_float(x.dtype) && RowText::holds(last(x));
}
// Along the last axis alone.
bool knows_softmax(const Node& node) {
  const Type x = node.in(0);
  return knows_rows(node) && axis_of(node.integer("axis"), x.rank()) + 1 == x.sizes.size();
}

void layer_norm(Build& b) {
  const Type x = b.node.in(0);
  const DType t = x.dtype, w = b.node.in(1).dtype, s = b.node.out(1).dtype;
  const RowText row(rows_of(x), last(x), t, std::max(size_of(t), size_of(w)));
  if (rows_of(x) == 0) return;
  const std::string body =
      concat(row.read("x", 0, t), row.sum("mean", "x[i]"), "mean /= ", last(x), ";\n",
             row.sum("spread", "(x[i] - mean) * (x[i] - mean)"), "const ", row.type(),
             " rstd = 1 / sqrt(spread / ", last(x), " + (", row.type(), ")",
             literal(b.node.real("epsilon"), computed_type(t)), ");\n", row.read_shared("gamma", 1, w),
             row.read_shared("beta", 2, w), row.write(3, t, "(x[i] - mean) * rstd * gamma[i] + beta[i]"),
             row.write_one(4, s, "mean"), row.write_one(5, s, "rstd"));
  row.launch(b, {t, w, w, t, s, s}, 3, body, {b.in(0), b.in(1), b.in(2), b.out(0), b.out(1), b.out(2)});
}

// dgamma and dbeta first: dx may lie in the bytes of x.
void layer_norm_grad(Build& b) {
  const Type x = b.node.in(0);
  const DType t = x.dtype, w = b.node.in(1).dtype, s = b.node.in(2).dtype;
  const int64_t rows = rows_of(x), n = last(x);
  const RowText row(rows, n, t, std::max(size_of(t), size_of(w)));
  Chain sums;
  sums.sizes = {rows, n};
  sums.reads = {{{t, {rows, n}}, 0, "x"},
                {{s, {rows, 1}}, 2, "mean"},
                {{s, {rows, 1}}, 3, "rstd"},
                {{t, {rows, n}}, 4, "dy"}};
  sums.text = concat("const ", row.type(), " slope = dy * ((x - mean) * rstd);\n");
  sums.folds = {{"slope", w, "reduce_sum", {true, false}, 1}, {"dy", w, "reduce_sum", {true, false}, 2}};
  lower_folds(b, sums);
  if (rows == 0) return;
  const std::string body = concat(row.read("h", 0, t), row.read("g", 4, t), row.read_shared("gamma", 1, w),
                                  "const ", row.type(), " mean = arg2[row], rstd = arg3[row];\n",
                                  row.each("h[i] = (h[i] - mean) * rstd;\ng[i] *= gamma[i];\n"),
                                  row.sum("a0", "g[i]"), row.sum("a1", "g[i] * h[i]"), "a0 /= ", n,
                                  ";\na1 /= ", n, ";\n", row.write(5, t, "rstd * (g[i] - a0 - h[i] * a1)"));
  row.launch(b, {t, w, s, s, t, t}, 5, body, {b.in(0), b.in(1), b.in(2), b.in(3), b.in(4), b.out(0)});
}

void softmax_of(Build& b, bool log) {
  const Type x = b.node.in(0);
  const DType t = x.dtype;
  if (x.count() == 0) return;
  const RowText row(rows_of(x), last(x), t, size_of(t));
  std::string body = concat(row.read("x", 0, t), row.largest("top", "x[i]"));
  if (log)
    body += concat(row.sum("all", concat(function("exp", t), "(x[i] - top)")), "const ", row.type(),
                   " down = ", function("log", t), "(all);\n", row.write(1, t, "x[i] - top - down"));
  else
    body += concat(row.each(concat("x[i] = ", function("exp", t), "(x[i] - top);\n")), row.sum("all", "x[i]"),
                   row.write(1, t, "x[i] / all"));
  row.launch(b, {t, t}, 1, body, {b.in(0), b.out(0)});
}
void softmax(Build& b) { softmax_of(b, false); }
void log_softmax(Build& b) { softmax_of(b, true); }

void softmax_grad_of(Build& b, bool log) {
  const Type y = b.node.in(0);
  const DType t = y.dtype;
  if (y.count() == 0) return;
  const RowText row(rows_of(y), last(y), t, size_of(t));
  const std::string body = concat(
      row.read("y", 0, t), row.read("dy", 1, t), row.sum("all", log ? "dy[i]" : "y[i] * dy[i]"),
      row.write(2, t, log ? concat("dy[i] - ", function("exp", t), "(y[i]) * all") : "y[i] * (dy[i] - all)"));
  row.launch(b, {t, t, t}, 2, body, {b.in(0), b.in(1), b.out(0)});
}
void softmax_grad(Build& b) { softmax_grad_of(b, false); }
void log_softmax_grad(Build& b) { softmax_grad_of(b, true); }

void cross_entropy(Build& b, bool sparse) {
  const Type x = b.node.in(0);
  const DType t = x.dtype, of_targets = b.node.in(1).dtype, wide = b.node.out(1).dtype;
  const RowText row(rows_of(x), last(x), t, size_of(t));
  if (x.count() == 0) return;
  std::string body = concat(row.read("x", 0, t), row.largest("top", "x[i]"),
                            row.sum("all", concat(function("exp", t), "(x[i] - top)")), "const ", row.type(),
                            " lse = top + ", function("log", t), "(all);\n");
  if (sparse)
    body += concat("const int64_t label = arg1[row];\nconst bool inside = label >= 0 && label < ", last(x),
                   ";\n", row.sum("picked", "c == label ? x[i] : 0"),
                   row.write_one(2, t, "inside ? lse - picked : NAN"));
  else
    body += concat(row.read("t", 1, t), row.sum("loss", "t[i] * (lse - x[i])"), row.write_one(2, t, "loss"));
  body += row.write_one(3, wide, "lse");
  row.launch(b, {t, of_targets, t, wide}, 2, body, {b.in(0), b.in(1), b.out(0), b.out(1)});
}
void sparse_cross_entropy(Build& b) { cross_entropy(b, true); }
void dense_cross_entropy(Build& b) { cross_entropy(b, false); }

void cross_entropy_grad(Build& b, bool sparse) {
  const Type x = b.node.in(0);
  const DType t = x.dtype, of_targets = b.node.in(1).dtype, wide = b.node.in(2).dtype;
  const RowText row(rows_of(x), last(x), t, size_of(t));
  if (x.count() == 0) return;
  const std::string exp = concat(function("exp", t), "(x[i] - lse)");
  std::string body = concat(row.read("x", 0, t), "const ", row.type(),
                            " lse = arg2[row], dloss = ", load_element("arg3[row]", t), ";\n");
  if (sparse)
    body += concat("const int64_t label = arg1[row];\nconst ", row.type(), " weight = label >= 0 && label < ",
                   last(x), " ? dloss : 0;\n",
                   row.write(4, t, concat("(", exp, " - (c == label ? 1 : 0)) * weight")));
  else
    body += concat(row.read("t", 1, t), row.sum("all", "t[i]"),
                   row.write(4, t, concat("(", exp, " * all - t[i]) * dloss")));
  row.launch(b, {t, of_targets, wide, t, t}, 4, body, {b.in(0), b.in(1), b.in(2), b.in(3), b.out(0)});
}
void sparse_cross_entropy_grad(Build& b) { cross_entropy_grad(b, true); }
void dense_cross_entropy_grad(Build& b) { cross_entropy_grad(b, false); }

}  // namespace

std::span<const Op> normal_ops() {
  using enum Op::Overlap;
  static const Op ops[] = {
      {.name = "layer_norm", .lower = layer_norm, .knows = knows_rows, .overlap = first},
      {.name = "layer_norm_grad", .lower = layer_norm_grad, .knows = knows_rows, .overlap = first},
      {.name = "softmax", .lower = softmax, .knows = knows_softmax, .overlap = same_shape},
      {.name = "log_softmax", .lower = log_softmax, .knows = knows_softmax, .overlap = same_shape},
      {.name = "softmax_grad", .lower = softmax_grad, .knows = knows_softmax, .overlap = same_shape},
      {.name = "log_softmax_grad", .lower = log_softmax_grad, .knows = knows_softmax, .overlap = same_shape},
      {.name = "sparse_softmax_cross_entropy", .lower = sparse_cross_entropy, .knows = knows_rows},
      {.name = "softmax_cross_entropy", .lower = dense_cross_entropy, .knows = knows_rows},
      {.name = "sparse_softmax_cross_entropy_grad",
       .lower = sparse_cross_entropy_grad,
       .knows = knows_rows,
       .overlap = first},
      {.name = "softmax_cross_entropy_grad",
       .lower = dense_cross_entropy_grad,
       .knows = knows_rows,
       .overlap = first},
  };
  return ops;
}

}  // namespace plimsoll::cuda
