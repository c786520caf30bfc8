// Convolution of 1 to 3 spatial axes, channels last, and its gradients, one thread per element of the result.
// x is (N, in..., C), the kernel (window..., C / groups, K), y is (N, out..., K), and y[n, o, k] = sum over
// w, c of x'[n, o * stride + w * dilation - pad_low, c] * kernel[w, c, k], where x' is x with in_dilation - 1
// zeros between its elements and zeros around it.
#include "conv.h"

#include "chain.h"
#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

// Text of the loops around a convolution.
struct Geometry : ConvGeometry {
  using ConvGeometry::ConvGeometry;

  std::string loop(std::string_view letter, size_t i, int64_t size) const {
    return concat("for (int64_t ", letter, i, " = 0; ", letter, i, " < ", size, "; ++", letter, i, ") {\n");
  }
  // Goes on only where point o of y and point w of the window meet a point of x, which it declares as p.
  std::string meet(size_t i) const {
    return concat("const int64_t t", i, " = o", i, " * ", stride[i], " + w", i, " * ", dilation[i], " - ",
                  low[i], ";\nif (t", i, " < 0 || t", i, " % ", in_dilation[i], " != 0 || t", i, " / ",
                  in_dilation[i], " >= ", in[i], ") continue;\nconst int64_t p", i, " = t", i, " / ",
                  in_dilation[i], ";\n");
  }
  // The number of a point with coordinates (letter)0, (letter)1, ...
  std::string number(std::string_view letter, const Sizes& sizes) const {
    std::string text = "0";
    for (size_t i = 0; i < rank; ++i) text = concat("(", text, ") * ", sizes[i], " + ", letter, i);
    return concat("(", text, ")");
  }
  std::string x_at(std::string_view c) const {
    return concat("((int64_t)n * ", product(in), " + ", number("p", in), ") * ", channels, " + ", c);
  }
  std::string y_at(std::string_view k) const {
    return concat("((int64_t)n * ", product(out), " + ", number("o", out), ") * ", filters, " + ", k);
  }
  std::string kernel_at(std::string_view c, std::string_view k) const {
    return concat("(", number("w", window), " * ", group_channels(), " + ", c, ") * ", filters, " + ", k);
  }
  std::string close(size_t braces) const {
    std::string text;
    for (size_t i = 0; i < braces; ++i) text += "}\n";
    return text;
  }
};

// "const int64_t n = i0, o0 = i1, o1 = i2, k = i3;"
std::string renamed(std::string_view first, std::string_view letter, size_t rank, std::string_view last) {
  std::string text = concat("const int64_t ", first, " = i0");
  for (size_t i = 0; i < rank; ++i) text += concat(", ", letter, i, " = i", i + 1);
  return concat(text, ", ", last, " = i", rank + 1, ";\n");
}

// `body` adds products to `sum`; the operands are arg0 and arg1.
void each_sum(Build& b, std::string_view body) {
  const Type out = b.node.out(0);
  const DType t = out.dtype;
  b.each(parameters({stored(t), stored(t), stored(t)}, 2), out.count(),
         concat(coordinates(out.sizes, "at", "index"), "double sum = 0;\n", body,
                "arg2[at] = ", store_element(concat("(", computed(t), ")sum"), t), ";\n"),
         {b.in(0), b.in(1), b.out(0)});
}

std::string product_text(DType t, const std::string& a, const std::string& at, const std::string& other,
                         const std::string& other_at) {
  return concat("sum += (double)", load_element(concat(a, "[", at, "]"), t), " * (double)",
                load_element(concat(other, "[", other_at, "]"), t), ";\n");
}

void plain_conv(Build& b, const Geometry& g);

void conv(Build& b) {
  const Geometry g(b.node, b.node.in(0), b.node.in(1), b.node.out(0));
  if (!add_library_conv(b, ConvKind::forward, g)) plain_conv(b, g);
}

ConvEnds ends_of(const Node& node) {
  ConvEnds ends;
  int next = 2;
  ends.bias = next++;
  if (node.integer("scale") != 0) ends.scale = next++;
  if (node.integer("residual") != 0) ends.residual = next++;
  ends.relu = node.string("activation") == "relu";
  return ends;
}

// Behind a convolution of cuDNN they are a pass of their own: decomposed, it joins what comes next, or moves
// behind a pooling.
bool knows_conv_bias(const Node& node) {
  const std::string_view activation = node.string("activation");
  const Type out = node.out(0);
  return (activation == "linear" || activation == "relu") && is_float(out.dtype) &&
         (node.integer("scale") != 0 || node.integer("residual") != 0 ||
          may_be_product({node, node.in(0), node.in(1), out}, ConvKind::forward, out.dtype));
}

