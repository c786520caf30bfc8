// Convolutions as products of matrices by cuBLASLt, beside cuDNN.
#include <bit>

#include "chain.h"
#include "conv.h"
#include "libraries.h"
#include "matmul.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

// A window of one point: a product of matrices.
bool is_product(const ConvGeometry& g, DType t) {
  for (size_t i = 0; i < g.rank; ++i)
    if (g.window[i] != 1 || g.stride[i] != 1 || g.low[i] != 0 || g.high[i] != 0 || g.in_dilation[i] != 1)
      return false;
  return g.groups == 1 && t != DType::f64 && g.batch * product(g.in) * g.channels * g.filters > 0;
}

// Where x is small, as that of a single image, a product is faster too: of the windows' points, written out
// as rows, with the kernel. cuDNN has too few blocks then to fill a GPU.
constexpr int64_t kMostColumns = 16 << 20;  // bytes

bool has_columns(const ConvGeometry& g, DType t) {
  for (size_t i = 0; i < g.rank; ++i)
    if (g.in_dilation[i] != 1) return false;
  const int64_t size = static_cast<int64_t>(size_of(t)), rest = product(g.window) * g.channels,
                rows = g.batch * product(g.out);
  return g.groups == 1 && t != DType::f64 && rest > 0 && g.filters > 0 && rest * size % 16 == 0 &&
         g.filters * size % 16 == 0 && rows > 0 && rows <= kMostColumns / (rest * size);
}

// Rows of (window..., channels) for each point of y; up to 16 bytes at once.
Ref add_columns(Build& b, const ConvGeometry& g, DType t) {
  static constexpr std::string_view kTypes[] = {"uint16_t", "uint32_t", "uint64_t", "ulonglong2"};
  const int64_t size = static_cast<int64_t>(size_of(t));
  int64_t width = 16 / size;
  while (g.channels % width != 0) width /= 2;
  const std::string_view type = kTypes[std::countr_zero(static_cast<uint64_t>(width * size)) - 1];
  Sizes sizes = {g.batch};
  sizes.insert(sizes.end(), g.out.begin(), g.out.end());
  sizes.insert(sizes.end(), g.window.begin(), g.window.end());
  sizes.push_back(g.channels / width);
  std::string body = concat(coordinates(sizes, "at", "index"), type, " value = {};\n"), inside = "true",
              from = "(int64_t)i0";
  for (size_t d = 0; d < g.rank; ++d) {
    body += concat("const int64_t p", d, " = (int64_t)i", 1 + d, " * ", g.stride[d], " + (int64_t)i",
                   1 + g.rank + d, " * ", g.dilation[d], " - ", g.low[d], ";\n");
    inside += concat(" && p", d, " >= 0 && p", d, " < ", g.in[d]);
    from = concat("(", from, " * ", g.in[d], " + p", d, ")");
  }
  body += concat("if (", inside, ") value = arg0[", from, " * ", g.channels / width, " + i", 1 + 2 * g.rank,
                 "];\narg1[at] = value;\n");
  const Ref columns = b.scratch(product(sizes) * width * size);
  b.each(parameters({type, type}, 1), product(sizes), body, {b.in(0), columns});
  return columns;
}

// The kernel times the scale, in its own order of axes.
Ref scaled_kernel(Build& b, const ConvGeometry& g, DType t, size_t scale) {
  const int64_t count = product(g.window) * g.channels * g.filters;
  return b.prepared(count * static_cast<int64_t>(size_of(t)), {1, scale}, [&](Ref to) {
    b.each(parameters({stored(t), stored(t), stored(t)}, 2), count,
           concat("arg2[at] = ",
                  store_element(concat(load_element("arg0[at]", t), " * ",
                                       load_element(concat("arg1[at % ", g.filters, "]"), t)),
                                t),
                  ";\n"),
           {b.in(1), b.in(scale), to});
  });
}

