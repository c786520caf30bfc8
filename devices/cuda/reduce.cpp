// Reductions, alone or at the end of a chain. A block of threads has tx columns, one per element of the
// output, and ty rows that share its points and meet in a tree; where there are too few outputs to fill the
// device, the points are split among blocks, whose results are added up by a second kernel. A thread takes
// several neighbours along the innermost axis: points, or outputs. Every sum is made in the same order in
// every run.
#include <algorithm>
#include <bit>

#include "chain.h"
#include "text.h"
#include "vectors.h"

namespace plimsoll::cuda {
namespace {

int64_t up_to_power(int64_t n, int64_t most) {
  return std::min(most, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1)))));
}

struct Shape {
  int64_t outputs, points;  // points: that meet in one output; both in vectors, see `width`
  bool along;               // neighbouring threads take neighbouring points, else neighbouring outputs
  int64_t width = 1;        // points of a thread's vector if along, else outputs
  int64_t tx = 1, ty = 1, splits = 1;

  int64_t threads() const { return tx * ty; }
  int64_t blocks() const { return (outputs + tx - 1) / tx; }
  int64_t kept() const { return along ? 1 : width; }  // results of one thread
  int64_t results() const { return outputs * kept(); }

  void choose() {
    if (along) {
      ty = points <= 16 ? 1 : points <= 1024 ? 32 : 256;
      tx = std::max<int64_t>(1, (ty == 256 ? 256 : 128) / ty);
    } else {
      tx = up_to_power(outputs, 32);
      ty = points < 8 ? 1 : up_to_power((points + 3) / 4, (width == 1 ? 512 : 256) / tx);
    }
    if (ty == 1) tx = 128;
  }
  void split(int multiprocessors) {
    const int64_t wanted =
        (width == 1 ? 2 : 4) * std::max(1, multiprocessors) / std::max<int64_t>(1, blocks());
    splits = std::clamp<int64_t>(std::min(wanted, points / (4 * ty)), 1, 512);
  }
};

struct OneFold {
  FoldText text;
  std::string value, store;  // store: how result `at` of the thread is written; its value is `f`
};

// The end of a chain's last kernel, whose parameters the operands become from `first` on.
std::string finish_text(const Chain::Finish& finish, size_t first) {
  std::string text;
  for (size_t i = 0; !finish.text.empty() && i < finish.operands.size(); ++i)
    text += concat("auto* const ", finish.operands[i].name, " = arg", first + i, ";\n");
  return text + finish.text;
}
void add_operands(const Chain::Finish& finish, std::vector<std::string_view>& types, std::vector<Ref>& args) {
  for (const Chain::Finish::Operand& one : finish.operands) {
    types.push_back(one.type);
    args.push_back(one.at);
  }
}

// `outer` declares what depends on output o alone, `inner` the values at point r of it, `last` ends it.
std::string fold_kernel(const Shape& s, std::string_view parameters, std::string_view index,
                        std::string_view outer, std::string_view inner, std::string_view last,
                        const std::vector<OneFold>& folds, std::string_view finish = "") {
  const int64_t threads = s.threads(), kept = s.kept();
  const std::string j = kept == 1 ? "0" : "j",
                    every = concat("#pragma unroll\nfor (int j = 0; j < ", kept, "; ++j)");
  std::string text =
      concat("extern \"C\" __global__ void __launch_bounds__(", threads, ") KERNEL(", parameters, ") {\n",
             "typedef ", index, " index;\nconst unsigned tid = threadIdx.x;\n");
  text += s.along ? concat("const unsigned ty = tid % ", s.ty, ", tx = tid / ", s.ty, ";\n")
                  : concat("const unsigned tx = tid % ", s.tx, ", ty = tid / ", s.tx, ";\n");
  text += concat("const index o = (index)blockIdx.x * ", s.tx, " + tx;\n");
  for (size_t f = 0; f < folds.size(); ++f)
    text += concat(computed(folds[f].text.kept), " f", f, "[", kept, "];\n", every, " f", f,
                   "[j] = ", folds[f].text.start, ";\n");
  if (s.points > 0) {
    text +=
        concat("if (o < ", s.outputs, ") {\n", outer, "#pragma unroll 4\nfor (index r = (index)blockIdx.y * ",
               s.ty, " + ty; r < ", s.points, "; r += ", s.ty * s.splits, ") {\n", inner);
    for (size_t f = 0; f < folds.size(); ++f)
      text += concat("f", f, "[", j,
                     "] = ", folds[f].text.combine(concat("f", f, "[", j, "]"), folds[f].value), ";\n");
    text += concat(last, "}\n}\n");
  }
  if (s.ty > 1) {
    for (size_t f = 0; f < folds.size(); ++f)
      text += concat("__shared__ ", computed(folds[f].text.kept), " s", f, "[", kept * threads, "];\n", every,
                     " s", f, "[j * ", threads, " + tid] = f", f, "[j];\n");
    text += concat("for (unsigned step = ", s.ty / 2, "; step > 0; step /= 2) {\n__syncthreads();\n",
                   "if (ty < step) {\n", every, " {\nconst unsigned here = j * ", threads,
                   " + tid, other = here + step * ", s.along ? int64_t{1} : s.tx, ";\n");
    for (size_t f = 0; f < folds.size(); ++f)
      text +=
          concat("s", f, "[here] = f", f,
                 "[j] = ", folds[f].text.combine(concat("f", f, "[j]"), concat("s", f, "[other]")), ";\n");
    text += "}\n}\n}\n";
  }
  text +=
      concat("if (ty == 0 && o < ", s.outputs, ") {\n", every, " {\nconst index at = o * ", kept, " + j;\n");
  for (size_t f = 0; f < folds.size(); ++f)
    text += finish.empty() ? concat("{\nconst ", computed(folds[f].text.kept), " f = f", f, "[j];\n",
                                    folds[f].store, "}\n")
                           : concat("const ", computed(folds[f].text.kept), " sum", f, " = f", f, "[j];\n");
  return concat(text, finish, "}\n}\n}\n");
}

