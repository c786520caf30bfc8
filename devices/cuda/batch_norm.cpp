// batch_norm and batch_norm_grad: one pass over x for both sums, kernels over the channels for what all their
// elements share, and one pass that makes y or dx.
#include <algorithm>

#include "chain.h"
#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

struct Channels {
  Type x;
  DType weights;  // of gamma, beta and the statistics
  int64_t channels, rows;
  DType wide;  // that x is computed in

  Channels(const Node& node, size_t input)
      : x(node.in(input)),
        weights(node.in(input + 1).dtype),
        channels(x.sizes.back()),
        rows(x.count() / channels),
        wide(computed_type(x.dtype)) {}
  std::string_view type() const { return source_type(wide).name; }
  double count() const { return static_cast<double>(std::max<int64_t>(1, rows)); }
  Sizes matrix() const { return {rows, channels}; }
  Chain::Read read(size_t input, std::string variable) const {
    return {{x.dtype, matrix()}, input, std::move(variable)};
  }
  Chain::Read per_channel(Ref from, std::string variable) const {
    return {{wide, {channels}}, 0, std::move(variable), from};
  }
  Ref scratch(Build& b, DType t) const { return b.scratch(channels * static_cast<int64_t>(size_of(t))); }
};

std::string epsilon(const Build& b) { return literal(b.node.real("epsilon"), DType::f64); }

bool knows(const Node& node) { return is_float(node.in(0).dtype); }

// The sums of two values of a chain over all rows.
struct Sums {
  Ref first, second;
};
Sums add_sums(Build& b, const Channels& c, Chain& chain, std::string first, std::string second) {
  const Sums sums{c.scratch(b, DType::f64), c.scratch(b, DType::f64)};
  chain.sizes = c.matrix();
  chain.folds = {{std::move(first), DType::f64, "reduce_sum", {true, false}, 0, sums.first},
                 {std::move(second), DType::f64, "reduce_sum", {true, false}, 0, sums.second}};
  lower_folds(b, chain);
  return sums;
}

void batch_norm(Build& b) {
  const Channels c(b.node, 0);
  const DType w = c.weights;
  Chain both;
  both.reads = {c.read(0, "x")};
  both.text = concat("const ", c.type(), " square = x * x;\n");
  const Sums sums = add_sums(b, c, both, "x", "square");
  const Ref mean = c.scratch(b, c.wide), scale = c.scratch(b, c.wide);
  b.each(parameters({"double", "double", stored(w), stored(w), stored(w), c.type(), c.type()}, 3), c.channels,
         concat("const double mean = arg0[at] / ", literal(c.count(), DType::f64), ", spread = arg1[at] / ",
                literal(c.count(), DType::f64),
                " - mean * mean, variance = spread > 0 || spread != spread ? spread : 0;\n",
                "arg3[at] = ", store_element(concat("(", computed(w), ")mean"), w),
                ";\narg4[at] = ", store_element(concat("(", computed(w), ")variance"), w), ";\narg5[at] = (",
                c.type(), ")mean;\narg6[at] = (", c.type(), ")((double)", load_element("arg2[at]", w),
                " / sqrt(variance + ", epsilon(b), "));\n"),
         {sums.first, sums.second, b.in(1), b.out(1), b.out(2), mean, scale});
  Chain last;
  last.sizes = c.matrix();
  last.reads = {c.read(0, "x"),
                c.per_channel(mean, "mean"),
                c.per_channel(scale, "scale"),
                {{w, {c.channels}}, 2, "beta"}};
  last.text = concat(c.type(), " y = (x - mean) * scale + beta;\n");
  if (b.node.integer("residual") != 0) {
    last.reads.push_back(c.read(3, "residual"));
    last.text += "y = y + residual;\n";
  }
  if (b.node.string("activation") == "relu") last.text += "y = y < 0 ? 0 : y;\n";
  last.writes = {{"y", c.x.dtype, 0}};
  lower_points(b, last);
}

void batch_norm_grad(Build& b) {
  const Channels c(b.node, 1);
  const DType w = c.weights;
  const bool relu = b.node.string("activation") == "relu";
  const Ref mean = c.scratch(b, c.wide), rstd = c.scratch(b, c.wide);
  b.each(parameters({stored(w), stored(w), c.type(), c.type()}, 2), c.channels,
         concat("arg2[at] = ", load_element("arg0[at]", w), ";\narg3[at] = (", c.type(),
                ")(1 / sqrt((double)", load_element("arg1[at]", w), " + ", epsilon(b), "));\n"),
         {b.in(3), b.in(4), mean, rstd});
  Chain both;
  both.reads = {c.read(0, "dy"), c.read(1, "x"), c.per_channel(mean, "mean"), c.per_channel(rstd, "rstd")};
  if (relu) both.reads.push_back(c.read(5, "y"));
  both.text = concat("const ", c.type(), " dz = ", relu ? "y > 0 ? dy : 0" : "dy", ";\nconst ", c.type(),
                     " normal = (x - mean) * rstd, slope = dz * normal;\n");
  Chain last = both;
  if (b.node.output_count() == 4) {  // what the first pass writes saves the second reading y
    both.writes = {{"dz", c.x.dtype, 3}};
    last.reads = {c.read(1, "x"), c.per_channel(mean, "mean"), c.per_channel(rstd, "rstd"), c.read(0, "dz")};
    last.reads.back().other = b.out(3);
    last.text = concat("const ", c.type(), " normal = (x - mean) * rstd;\n");
  }
  const Sums sums = add_sums(b, c, both, "dz", "slope");
  const Ref a0 = c.scratch(b, c.wide), a1 = c.scratch(b, c.wide), scale = c.scratch(b, c.wide);
  b.each(
      parameters(
          {"double", "double", stored(w), c.type(), stored(w), stored(w), c.type(), c.type(), c.type()}, 4),
      c.channels,
      concat("arg4[at] = ", store_element(concat("(", computed(w), ")arg1[at]"), w),
             ";\narg5[at] = ", store_element(concat("(", computed(w), ")arg0[at]"), w), ";\narg6[at] = (",
             c.type(), ")(arg0[at] / ", literal(c.count(), DType::f64), ");\narg7[at] = (", c.type(),
             ")(arg1[at] / ", literal(c.count(), DType::f64), ");\narg8[at] = ", load_element("arg2[at]", w),
             " * arg3[at];\n"),
      {sums.first, sums.second, b.in(2), rstd, b.out(1), b.out(2), a0, a1, scale});
  last.sizes = c.matrix();
  last.reads.push_back(c.per_channel(a0, "a0"));
  last.reads.push_back(c.per_channel(a1, "a1"));
  last.reads.push_back(c.per_channel(scale, "scale"));
  last.text += concat(c.type(), " dx = (dz - a0 - normal * a1) * scale;\n");
  if (b.node.integer("input_relu") != 0) last.text += "dx = x > 0 ? dx : 0;\n";
  last.writes = {{"dx", c.x.dtype, 0}};
  lower_points(b, last);
}

}  // namespace

std::span<const Op> batch_norm_ops() {
  static const Op ops[] = {
      {.name = "batch_norm", .lower = batch_norm, .knows = knows, .overlap = Op::Overlap::first},
      {.name = "batch_norm_grad", .lower = batch_norm_grad, .knows = knows, .overlap = Op::Overlap::first},
  };
  return ops;
}

}  // namespace plimsoll::cuda