void conv_bias(Build& b) {
  const Geometry g(b.node, b.node.in(0), b.node.in(1), b.node.out(0));
  const ConvEnds ends = ends_of(b.node);
  if (add_library_conv(b, ConvKind::forward, g, ends)) return;
  plain_conv(b, g);
  add_ends(b, ends, false);
}

void plain_conv(Build& b, const Geometry& g) {
  std::string body = renamed("n", "o", g.rank, "k");
  for (size_t i = 0; i < g.rank; ++i) body += g.loop("w", i, g.window[i]) + g.meet(i);
  body += concat("for (int64_t c = 0; c < ", g.group_channels(), "; ++c)\n",
                 product_text(b.node.out(0).dtype, "arg0",
                              g.x_at(concat("k / ", g.group_filters(), " * ", g.group_channels(), " + c")),
                              "arg1", g.kernel_at("c", "k")),
                 g.close(g.rank));
  each_sum(b, body);
}

void conv_grad_input(Build& b) {
  const Geometry g(b.node, b.node.out(0), b.node.in(1), b.node.in(0));
  if (add_library_conv(b, ConvKind::grad_input, g)) return;
  std::string body = renamed("n", "p", g.rank, "c");
  for (size_t i = 0; i < g.rank; ++i)
    body += concat(g.loop("w", i, g.window[i]), "const int64_t s", i, " = p", i, " * ", g.in_dilation[i],
                   " + ", g.low[i], " - w", i, " * ", g.dilation[i], ";\nif (s", i, " < 0 || s", i, " % ",
                   g.stride[i], " != 0 || s", i, " / ", g.stride[i], " >= ", g.out[i],
                   ") continue;\nconst int64_t o", i, " = s", i, " / ", g.stride[i], ";\n");
  body += concat("const int64_t first = c / ", g.group_channels(), " * ", g.group_filters(), ";\n",
                 "for (int64_t k = first; k < first + ", g.group_filters(), "; ++k)\n",
                 product_text(b.node.out(0).dtype, "arg0", g.y_at("k"), "arg1",
                              g.kernel_at(concat("c % ", g.group_channels()), "k")),
                 g.close(g.rank));
  each_sum(b, body);
}

void plain_grad_filter(Build& b, const Geometry& g) {
  std::string body = "const int64_t ";
  for (size_t i = 0; i < g.rank; ++i) body += concat("w", i, " = i", i, ", ");
  body += concat("c = i", g.rank, ", k = i", g.rank + 1, ";\n", "for (int64_t n = 0; n < ", g.batch,
                 "; ++n) {\n");
  for (size_t i = 0; i < g.rank; ++i) body += g.loop("o", i, g.out[i]) + g.meet(i);
  body += product_text(b.node.out(0).dtype, "arg0",
                       g.x_at(concat("k / ", g.group_filters(), " * ", g.group_channels(), " + c")), "arg1",
                       g.y_at("k")) +
          g.close(g.rank + 1);
  each_sum(b, body);
}

// With a second output, the sums of dy over all axes but the last: the gradient of a bias.
void conv_grad_filter(Build& b) {
  const Geometry g(b.node, b.node.in(0), b.node.out(0), b.node.in(1));
  if (!add_library_conv(b, ConvKind::grad_filter, g)) plain_grad_filter(b, g);
  if (b.node.output_count() < 2) return;
  const Type dy = b.node.in(1);
  Chain sums;
  sums.sizes = dy.sizes;
  sums.reads = {{dy, 1, "x0"}};
  std::vector<bool> reduced(dy.sizes.size(), true);
  reduced.back() = false;
  sums.folds = {{"x0", dy.dtype, "reduce_sum", reduced, 1}};
  lower_folds(b, sums);
}

}  // namespace

ConvGeometry::ConvGeometry(const Node& node, const Type& x, const Type& kernel, const Type& y)
    : rank(x.sizes.size() - 2),
      batch(x.sizes[0]),
      channels(x.sizes.back()),
      filters(kernel.sizes.back()),
      groups(node.integer("groups")) {
  for (size_t i = 0; i < rank; ++i) {
    in.push_back(x.sizes[1 + i]);
    window.push_back(kernel.sizes[i]);
    out.push_back(y.sizes[1 + i]);
    stride.push_back(node.item("strides", i, 1));
    low.push_back(node.item("pad_low", i, 0));
    high.push_back(node.item("pad_high", i, 0));
    in_dilation.push_back(node.item("lhs_dilation", i, 1));
    dilation.push_back(node.item("rhs_dilation", i, 1));
  }
}

std::span<const Op> conv_ops() {
  static const Op ops[] = {
      {.name = "conv", .lower = conv},
      {.name = "conv_bias", .lower = conv_bias, .knows = knows_conv_bias},
      {.name = "conv_grad_input", .lower = conv_grad_input},
      {.name = "conv_grad_filter", .lower = conv_grad_filter},
  };
  return ops;
}

}  // namespace plimsoll::cuda