void add_product(Build& b, ConvKind kind, const ConvGeometry& g, const ConvEnds& ends = {}) {
  const int64_t points = g.batch * product(g.in);
  Matmul m;
  m.dtype = b.node.out(0).dtype;
  m.a = b.in(0);
  m.b = b.in(1);
  m.out = b.out(0);
  switch (kind) {
    case ConvKind::forward:
      m.m = g.batch * product(g.out), m.k = product(g.window) * g.channels, m.n = g.filters;
      if (!is_product(g, m.dtype)) m.a = add_columns(b, g, m.dtype);
      break;
    case ConvKind::grad_input:
      m.m = points, m.k = g.filters, m.n = g.channels;
      m.b_transposed = true;
      break;
    case ConvKind::grad_filter:
      m.m = g.channels, m.k = points, m.n = g.filters;
      m.a_transposed = true;
      break;
  }
  if (ends.scale >= 0) m.b = scaled_kernel(b, g, m.dtype, static_cast<size_t>(ends.scale));
  if (ends.bias >= 0) {
    m.has_bias = true;
    m.relu = ends.relu;
    m.bias = b.in(static_cast<size_t>(ends.bias));
  }
  if (ends.residual >= 0) {
    m.has_addend = true;
    m.addend = b.in(static_cast<size_t>(ends.residual));
  }
  add_matmul(b, m);
}

// Over blocks or not; the other way where cuDNN cannot.
void add_either(Build& b, ConvKind kind, const ConvGeometry& g, const ConvEnds& ends, bool blocks) {
  const bool added = blocks ? add_block_conv(b, kind, g, ends) || add_cudnn_conv(b, kind, g, ends)
                            : add_cudnn_conv(b, kind, g, ends) || add_block_conv(b, kind, g, ends);
  if (!added) fail(ErrorKind::unsupported, b.node.op(), "cuDNN has no engine for it");
}

std::string ways_key(const Build& b, ConvKind kind, const ConvGeometry& g) {
  std::string key = concat("ways", static_cast<int>(kind), "_", b.node.op(), "_", b.node.out(0).dtype, "_",
                           g.batch, "_", g.channels, "_", g.filters);
  for (const Sizes* const list : {&g.in, &g.window, &g.stride, &g.low, &g.dilation})
    for (const int64_t size : *list) key += concat("_", size);
  return key;
}

}  // namespace

bool may_be_product(const ConvGeometry& g, ConvKind kind, DType t) {
  return is_product(g, t) || (kind == ConvKind::forward && has_columns(g, t));
}

void add_ends(Build& b, const ConvEnds& ends, bool scaled) {
  const Type out = b.node.out(0);
  const std::string_view type = computed(out.dtype);
  Chain chain;
  chain.sizes = out.sizes;
  chain.reads = {{out, 0, "x0", b.out(0)}};
  std::string value = "x0";
  const auto read = [&](int input) {
    const auto i = static_cast<size_t>(input);
    chain.reads.push_back({b.node.in(i), i, concat("x", chain.reads.size())});
    return chain.reads.back().variable;
  };
  if (ends.scale >= 0 && !scaled) value = concat(value, " * ", read(ends.scale));
  value = concat(value, " + ", read(ends.bias));
  if (ends.residual >= 0) value = concat(value, " + ", read(ends.residual));
  chain.text = concat("const ", type, " y0 = ", value, ";\nconst ", type,
                      " y1 = ", ends.relu ? "y0 < 0 ? 0 : y0" : "y0", ";\n");
  chain.writes = {{"y1", out.dtype, 0}};
  lower_points(b, chain);
}

bool add_library_conv(Build& b, ConvKind kind, const ConvGeometry& g, const ConvEnds& ends) {
  const bool has_ends = ends.bias >= 0;
  const auto by_cudnn = [&] {
    if (cudnn() != nullptr && has_blocks(g, kind)) {
      b.fastest("blocks_" + ways_key(b, kind, g),
                {[&] { add_either(b, kind, g, ends, false); }, [&] { add_either(b, kind, g, ends, true); }});
    } else if (!add_cudnn_conv(b, kind, g, ends)) {
      return false;
    }
    if (has_ends) add_ends(b, ends, true);
    return true;
  };
  const DType t = b.node.out(0).dtype;
  if (has_few_channels(g, kind, t)) {
    const auto by_channels = [&] { add_channels_conv(b, g); };
    if (cudnn() == nullptr) return by_channels(), true;
    b.fastest(concat("channels_", ways_key(b, kind, g)), {by_channels, [&] {
                                                            if (!by_cudnn()) by_channels();
                                                          }});
    return true;
  }
  if (!may_be_product(g, kind, t)) return by_cudnn();
  if (cudnn() == nullptr) return add_product(b, kind, g, ends), true;
  b.fastest(ways_key(b, kind, g), {[&] { add_product(b, kind, g, ends); },
                                   [&] {
                                     if (!by_cudnn()) add_product(b, kind, g, ends);
                                   }});
  return true;
}

}  // namespace plimsoll::cuda
