// attention and attention_grad with tensor cores, block by block: the matrix of scores is never in memory. A
// block has 64 queries (for dk and dv: 64 keys), a warp 16 of them; the other side passes by in tiles of 64
// through shared memory. Halves, and float32 where TF32 is asked for; everything else is decomposed.
#include <algorithm>

#include "chain.h"
#include "mma_text.h"
#include "ops.h"
#include "row_text.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

constexpr int64_t kTile = 64, kThreads = 128;

struct Heads {
  int64_t batch, queries, keys, heads, width;
  bool causal, bias;

  Heads(const Node& node, bool has_bias)
      : batch(node.in(0).sizes[0]),
        queries(node.in(0).sizes[1]),
        keys(node.in(1).sizes[1]),
        heads(node.in(0).sizes[2]),
        width(node.in(0).sizes[3]),
        causal(node.integer("causal") != 0),
        bias(has_bias) {}
  static int64_t tiles(int64_t n) { return (n + kTile - 1) / kTile; }
};

bool fits(const plimsoll_device& device, const Node& node) {
  const DType t = node.in(0).dtype;
  const bool halves = t == DType::f16 || t == DType::bf16;
  if (!halves && !(t == DType::f32 && device.options.tf32)) return false;
  const Heads h(node, false);
  return device.capability >= 80 && h.width % 16 == 0 && h.width <= 64 && node.in(2).sizes[3] == h.width &&
         h.batch * h.heads > 0 && h.batch * h.heads <= 65535 && h.queries > 0 && h.keys > 0;
}

// With a bias it is decomposed: where that hides every key from a query, the log-sum-exp is the maximum of
// its scores, the sum lost in rounding, and probabilities must be summed up again.
bool grad_fits(const plimsoll_device& device, const Node& node) {
  return fits(device, node) && node.integer("bias") == 0;
}

// Names and functions that all kernels here begin with.
std::string begin(const Build& b, const Heads& h, std::string_view parameters) {
  const DType t = b.node.in(0).dtype;
  std::string text = concat(
      mma_functions(), "extern \"C\" __global__ void __launch_bounds__(", kThreads, ") KERNEL(", parameters,
      ") {\ntypedef of_", source_type(t).suffix, " E;\ntypedef E::stored T;\nenum { D = ", h.width,
      ", TQ = ", h.queries, ", TK = ", h.keys, ", H = ", h.heads,
      ", S = D + E::pad, KS = E::step };\nDYNAMIC_SHARED(bytes);\n",
      "T* const tile0 = (T*)bytes; T* const tile1 = tile0 + 64 * S;\nconst int lane = threadIdx.x % 32, warp "
      "= threadIdx.x / 32, "
      "g = lane / 4, t = lane % 4;\nconst int64_t head = blockIdx.y, batch = head / H, apart = (int64_t)H * "
      "D;\n"
      "const int64_t of_q = (batch * TQ * H + head % H) * D, of_k = (batch * TK * H + head % H) * D;\n"
      "const int mine = blockIdx.x * 64 + warp * 16;\nconst float log2e = 1.4426950408889634f, scale = ",
      literal(b.node.real("scale"), DType::f32), ";\n");
  if (h.bias) {
    const Sizes s = broadcast_strides(b.node.in(3).sizes, {h.batch, h.heads, h.queries, h.keys});
    text += concat("bias += batch * ", s[0], " + head % H * ", s[1], ";\n");
  }
  return text;
}

// `x`, a score before scaling, as a power of two; query and key are named.
std::string score(const Build& b, const Heads& h) {
  std::string text = "x = x * scale;\n";
  if (h.bias) {
    const Sizes s = broadcast_strides(b.node.in(3).sizes, {h.batch, h.heads, h.queries, h.keys});
    text += concat("if (query < TQ && key < TK) x += ",
                   load_element(concat("bias[query * ", s[2], " + key * ", s[3], "]"), b.node.in(0).dtype),
                   ";\n");
  }
  return concat(text, "x = key >= TK", h.causal ? " || key > query" : "", " ? -INFINITY : x * log2e;\n");
}