// What a fold has kept, as an element of its output.
std::string narrowed(const std::string& kept, const Chain::Fold& fold) {
  return store_element(concat("(", computed(fold.dtype), ")", kept), fold.dtype);
}

// The second kernel: partial results, one row per split, into the outputs.
void add_up(Build& b, const Shape& first, const std::vector<const Chain::Fold*>& folds,
            const std::vector<Ref>& partial, const Chain::Finish& finish) {
  Shape s{first.results(), first.splits, first.results() == 1};
  s.choose();
  std::vector<std::string_view> types;
  std::vector<Ref> args;
  std::vector<OneFold> list;
  for (size_t f = 0; f < folds.size(); ++f) {
    const FoldText text = fold_text(folds[f]->op, folds[f]->dtype);
    list.push_back({text, concat("arg", f, "[r * ", s.outputs, " + o]"),
                    concat("arg", folds.size() + f, "[at] = ", narrowed("f", *folds[f]), ";\n")});
    types.push_back(computed(text.kept));
    args.push_back(partial[f]);
  }
  for (const Chain::Fold* const fold : folds) {
    if (!finish.text.empty()) break;
    types.push_back(stored(fold->dtype));
    args.push_back(fold->to(b));
  }
  add_operands(finish, types, args);
  b.launch(concat(b.node.op(), " sums"),
           fold_kernel(s, parameters(types, folds.size()), index_type(s.outputs * s.points), "", "", "", list,
                       finish_text(finish, folds.size())),
           s.blocks(), static_cast<int>(s.threads()), std::move(args));
}

// Coordinates of the space from o, over the kept axes, or from r, over the reduced ones.
std::string some_coordinates(const Space& space, const std::vector<bool>& reduced, bool want,
                             std::string_view at) {
  Sizes sizes;
  std::string names;
  for (size_t d = 0; d < space.sizes.size(); ++d)
    if (reduced[d] == want) sizes.push_back(space.sizes[d]);
  const std::string letter = want ? "r" : "o";
  std::string text = coordinates(sizes, at, "index", letter);
  size_t k = 0;
  for (size_t d = 0; d < space.sizes.size(); ++d)
    if (reduced[d] == want) names += concat("const index i", d, " = ", letter, k++, ";\n");
  return text + names;
}

