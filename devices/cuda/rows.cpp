// Ops along one axis: argmax and argmin, cumsum and its kin, sort and top_k. One thread per row, or per
// element.
#include "chain.h"
#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

// x as (outer, size, inner) around one axis.
struct Rows {
  int64_t outer = 1, size, inner = 1;

  Rows(const Type& x, size_t axis) : size(x.sizes[axis]) {
    for (size_t i = 0; i < axis; ++i) outer *= x.sizes[i];
    for (size_t i = axis + 1; i < x.sizes.size(); ++i) inner *= x.sizes[i];
  }
  int64_t count() const { return outer * inner; }
  // The first element of row `at`; the next is `inner` further.
  std::string base(std::string_view at) const {
    return concat("(", at, ") / ", inner, " * ", size * inner, " + (", at, ") % ", inner);
  }
};

Rows rows_of(const Node& node) {
  const Type x = node.in(0);
  return Rows(x, axis_of(node.integer("axis"), x.rank()));
}

void arg_reduce(Build& b, bool largest) {
  const Rows rows = rows_of(b.node);
  const DType t = b.node.in(0).dtype;
  const std::string_view sign = largest ? " > " : " < ";
  const std::string body = concat(
      "const index base = ", rows.base("at"), ";\nint best = 0;\n", computed(t),
      " most = ", load_element("arg0[base]", t), ";\nfor (int k = 1; k < ", rows.size, "; ++k) {\nconst ",
      computed(t), " v = ", load_element(concat("arg0[base + (index)k * ", rows.inner, "]"), t),
      ";\nif (most == most && (v", sign, "most || v != v)) { best = k; most = v; }\n}\narg1[at] = best;\n");
  b.each(parameters({stored(t), "int32_t"}, 1), rows.count(), body, {b.in(0), b.out(0)});
}
void argmax(Build& b) { arg_reduce(b, true); }
void argmin(Build& b) { arg_reduce(b, false); }

// Each element is read before it is written: the output may be the input.
void cumulate(Build& b, std::string_view fold) {
  const Rows rows = rows_of(b.node);
  if (rows.size == 0) return;
  const DType t = b.node.in(0).dtype;
  const FoldText text = fold_text(fold, t);
  const bool backwards = b.node.integer("reverse") != 0;
  const std::string k = backwards ? concat("(", rows.size - 1, " - k)") : "k";
  const std::string body =
      concat("const index base = ", rows.base("at"), ";\n", computed(text.kept),
             " kept = 0;\nfor (index k = 0; k < ", rows.size, "; ++k) {\nconst index p = base + ", k, " * ",
             rows.inner, ";\nconst ", computed(t), " v = ", load_element("arg0[p]", t),
             ";\nkept = k == 0 ? (", computed(text.kept), ")v : (", text.combine("kept", "v"),
             ");\narg1[p] = ", store_element(concat("(", computed(t), ")kept"), t), ";\n}\n");
  b.each(parameters({stored(t), stored(t)}, 1), rows.count(), body, {b.in(0), b.out(0)});
}
void cumsum(Build& b) { cumulate(b, "reduce_sum"); }
void cumprod(Build& b) { cumulate(b, "reduce_prod"); }
void cummax(Build& b) { cumulate(b, "reduce_max"); }

// Declares `rank`: the place of element i of the row at `base` in the stable order of the row. A NaN is
// larger than any number.
std::string rank_text(DType t, const Rows& rows, bool ascending) {
  const std::string element = load_element(concat("arg0[base + j * ", rows.inner, "]"), t);
  const std::string before =
      ascending ? "(v < mine || (mine != mine && v == v))" : "(v > mine || (v != v && mine == mine))";
  return concat(
      "const ", computed(t), " mine = ", load_element(concat("arg0[base + i * ", rows.inner, "]"), t),
      ";\nindex rank = 0;\nfor (index j = 0; j < ", rows.size, "; ++j) {\nconst ", computed(t),
      " v = ", element, ";\nconst bool same = v == mine || (v != v && mine != mine);\nrank += ", before,
      " || (same && j < i);\n}\n");
}

// The element that has rank k among its row's is written to place k: no scratch, and as many comparisons as
// pairs in a row.
void sort(Build& b) {
  const Type x = b.node.in(0);
  const Rows rows(x, axis_of(b.node.integer("axis"), x.rank()));
  if (x.count() == 0) return;
  const size_t n = b.node.input_count();
  std::vector<std::string_view> types;
  std::vector<Ref> args;
  std::string body =
      concat("const index i = at / ", rows.inner, " % ", rows.size, ", base = at / ", rows.size * rows.inner,
             " * ", rows.size * rows.inner, " + at % ", rows.inner, ";\n", rank_text(x.dtype, rows, true));
  for (size_t k = 0; k < n; ++k) {
    types.push_back(k == 0 ? stored(x.dtype) : moved(b.node.in(k).dtype));
    args.push_back(b.in(k));
    body += concat("arg", n + k, "[base + rank * ", rows.inner, "] = arg", k, "[at];\n");
  }
  for (size_t k = 0; k < n; ++k) {
    types.push_back(types[k]);
    args.push_back(b.out(k));
  }
  b.each(parameters(types, n), x.count(), body, std::move(args));
}

void top_k(Build& b) {
  const Type x = b.node.in(0);
  const Rows rows(x, x.sizes.size() - 1);
  const int64_t k = b.node.integer("k");
  if (x.count() == 0 || k == 0) return;
  const std::string body =
      concat("const index i = at % ", rows.size, ", base = at - i;\n", rank_text(x.dtype, rows, false),
             "if (rank < ", k, ") {\nconst index to = at / ", rows.size, " * ", k,
             " + rank;\narg1[to] = arg0[at];\narg2[to] = (int32_t)i;\n}\n");
  b.each(parameters({stored(x.dtype), stored(x.dtype), "int32_t"}, 1), x.count(), body,
         {b.in(0), b.out(0), b.out(1)});
}

}  // namespace

std::span<const Op> row_ops() {
  static const Op ops[] = {
      {.name = "argmax", .lower = argmax},
      {.name = "argmin", .lower = argmin},
      {.name = "cumsum", .lower = cumsum, .overlap = Op::Overlap::same_shape},
      {.name = "cumprod", .lower = cumprod, .overlap = Op::Overlap::same_shape},
      {.name = "cummax", .lower = cummax, .overlap = Op::Overlap::same_shape},
      {.name = "sort", .lower = sort},
      {.name = "top_k", .lower = top_k},
  };
  return ops;
}

}  // namespace plimsoll::cuda