int64_t shared_bytes(const Build& b, const Heads& h) {
  const int64_t size = static_cast<int64_t>(size_of(b.node.in(0).dtype));
  return 2 * kTile * (h.width * size + 16) + 2 * kTile * 4;
}

void launch(Build& b, const Heads& h, std::string text, int64_t tiles, std::vector<Ref> args) {
  Launch launch;
  launch.blocks = tiles;
  launch.blocks_y = h.batch * h.heads;
  launch.threads = static_cast<int>(kThreads);
  launch.shared_bytes = shared_bytes(b, h);
  b.launch(std::string(b.node.op()), std::move(text), launch, std::move(args));
}

// Rows g and g + 8 of the warp, of a tensor that begins at `from`.
std::string own_rows(std::string_view name, std::string_view from, std::string_view count) {
  return concat("unsigned ", name,
                "[D / KS][4];\n#pragma unroll\nfor (int s = 0; s < D / KS; ++s)\nE::rows_a(mine + g < ",
                count, " ? ", from, " + (int64_t)(mine + g) * apart : 0, mine + g + 8 < ", count, " ? ", from,
                " + (int64_t)(mine + g + 8) * apart : 0, s * KS, t, ", name, "[s]);\n");
}
// result[8][4] = own rows times the 64 rows of a tile.
std::string times_rows(std::string_view result, std::string_view own, std::string_view tile) {
  return concat("float ", result,
                "[8][4] = {};\n#pragma unroll\nfor (int s = 0; s < D / KS; ++s)\n#pragma unroll\n",
                "for (int n = 0; n < 8; ++n) {\nunsigned f[2];\nE::rows_b(", tile,
                " + (n * 8 + g) * S, s * KS, t, f);\nE::mma(", result, "[n], ", own, "[s], f);\n}\n");
}
// result[D / 8][4] += weights[8][4] (16 by 64) times a tile.
std::string add_weighted(std::string_view result, std::string_view weights, std::string_view tile) {
  return concat("#pragma unroll\nfor (int s = 0; s < 64 / KS; ++s) {\nunsigned a[4];\nE::pack(", weights,
                ", s, a);\n#pragma unroll\nfor (int n = 0; n < D / 8; ++n) {\nunsigned f[2];\nE::cols_b(",
                tile, " + s * KS * S + n * 8, S, g, t, f);\nE::mma(", result, "[n], a, f);\n}\n}\n");
}
// Writes rows g and g + 8 of the warp, elements times f0 and f1.
std::string write_rows(std::string_view to, std::string_view rows, std::string_view f0, std::string_view f1,
                       std::string_view count) {
  std::string text;
  for (int half = 0; half < 2; ++half)
    text +=
        concat("if (mine + g + ", 8 * half, " < ", count,
               ")\n#pragma unroll\nfor (int n = 0; n < D / 8; ++n) E::write_2(", to,
               " + (int64_t)(mine + g + ", 8 * half, ") * apart + n * 8 + 2 * t, ", rows, "[n][", 2 * half,
               "] * ", half ? f1 : f0, ", ", rows, "[n][", 2 * half + 1, "] * ", half ? f1 : f0, ");\n");
  return text;
}
std::string two_tiles(std::string_view first, std::string_view second, std::string_view at,
                      std::string_view count) {
  return concat("__syncthreads();\nread_tile<E, D>(tile0, ", first, " + ", at, " * apart, apart, ", count,
                " - ", at, ");\nread_tile<E, D>(tile1, ", second, " + ", at, " * apart, apart, ", count,
                " - ", at, ");\n");
}

