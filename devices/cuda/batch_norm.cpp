// batch_norm and batch_norm_grad: one pass over x for both sums, whose end makes what all elements of a
// channel share, and one pass that makes y or dx.
#include <algorithm>

#include "chain.h"
#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

// The same in both directions, to the bit: the gradient of a relu behind it asks where it is positive.
constexpr std::string_view kNormalised = "(x - mean) * scale + beta";

std::string epsilon(const Build& b) { return literal(b.node.real("epsilon"), DType::f64); }

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
  // The statistics are stored as they are used.
  bool keeps_statistics() const { return weights == wide; }
  // to[at] = gamma[at] / sqrt(variance + epsilon).
  std::string scale_text(const Build& b, std::string_view to, std::string_view variance) const {
    return concat(to, "[at] = (", type(), ")((double)", load_element("gamma[at]", weights),
                  " / sqrt((double)", variance, " + ", epsilon(b), "));\n");
  }
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

bool knows(const Node& node) { return is_float(node.in(0).dtype); }

// The sums of two values of a chain over all rows, and what is made of them.
void add_sums(Build& b, const Channels& c, Chain& chain, std::string first, std::string second,
              Chain::Finish finish) {
  chain.sizes = c.matrix();
  chain.folds = {{std::move(first), DType::f64, "reduce_sum", {true, false}, 0},
                 {std::move(second), DType::f64, "reduce_sum", {true, false}, 0}};
  chain.finish = std::move(finish);
  lower_folds(b, chain);
}

std::string assign(std::string_view to, DType t, std::string_view value) {
  return concat(to, "[at] = ", store_element(concat("(", computed(t), ")(", value, ")"), t), ";\n");
}

void batch_norm(Build& b) {
  const Channels c(b.node, 0);
  const DType w = c.weights;
  const Ref mean = c.scratch(b, c.wide), scale = c.scratch(b, c.wide);
  const std::string count = literal(c.count(), DType::f64);
  // The gradient makes the scale again from the variance as it is stored.
  const std::string kept = c.keeps_statistics() ? concat("(", c.type(), ")variance") : "variance";
  Chain both;
  both.reads = {c.read(0, "x")};
  both.text = concat("const ", c.type(), " square = x * x;\n");
  add_sums(b, c, both, "x", "square",
           {{{"gamma", stored(w), b.in(1)},
             {"to_mean", stored(w), b.out(1)},
             {"to_variance", stored(w), b.out(2)},
             {"wide_mean", c.type(), mean},
             {"scale", c.type(), scale}},
            concat("const double mean = sum0 / ", count, ", spread = sum1 / ", count,
                   " - mean * mean, variance = spread > 0 || spread != spread ? spread : 0;\n",
                   assign("to_mean", w, "mean"), assign("to_variance", w, "variance"), "wide_mean[at] = (",
                   c.type(), ")mean;\n", c.scale_text(b, "scale", kept))});
  Chain last;
  last.sizes = c.matrix();
  last.reads = {c.read(0, "x"),
                c.per_channel(mean, "mean"),
                c.per_channel(scale, "scale"),
                {{w, {c.channels}}, 2, "beta"}};
  last.text = concat(c.type(), " y = ", kNormalised, ";\n");
  if (b.node.integer("residual") != 0) {
    last.reads.push_back(c.read(3, "residual"));
    last.text += "y = y + residual;\n";
  }
  if (b.node.string("activation") == "relu") last.text += "y = y < 0 ? 0 : y;\n";
  last.writes = {{"y", c.x.dtype, 0}};
  lower_points(b, last);
}

// What a pass over dy and x begins with: dz, the gradient below the relu, and normal, x less its mean. Where
// the relu let something through is seen in y, or, with beta there, in x, which is read anyway.
void begin_gradient(Build& b, const Channels& c, Chain& chain) {
  const bool relu = b.node.string("activation") == "relu";
  const bool from_x = relu && b.node.input_count() == 7 && c.keeps_statistics();
  chain.reads = {c.read(0, "dy"), c.read(1, "x"), {{c.weights, {c.channels}}, 3, "mean"}};
  std::string_view passed;
  if (from_x) {
    const Ref scale = c.scratch(b, c.wide);
    b.each(parameters({stored(c.weights), stored(c.weights), c.type()}, 2), c.channels,
           concat("const auto* const gamma = arg0;\n", c.scale_text(b, "arg2", "arg1[at]")),
           {b.in(2), b.in(4), scale});
    chain.reads.push_back(c.per_channel(scale, "scale"));
    chain.reads.push_back({{c.weights, {c.channels}}, 6, "beta"});
    passed = kNormalised;
  } else if (relu) {
    chain.reads.push_back(c.read(5, "y"));
    passed = "y";
  }
  chain.text = concat("const ", c.type(), " dz = ", relu ? concat(passed, " > 0 ? dy : 0") : "dy", ";\n",
                      "const ", c.type(), " normal = x - mean;\n");
}

void batch_norm_grad(Build& b) {
  const Channels c(b.node, 1);
  const DType w = c.weights;
  Chain both;
  begin_gradient(b, c, both);
  Chain last = both;
  both.text += concat("const ", c.type(), " slope = dz * normal;\n");
  if (b.node.output_count() == 4) {  // what the first pass writes saves the second reading y
    both.writes = {{"dz", c.x.dtype, 3}};
    last.reads = {c.read(1, "x"), {{w, {c.channels}}, 3, "mean"}, c.read(0, "dz")};
    last.reads.back().other = b.out(3);
    last.text = concat("const ", c.type(), " normal = x - mean;\n");
  }
  const Ref a0 = c.scratch(b, c.wide), a1 = c.scratch(b, c.wide), factor = c.scratch(b, c.wide);
  const std::string count = literal(c.count(), DType::f64);
  add_sums(
      b, c, both, "dz", "slope",
      {{{"gamma", stored(w), b.in(2)},
        {"variance", stored(w), b.in(4)},
        {"dgamma", stored(w), b.out(1)},
        {"dbeta", stored(w), b.out(2)},
        {"a0", c.type(), a0},
        {"a1", c.type(), a1},
        {"factor", c.type(), factor}},
       concat("const double rstd = 1 / sqrt((double)", load_element("variance[at]", w), " + ", epsilon(b),
              ");\n", assign("dgamma", w, "sum1 * rstd"), assign("dbeta", w, "sum0"), "a0[at] = (", c.type(),
              ")(sum0 / ", count, ");\na1[at] = (", c.type(), ")(sum1 * rstd * rstd / ", count,
              ");\nfactor[at] = (", c.type(), ")(", load_element("gamma[at]", w), " * rstd);\n")});
  last.sizes = c.matrix();
  last.reads.push_back(c.per_channel(a0, "a0"));
  last.reads.push_back(c.per_channel(a1, "a1"));
  last.reads.push_back(c.per_channel(factor, "factor"));
  last.text += concat(c.type(), " dx = (dz - a0 - normal * a1) * factor;\n");
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
