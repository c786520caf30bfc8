// Convolutions of few points, as those of a single image, in one launch: a product of matrices on tensor cores
// that gathers its windows on the way, with bias, residual and ReLU at its end. There are more multiprocessors
// than tiles of the result, so several blocks share one and split its channels; the last of them to end adds
// their parts up, always in the same order.
#include <algorithm>
#include <bit>

#include "conv.h"
#include "mma_text.h"
#include "steady.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

constexpr int64_t kRows = 64, kStages = 4, kMostPoints = 1 << 14, kMostSplits = 16, kLeastSteps = 3;
constexpr int kThreads = 128;

struct Tiles {
  Tiles(const Build& b, const ConvGeometry& g, DType t, int64_t columns)
      : columns(columns),
        size(static_cast<int64_t>(size_of(t))),
        depth(128 / size),
        points(g.batch * product(g.out)),
        inner(product(g.window) * g.channels),
        steps((inner + depth - 1) / depth),
        tiles((points + kRows - 1) / kRows * (g.filters / columns)) {
    const int64_t wanted = 2 * std::max(1, b.device.multiprocessors) / tiles;
    const int64_t most = std::clamp<int64_t>(std::min(wanted, steps / kLeastSteps), 1, kMostSplits);
    splits = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
  }

  // Rows of both tiles are padded, so that the threads of a warp read from different banks.
  int64_t row_a() const { return depth + 8; }
  int64_t row_b() const { return columns + 16 / size; }
  int64_t stage() const { return kRows * row_a() + depth * row_b(); }

  int64_t columns, size, depth;  // depth: of the contracted index in one step
  int64_t points, inner, steps, tiles, splits;
};

std::string names(const ConvGeometry& g, const Tiles& s, DType t) {
  return concat("typedef of_", source_type(t).suffix, " E;\ntypedef E::stored T;\nenum { POINTS = ", s.points,
                ", N = ", g.filters, ", K = ", s.inner, ", C = ", g.channels, ", H = ", g.in[0],
                ", W = ", g.in[1], ", OH = ", g.out[0], ", OW = ", g.out[1], ", KW = ", g.window[1],
                ",\nSH = ", g.stride[0], ", SW = ", g.stride[1], ", PH = ", g.low[0], ", PW = ", g.low[1],
                ", DH = ", g.dilation[0], ", DW = ", g.dilation[1], ",\nROWS = ", kRows,
                ", COLUMNS = ", s.columns, ", DEPTH = ", s.depth, ", EACH = ", 16 / s.size,
                ", LA = ", s.row_a(), ", LB = ", s.row_b(), ", STAGE = ", s.stage(), ", STAGES = ", kStages,
                ", STEPS = ", s.steps, ", SPLITS = ", s.splits, " };\n");
}

constexpr std::string_view kGather = R"(
DYNAMIC_SHARED(shared);
T* const stages = (T*)shared;
const int tid = threadIdx.x, g = tid % 32 / 4, t = tid % 4, warp = tid / 32;
const int tile = blockIdx.x, split = blockIdx.y, m0 = tile / (N / COLUMNS) * ROWS, n0 = tile % (N / COLUMNS) * COLUMNS;
const int column = tid % 8 * EACH;
int64_t image[ROWS / 16];
int top[ROWS / 16], left[ROWS / 16];
#pragma unroll
for (int j = 0; j < ROWS / 16; ++j) {
  const int m = m0 + tid / 8 + 16 * j, p = m % (OH * OW);
  image[j] = (int64_t)(m / (OH * OW)) * (H * W);
  top[j] = m < POINTS ? p / OW * SH - PH : -(1 << 28);
  left[j] = p % OW * SW - PW;
}
const auto load = [&](int step, int stage) {
  T* const a = stages + stage * STAGE;
  T* const b = a + ROWS * LA;
  const int k = step * DEPTH + column, c = k % C, r = k / C / KW * DH, s = k / C % KW * DW;
  #pragma unroll
  for (int j = 0; j < ROWS / 16; ++j) {
    const int y = top[j] + r, x = left[j] + s;
    const bool there = k < K && y >= 0 && y < H && x >= 0 && x < W;
    copy_16(a + (tid / 8 + 16 * j) * LA + column, there ? from + (image[j] + y * W + x) * C + c : from, there);
  }
  #pragma unroll
  for (int i = tid; i < DEPTH * (COLUMNS / EACH); i += 128) {
    const int row = i / (COLUMNS / EACH), n = i % (COLUMNS / EACH) * EACH, at = step * DEPTH + row;
    copy_16(b + row * LB + n, at < K ? kernel + (int64_t)at * N + n0 + n : kernel, at < K);
  }
};
const int first = STEPS * split / SPLITS, last = STEPS * (split + 1) / SPLITS;
for (int i = 0; i < STAGES - 1; ++i) {
  if (first + i < last) load(first + i, i);
  copies_end();
}
float sums[COLUMNS / 8][4] = {};
for (int step = first; step < last; ++step) {
  copies_wait<STAGES - 2>();
  __syncthreads();
  if (step + STAGES - 1 < last) load(step + STAGES - 1, (step - first + STAGES - 1) % STAGES);
  copies_end();
  const T* const a = stages + (step - first) % STAGES * STAGE + (warp * 16 + g) * LA;
  const T* const b = stages + (step - first) % STAGES * STAGE + ROWS * LA;
  #pragma unroll
  for (int k = 0; k < DEPTH; k += E::step) {
    unsigned fa[4];
    E::pairs_a(a, a + 8 * LA, k, t, fa);
    #pragma unroll
    for (int n = 0; n < COLUMNS / 8; ++n) {
      unsigned fb[2];
      E::cols_b(b + k * LB + n * 8, LB, g, t, fb);
      E::mma(sums[n], fa, fb);
    }
  }
}
)";

