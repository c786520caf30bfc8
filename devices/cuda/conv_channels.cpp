// The gradient of a convolution's kernel where that has few channels, as the first of a network for images: a
// sum over all points of a small matrix, which leaves cuDNN's tiles nearly empty. Each warp goes through
// points, 32 at a time, and each of its threads has R by 4 elements of the matrix; the parts of all blocks
// are added up by a reduction.
#include <algorithm>

#include "chain.h"
#include "conv.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostRows = 32, kLeastPoints = 1 << 12, kFilters = 32;

constexpr std::string_view kBody = R"(
__shared__ float shared[8 * 32 * APART];
const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 8, n = lane % 8 * 4, f0 = blockIdx.y * 32;
float* const mine = shared + warp * 32 * APART;
struct alignas(4 * sizeof(T)) Four { T at[4]; };
float sums[R][4] = {};
for (int k = KK; k < APART; ++k) mine[lane * APART + k] = 0;
for (int first = (blockIdx.x * 8 + warp) * 32; first < POINTS; first += gridDim.x * 256) {
  const int point = first + lane, p = point % (OH * OW), top = p / OW * SH - PH, left = p % OW * SW - PW;
  const int64_t image = (int64_t)(point / (OH * OW)) * (H * W);
  __syncwarp();
  #pragma unroll
  for (int k = 0; k < KK; ++k) {
    const int y = top + k / C / KW * DH, x = left + k / C % KW * DW;
    const bool there = point < POINTS && y >= 0 && y < H && x >= 0 && x < W;
    mine[lane * APART + k] = there ? LOAD(from[(image + y * W + x) * C + k % C]) : 0;
  }
  __syncwarp();
  const int count = POINTS - first < 32 ? POINTS - first : 32;
  #pragma unroll 8
  for (int q = 0; q < 32; ++q) {
    if (q >= count) break;
    const Four d = *(const Four*)(dy + (int64_t)(first + q) * F + f0 + n);
    #pragma unroll
    for (int i = 0; i < R; ++i) {
      const float v = mine[q * APART + group * R + i];
      #pragma unroll
      for (int j = 0; j < 4; ++j) sums[i][j] = fmaf(v, LOAD(d.at[j]), sums[i][j]);
    }
  }
}
__syncthreads();
#pragma unroll
for (int i = 0; i < R; ++i)
  #pragma unroll
  for (int j = 0; j < 4; ++j) shared[(warp * 4 * R + group * R + i) * 32 + n + j] = sums[i][j];
__syncthreads();
for (int at = threadIdx.x; at < KK * 32; at += 256) {
  float sum = 0;
  #pragma unroll
  for (int w = 0; w < 8; ++w) sum += shared[w * 4 * R * 32 + at];
  parts[((int64_t)blockIdx.x * KK + at / 32) * F + f0 + at % 32] = sum;
}
}
)";

}  // namespace

bool has_few_channels(const ConvGeometry& g, ConvKind kind, DType t) {
  if (kind != ConvKind::grad_filter || g.rank != 2 || g.groups != 1 || t == DType::f64) return false;
  const int64_t points = g.batch * product(g.out), rows = product(g.window) * g.channels;
  return g.in_dilation[0] == 1 && g.in_dilation[1] == 1 && rows > 0 && rows <= kMostRows &&
         g.filters % kFilters == 0 && g.filters > 0 && points >= kLeastPoints && points < (1 << 30) &&
         g.batch * product(g.in) < (1 << 30);
}

void add_channels_conv(Build& b, const ConvGeometry& g) {
  const DType t = b.node.out(0).dtype;
  const int64_t points = g.batch * product(g.out), rows = product(g.window) * g.channels,
                each = (rows + 3) / 4;
  const int64_t blocks = std::min<int64_t>(2 * std::max(1, b.device.multiprocessors), (points + 255) / 256);
  const Ref parts = b.scratch(blocks * rows * g.filters * 4);
  const std::string_view type = stored(t);
  Launch launch;
  launch.blocks = blocks;
  launch.blocks_y = g.filters / kFilters;
  launch.threads = kThreads;
  b.launch(
      concat(b.node.op(), " of few channels"),
      concat("#define LOAD(x) (", load_element("x", t),
             ")\nextern \"C\" __global__ void __launch_bounds__(256) KERNEL(const ", type, "* from, const ",
             type, "* dy, float* parts) {\ntypedef ", type, " T;\nenum { POINTS = ", points, ", F = ",
             g.filters, ", C = ", g.channels, ", H = ", g.in[0], ", W = ", g.in[1], ", OH = ", g.out[0],
             ", OW = ", g.out[1], ", KW = ", g.window[1], ", SH = ", g.stride[0], ", SW = ", g.stride[1],
             ",\nPH = ", g.low[0], ", PW = ", g.low[1], ", DH = ", g.dilation[0], ", DW = ", g.dilation[1],
             ", KK = ", rows, ", R = ", each, ", APART = ", 4 * each + 1, " };", kBody, "#undef LOAD\n"),
      launch, {b.in(0), b.in(1), parts});
  Chain sums;
  sums.sizes = {blocks, rows * g.filters};
  sums.reads = {{{DType::f32, sums.sizes}, 0, "x0", parts}};
  sums.folds = {{"x0", t, "reduce_sum", {true, false}, 0}};
  lower_folds(b, sums);
}

}  // namespace plimsoll::cuda