// All folds of a chain that reduce the same axes, and with `writes` what else the chain writes.
void lower_group(Build& b, const Chain& chain, const std::vector<const Chain::Fold*>& folds, bool writes) {
  const std::vector<bool>& axes = folds[0]->reduced;
  Space space{chain.sizes, {}};
  for (const Chain::Read& read : chain.reads)
    space.strides.push_back(broadcast_strides(read.type.sizes, chain.sizes));
  space.strides.push_back(row_major(chain.sizes));
  Sizes kept_sizes = chain.sizes;  // of the output with axes of size 1
  for (size_t d = 0; d < axes.size(); ++d)
    if (axes[d]) kept_sizes[d] = 1;
  space.strides.push_back(broadcast_strides(kept_sizes, chain.sizes));
  space.join();  // an axis that is reduced and one that is kept never join: one of them has stride 0
  std::vector<bool> reduced;
  for (size_t d = 0; d < space.sizes.size(); ++d) reduced.push_back(space.strides.back()[d] == 0);

  std::vector<size_t> sizes;
  for (const Chain::Read& read : chain.reads) sizes.push_back(size_of(read.type.dtype));
  size_t widest = 1;
  for (size_t i = 0; writes && i < chain.writes.size(); ++i)
    widest = std::max(widest, size_of(chain.writes[i].dtype));
  sizes.push_back(widest);

  Shape s{product(kept_sizes), 1, !space.sizes.empty() && reduced.back()};
  for (size_t d = 0; d < space.sizes.size(); ++d) s.points *= reduced[d] ? space.sizes[d] : 1;
  if (s.outputs == 0) return;
  if (space.count() >= 64 * 1024 && folds.size() <= 2) s.width = vector_width(space, sizes, 4);
  (s.along ? s.points : s.outputs) /= s.width;
  s.choose();
  s.split(b.device.multiprocessors);

  std::vector<std::string_view> types;
  std::vector<Ref> args;
  const Sizes& dense = space.strides[chain.reads.size()];
  std::string inner = concat(
      some_coordinates(space, reduced, true, s.along && s.width > 1 ? concat("(r * ", s.width, ")") : "r"),
      "const index first = ", position(0, dense), ";\n");
  std::string each, last;
  for (size_t i = 0; i < chain.reads.size(); ++i) {
    const Chain::Read& read = chain.reads[i];
    const VectorRead one =
        vector_read(i, stored(read.type.dtype), space.strides[i], space.strides[i] == dense, s.width);
    inner += one.declare;
    each += concat("const ", computed(read.type.dtype), " ", read.variable, " = ",
                   load_element(one.element, read.type.dtype), ";\n");
    types.push_back(stored(read.type.dtype));
    args.push_back(read.from(b));
  }
  each += chain.text;
  for (size_t i = 0; writes && i < chain.writes.size(); ++i) {
    const Chain::Write& write = chain.writes[i];
    const VectorWrite one = vector_write(types.size(), stored(write.dtype), s.width);
    inner += one.declare;
    each += concat(one.element, " = ", store_element(write.value, write.dtype), ";\n");
    last += one.store;
    types.push_back(stored(write.dtype));
    args.push_back(b.out(write.output));
  }
  inner += concat(vector_loop(s.width), each);
  last = concat("}\n", last);
  std::vector<Ref> partial;
  std::vector<OneFold> list;
  for (const Chain::Fold* const fold : folds) {
    const FoldText text = fold_text(fold->op, fold->dtype);
    if (s.splits > 1) {
      partial.push_back(b.scratch(s.splits * s.results() * static_cast<int64_t>(size_of(text.kept))));
      args.push_back(partial.back());
      list.push_back({text, fold->value,
                      concat("arg", types.size(), "[(index)blockIdx.y * ", s.results(), " + at] = f;\n")});
      types.push_back(computed(text.kept));
    } else if (!chain.finish.text.empty()) {
      list.push_back({text, fold->value, ""});
    } else {
      args.push_back(fold->to(b));
      list.push_back(
          {text, fold->value, concat("arg", types.size(), "[at] = ", narrowed("f", *fold), ";\n")});
      types.push_back(stored(fold->dtype));
    }
  }
  const int64_t largest = std::max(space.count(), s.splits * s.results());
  std::string finish;
  if (s.splits == 1) {
    finish = finish_text(chain.finish, types.size());
    add_operands(chain.finish, types, args);
  }
  b.launch(std::string(b.node.op()),
           fold_kernel(s, parameters(types, chain.reads.size()), index_type(largest),
                       some_coordinates(space, reduced, false,
                                        !s.along && s.width > 1 ? concat("(o * ", s.width, ")") : "o"),
                       inner, last, list, finish),
           s.blocks(), static_cast<int>(s.threads()), std::move(args), s.splits);
  if (s.splits > 1) add_up(b, s, folds, partial, chain.finish);
}

}  // namespace

std::string FoldText::combine(const std::string& a, const std::string& b) const {
  const std::string operands[] = {a, b};
  return element_expression(meaning, operands, kept);
}

FoldText fold_text(std::string_view op, DType t) {
  const bool real = is_float(t);
  const bool lowest = op == "reduce_max";
  if (t == DType::boolean) {
    const bool all = op == "reduce_and" || op == "reduce_min" || op == "reduce_prod";
    return {t, all ? "1" : "0", all ? "a & b" : "a | b"};
  }
  if (op == "reduce_sum") return {sum_type(t), "0", real ? "a + b" : "add(a, b)"};
  if (op == "reduce_prod") return {sum_type(t), "1", real ? "a * b" : "mul(a, b)"};
  const DType kept = computed_type(t);
  const std::string limit = concat(lowest ? "(-INFINITY)" : "INFINITY");
  const std::string start = real ? limit : concat("to_", source_type(t).suffix, "_f64(", limit, ")");
  if (lowest) return {kept, start, real ? "isnan(b) || b > a ? b : a" : "b > a ? b : a"};
  if (op == "reduce_min") return {kept, start, real ? "isnan(b) || b < a ? b : a" : "b < a ? b : a"};
  fail(ErrorKind::unsupported, op, "no such reduction of ", t);
}

// Folds of different axes need passes of their own. What is written comes with the last one: it may lie in
// the bytes of what the others read.
void lower_folds(Build& b, const Chain& chain) {
  std::vector<std::vector<const Chain::Fold*>> groups;
  for (const Chain::Fold& fold : chain.folds) {
    const auto same =
        std::ranges::find_if(groups, [&](const auto& group) { return group[0]->reduced == fold.reduced; });
    if (same == groups.end())
      groups.push_back({&fold});
    else
      same->push_back(&fold);
  }
  for (size_t g = 0; g < groups.size(); ++g) lower_group(b, chain, groups[g], g + 1 == groups.size());
}

}  // namespace plimsoll::cuda