// Parts go to memory, 16 bytes of a thread beside those of its neighbours; who takes the last ticket goes on.
constexpr std::string_view kAddUp = R"(
float* const own = parts + ((int64_t)tile * SPLITS + split) * (ROWS * COLUMNS);
struct alignas(16) Four { float at[4]; };
#pragma unroll
for (int i = 0; i < COLUMNS / 8; ++i)
  *(Four*)(own + (i * 128 + tid) * 4) = Four{{sums[i][0], sums[i][1], sums[i][2], sums[i][3]}};
__threadfence();
__syncthreads();
if (__syncthreads_or(tid == 0 && atomicAdd(tickets + tile, 1u) == SPLITS - 1) == 0) return;
if (tid == 0) tickets[tile] = 0;
__threadfence();
const float* const all = parts + (int64_t)tile * SPLITS * (ROWS * COLUMNS);
enum { AT_ONCE = SPLITS < 4 ? SPLITS : 4 };
for (int begin = 0; begin < SPLITS; begin += AT_ONCE) {
  unsigned part[AT_ONCE][COLUMNS / 8][4];
  #pragma unroll
  for (int j = 0; j < AT_ONCE; ++j)
    #pragma unroll
    for (int i = 0; i < COLUMNS / 8; ++i) read_16(all + (begin + j) * (ROWS * COLUMNS) + (i * 128 + tid) * 4, part[j][i]);
  #pragma unroll
  for (int j = 0; j < AT_ONCE; ++j)
    #pragma unroll
    for (int i = 0; i < COLUMNS / 2; ++i)
      sums[i / 4][i % 4] = (begin + j == 0 ? 0 : sums[i / 4][i % 4]) + __uint_as_float(part[j][i / 4][i % 4]);
}
)";

std::string ends_text(const ConvEnds& ends, DType t) {
  std::string text =
      "#pragma unroll\nfor (int half = 0; half < 2; ++half) {\nconst int m = m0 + warp * 16 + g + 8 * half;\n"
      "if (m >= POINTS) continue;\n#pragma unroll\nfor (int i = 0; i < COLUMNS / 8; ++i) {\n"
      "const int n = n0 + i * 8 + 2 * t;\nfloat v[2];\n#pragma unroll\nfor (int j = 0; j < 2; ++j) {\n"
      "v[j] = sums[i][2 * half + j];\n";
  if (ends.bias >= 0) text += concat("v[j] += ", load_element("bias[n + j]", t), ";\n");
  if (ends.residual >= 0)
    text += concat("v[j] += ", load_element("residual[(int64_t)m * N + n + j]", t), ";\n");
  if (ends.relu) text += "v[j] = v[j] < 0 ? 0 : v[j];\n";
  return text + "}\nE::write_2(to + (int64_t)m * N + n, v[0], v[1]);\n}\n}\n";
}

}  // namespace

bool has_few_points(const Build& b, const ConvGeometry& g, ConvKind kind) {
  const DType t = b.node.out(0).dtype;
  const bool halves = t == DType::f16 || t == DType::bf16;
  if (!halves && !(t == DType::f32 && b.device.options.tf32)) return false;
  const int64_t each = 16 / static_cast<int64_t>(size_of(t));
  if (writes_variables(b.node.graph())) return false;  // tickets would be zeroed in every run
  if (kind != ConvKind::forward || g.rank != 2 || g.groups != 1 || b.device.capability < 80) return false;
  const int64_t points = g.batch * product(g.out);
  return g.in_dilation[0] == 1 && g.in_dilation[1] == 1 && g.channels > 0 && g.channels % each == 0 &&
         g.filters > 0 && g.filters % 32 == 0 && points > 0 && points <= kMostPoints &&
         product(g.window) * g.channels < (1 << 24) && g.batch * product(g.in) < (1 << 28);
}

void add_points_conv(Build& b, const ConvGeometry& g, const ConvEnds& ends, Ref kernel, int64_t columns) {
  const DType t = b.node.out(0).dtype;
  const Tiles s(b, g, t, g.filters % columns == 0 ? columns : 32);
  const std::string_view type = stored(t);
  std::string parameters = concat("const ", type, "* from, const ", type, "* kernel");
  std::vector<Ref> args = {b.in(0), kernel};
  const auto add = [&](std::string_view what, int input) {
    if (input < 0) return;
    parameters += concat(", const ", type, "* ", what);
    args.push_back(b.in(static_cast<size_t>(input)));
  };
  add("bias", ends.bias);
  add("residual", ends.residual);
  parameters += concat(", ", type, "* to");
  args.push_back(b.out(0));
  if (s.splits > 1) {
    parameters += ", float* parts, unsigned* tickets";
    args.push_back(b.scratch(s.tiles * s.splits * kRows * s.columns * 4));
    // Zeros before the first run; whoever takes the last ticket puts it back.
    args.push_back(b.prepared(s.tiles * 4, {1}, [&](Ref to) { b.zero(to, s.tiles * 4); }));
  }
  Launch launch;
  launch.blocks = s.tiles;
  launch.blocks_y = s.splits;
  launch.threads = kThreads;
  launch.shared_bytes = kStages * s.stage() * s.size;
  b.launch(concat(b.node.op(), " of few points"),
           concat(mma_functions(), "extern \"C\" __global__ void __launch_bounds__(", kThreads, ") KERNEL(",
                  parameters, ") {\n", names(g, s, t), kGather, s.splits > 1 ? kAddUp : "",
                  ends_text(ends, t), "}\n"),
           launch, std::move(args));
}

}  // namespace plimsoll::cuda