void attention(Build& b) {
  const Heads h(b.node, b.node.input_count() == 4);
  const std::string_view type = stored(b.node.in(0).dtype);
  const std::string body = concat(
      own_rows("own", "q + of_q", "TQ"),
      "float o[D / 8][4] = {}, top[2] = {-INFINITY, -INFINITY}, all[2] = {0, 0};\nfor (int64_t k0 = 0; k0 < ",
      h.causal ? "(TK < (int)blockIdx.x * 64 + 64 ? TK : (int)blockIdx.x * 64 + 64)" : "TK",
      "; k0 += 64) {\n", two_tiles("k + of_k", "v + of_k", "k0", "TK"), "__syncthreads();\n",
      times_rows("p", "own", "tile0"),
      "float most[2] = {-INFINITY, -INFINITY};\n#pragma unroll\nfor (int n = 0; n < 8; ++n)\n#pragma unroll\n"
      "for (int i = 0; i < 4; ++i) {\nconst int64_t query = mine + g + i / 2 * 8, key = k0 + n * 8 + 2 * t + "
      "i % 2;\n"
      "float x = p[n][i];\n",
      score(b, h),
      "p[n][i] = x;\nmost[i / 2] = fmaxf(most[i / 2], x);\n}\n#pragma unroll\nfor (int i = 0; i < 2; ++i) {\n"
      "for (int m = 1; m < 4; m *= 2) most[i] = fmaxf(most[i], __shfl_xor_sync(0xFFFFFFFFu, most[i], m));\n"
      "const float next = fmaxf(top[i], most[i]), base = next == -INFINITY ? 0 : next, fade = exp2f(top[i] - "
      "base);\n"
      "top[i] = next;\nmost[i] = base;\nall[i] *= fade;\n#pragma unroll\nfor (int n = 0; n < D / 8; ++n) "
      "{\no[n][2 * i] *= fade;\n"
      "o[n][2 * i + 1] *= fade;\n}\n}\n#pragma unroll\nfor (int n = 0; n < 8; ++n)\n#pragma unroll\nfor (int "
      "i = 0; i < 4; ++i) {\n"
      "p[n][i] = exp2f(p[n][i] - most[i / 2]);\nall[i / 2] += p[n][i];\n}\n",
      add_weighted("o", "p", "tile1"),
      "}\nfor (int i = 0; i < 2; ++i)\nfor (int m = 1; m < 4; m *= 2) all[i] += __shfl_xor_sync(0xFFFFFFFFu, "
      "all[i], m);\n"
      "const float f0 = 1 / all[0], f1 = 1 / all[1];\n",
      write_rows("y + of_q", "o", "f0", "f1", "TQ"),
      "for (int i = 0; i < 2; ++i)\nif (t == 0 && mine + g + 8 * i < TQ) lse[head * TQ + mine + g + 8 * i] = "
      "(top[i] + log2f(all[i])) * "
      "0.6931471805599453f;\n}\n");
  std::vector<Ref> args = {b.in(0), b.in(1), b.in(2), b.out(0), b.out(1)};
  std::string parameters =
      concat("const ", type, "* q, const ", type, "* k, const ", type, "* v, ", type, "* y, float* lse");
  if (h.bias) {
    parameters += concat(", const ", type, "* bias");
    args.push_back(b.in(3));
  }
  launch(b, h, begin(b, h, parameters) + body, Heads::tiles(h.queries), std::move(args));
}

// What the gradient of the softmax takes off: sum of dy y, for each query and head.
Ref row_sums(Build& b, const Heads& h, size_t saved) {
  const DType t = b.node.in(0).dtype;
  const int64_t rows = h.batch * h.queries * h.heads;
  const Ref sums = b.scratch(4 * rows);
  const RowText row(rows, h.width, t, size_of(t));
  row.launch(b, {t, t, DType::f32}, 2,
             concat(row.read("y", 0, t), row.read("dy", 1, t), row.sum("all", "y[i] * dy[i]"),
                    row.write_one(2, DType::f32, "all")),
             {b.in(saved), b.in(saved + 2), sums});
  return sums;
}

// ds = p (dp - off), from scores `p` and products `dp`; lse and off are named by expressions of i and n.
std::string slopes(const Build& b, const Heads& h, std::string_view places, std::string_view lse,
                   std::string_view off) {
  return concat(
      "#pragma unroll\nfor (int n = 0; n < 8; ++n)\n#pragma unroll\nfor (int i = 0; i < 4; ++i) {\n", places,
      "float x = p[n][i];\n", score(b, h), "p[n][i] = query < TQ ? exp2f(x - ", lse,
      " * log2e) : 0;\ndp[n][i] = p[n][i] * (dp[n][i] - ", off, ");\n}\n");
}

