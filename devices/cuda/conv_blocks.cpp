// A convolution of few channels at a stride of two, such as the first of a network for images, leaves most of
// a tensor core idle. Blocks of 2 x 2 points with the channels of all four are as many points as the result
// has, and the convolution is one at a stride of one over them:
//   x'[n, p, q, (dy, dx, c)] = x[n, 2 p + dy - low, 2 q + dx - low, c],
//   kernel'[r, s, (dy, dx, c), k] = kernel[2 r + dy, 2 s + dx, c, k], zero where there is none.
#include "conv.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

constexpr int64_t kMostChannels = 4, kLeastPoints = 1 << 12;

ConvGeometry blocks_of(const ConvGeometry& g, DType t) {
  const int64_t width = 16 / static_cast<int64_t>(size_of(t));
  ConvGeometry blocks = g;
  blocks.channels = (4 * g.channels + width - 1) / width * width;
  for (size_t i = 0; i < 2; ++i) {
    blocks.window[i] = (g.window[i] + 1) / 2;
    blocks.in[i] = g.out[i] + blocks.window[i] - 1;
    blocks.stride[i] = 1;
    blocks.low[i] = blocks.high[i] = 0;
  }
  return blocks;
}

// Declares dy, dx and c of channel `channel` of a block.
std::string parts_of(const ConvGeometry& g, std::string_view channel) {
  return concat("const int dy = (int)(", channel, ") / ", 2 * g.channels, ", dx = (int)(", channel, ") / ",
                g.channels, " % 2, c = (int)(", channel, ") % ", g.channels, ";\n");
}

void gather_blocks(Build& b, DType t, const ConvGeometry& g, const ConvGeometry& blocks, Ref from, Ref to) {
  const int64_t width = 16 / static_cast<int64_t>(size_of(t));
  const Sizes sizes = {g.batch, blocks.in[0], blocks.in[1], blocks.channels / width};
  const std::string body = concat(
      "struct alignas(16) V { ", moved(t), " at[", width, "]; } v;\n", coordinates(sizes, "at", "index"),
      "#pragma unroll\nfor (int j = 0; j < ", width, "; ++j) {\nconst int channel = (int)i3 * ", width,
      " + j;\n", parts_of(g, "channel"), "const int y = 2 * (int)i1 + dy - ", g.low[0],
      ", x = 2 * (int)i2 + dx - ", g.low[1], ";\nv.at[j] = channel < ", 4 * g.channels, " && y >= 0 && y < ",
      g.in[0], " && x >= 0 && x < ", g.in[1], " ? arg0[(((int64_t)i0 * ", g.in[0], " + y) * ", g.in[1],
      " + x) * ", g.channels, " + c] : 0;\n}\n*(V*)(arg1 + (int64_t)at * ", width, ") = v;\n");
  b.each(parameters({moved(t), moved(t)}, 1), product(sizes), body, {from, to});
}

// (K, window'..., channels'), as cuDNN has kernels, times the scale if there is one.
void gather_kernel(Build& b, DType t, const ConvGeometry& g, const ConvGeometry& blocks, int scale, Ref to) {
  const Sizes sizes = {g.filters, blocks.window[0], blocks.window[1], blocks.channels};
  const std::string from = load_element(
      concat("arg0[((r * ", g.window[1], " + s) * ", g.channels, " + c) * ", g.filters, " + i0]"), t);
  std::vector<std::string_view> types(scale < 0 ? 2 : 3, stored(t));
  std::vector<Ref> args = {b.in(1)};
  if (scale >= 0) args.push_back(b.in(static_cast<size_t>(scale)));
  args.push_back(to);
  b.each(parameters(types, types.size() - 1), product(sizes),
         concat(coordinates(sizes, "at", "index"), parts_of(g, "i3"),
                "const int r = 2 * (int)i1 + dy, s = 2 * (int)i2 + dx;\n", computed(t), " value = 0;\n",
                "if (i3 < ", 4 * g.channels, " && r < ", g.window[0], " && s < ", g.window[1],
                ") value = ", from, scale < 0 ? "" : concat(" * ", load_element("arg1[i0]", t)), ";\narg",
                types.size() - 1, "[at] = ", store_element("value", t), ";\n"),
         std::move(args));
}

// The gradient of kernel' as that of the kernel.
void spread_kernel(Build& b, DType t, const ConvGeometry& g, const ConvGeometry& blocks, Ref from, Ref to) {
  const Sizes sizes = {g.window[0], g.window[1], g.channels, g.filters};
  b.each(parameters({moved(t), moved(t)}, 1), product(sizes),
         concat(coordinates(sizes, "at", "index"), "arg1[at] = arg0[((i3 * ", blocks.window[0],
                " + i0 / 2) * ", blocks.window[1], " + i1 / 2) * ", blocks.channels,
                " + (i0 % 2 * 2 + i1 % 2) * ", g.channels, " + i2];\n"),
         {from, to});
}

}  // namespace

bool has_blocks(const ConvGeometry& g, ConvKind kind) {
  if (kind == ConvKind::grad_input || g.rank != 2 || g.groups != 1 || g.channels > kMostChannels)
    return false;
  for (size_t i = 0; i < 2; ++i)
    if (g.stride[i] != 2 || g.dilation[i] != 1 || g.in_dilation[i] != 1 || g.window[i] < 3 || g.low[i] < 0)
      return false;
  return g.batch * product(g.out) >= kLeastPoints;
}

bool add_block_conv(Build& b, ConvKind kind, const ConvGeometry& g, const ConvEnds& ends) {
  const DType t = b.node.out(0).dtype;
  if (t == DType::f64) return false;
  const ConvGeometry blocks = blocks_of(g, t);
  const int64_t size = static_cast<int64_t>(size_of(t));
  const bool filter = kind == ConvKind::grad_filter;
  const Ref x = b.scratch(g.batch * product(blocks.in) * blocks.channels * size);
  const int64_t kernel_bytes = product(blocks.window) * blocks.channels * g.filters * size;
  std::vector<size_t> weights = {1};
  if (ends.scale >= 0) weights.push_back(static_cast<size_t>(ends.scale));
  gather_blocks(b, t, g, blocks, b.in(0), x);
  const Ref kernel = filter ? b.scratch(kernel_bytes) : b.prepared(kernel_bytes, weights, [&](Ref to) {
    gather_kernel(b, t, g, blocks, ends.scale, to);
  });
  if (!add_cudnn(b, kind, blocks, {x, kernel, filter ? b.in(1) : b.out(0)})) return false;
  if (filter) spread_kernel(b, t, g, blocks, kernel, b.out(0));
  return true;
}

}  // namespace plimsoll::cuda