void attention_grad(Build& b) {
  const Heads h(b.node, false);
  constexpr size_t saved = 3;
  const std::string_view type = stored(b.node.in(0).dtype);
  const Ref sums = row_sums(b, h, saved);
  const std::string common = concat("const ", type, "* q, const ", type, "* k, const ", type, "* v, const ",
                                    type, "* dy, const float* lse, const float* sums");
  std::vector<Ref> args = {b.in(0), b.in(1), b.in(2), b.in(saved + 2), b.in(saved + 1), sums};
  const std::string sum_of = "sums[(batch * TQ + query) * H + head % H]";

  // Each warp has 16 queries.
  std::vector<Ref> args_q = args;
  args_q.push_back(b.out(0));
  launch(
      b, h,
      concat(begin(b, h, concat(common, ", ", type, "* dq")), own_rows("own", "q + of_q", "TQ"),
             own_rows("up", "dy + of_q", "TQ"),
             "float down[D / 8][4] = {}, low[2], off[2];\nfor (int i = 0; i < 2; ++i) {\nconst int64_t query "
             "= mine + g + 8 * i;\n"
             "low[i] = query < TQ ? lse[head * TQ + query] : 0;\noff[i] = query < TQ ? ",
             sum_of, " : 0;\n}\nfor (int64_t k0 = 0; k0 < ",
             h.causal ? "(TK < (int)blockIdx.x * 64 + 64 ? TK : (int)blockIdx.x * 64 + 64)" : "TK",
             "; k0 += 64) {\n", two_tiles("k + of_k", "v + of_k", "k0", "TK"), "__syncthreads();\n",
             times_rows("p", "own", "tile0"), times_rows("dp", "up", "tile1"),
             slopes(b, h, "const int64_t query = mine + g + i / 2 * 8, key = k0 + n * 8 + 2 * t + i % 2;\n",
                    "low[i / 2]", "off[i / 2]"),
             add_weighted("down", "dp", "tile0"), "}\n",
             write_rows("dq + of_q", "down", "scale", "scale", "TQ"), "}\n"),
      Heads::tiles(h.queries), std::move(args_q));

  // Each warp has 16 keys; scores lie transposed.
  args.push_back(b.out(1));
  args.push_back(b.out(2));
  launch(
      b, h,
      concat(begin(b, h, concat(common, ", ", type, "* dk, ", type, "* dv")),
             own_rows("own", "k + of_k", "TK"), own_rows("value", "v + of_k", "TK"),
             "float* const low = (float*)(tile1 + 64 * S); float* const off = low + 64;\nfloat down[D / "
             "8][4] = {}, sideways[D / 8][4] = {};\n"
             "for (int64_t q0 = ",
             h.causal ? "blockIdx.x * 64" : "0", "; q0 < TQ; q0 += 64) {\n",
             two_tiles("q + of_q", "dy + of_q", "q0", "TQ"),
             "if (threadIdx.x < 64) {\nconst int64_t query = q0 + threadIdx.x;\nlow[threadIdx.x] = query < "
             "TQ ? lse[head * TQ + query] : 0;\n"
             "off[threadIdx.x] = query < TQ ? ",
             sum_of, " : 0;\n}\n__syncthreads();\n", times_rows("p", "own", "tile0"),
             times_rows("dp", "value", "tile1"),
             slopes(b, h, "const int64_t key = mine + g + i / 2 * 8, query = q0 + n * 8 + 2 * t + i % 2;\n",
                    "low[n * 8 + 2 * t + i % 2]", "off[n * 8 + 2 * t + i % 2]"),
             add_weighted("sideways", "p", "tile1"), add_weighted("down", "dp", "tile0"), "}\n",
             write_rows("dk + of_k", "down", "scale", "scale", "TK"),
             write_rows("dv + of_k", "sideways", "1", "1", "TK"), "}\n"),
      Heads::tiles(h.keys), std::move(args));
}

}  // namespace

std::span<const Op> attention_ops() {
  static const Op ops[] = {
      {.name = "attention", .lower = attention, .fits = fits},
      {.name = "attention_grad", .lower = attention_grad, .fits = grad_fits},
  };
  return ops;
}

}  // namespace plimsoll::cuda
