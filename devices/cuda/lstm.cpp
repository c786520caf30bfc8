// lstm and lstm_grad as one kernel for the whole sequence: a block has 16 sequences and 16 units, keeps its
// slice of the recurrent weights and its cells from step to step, and meets the other blocks of its sequences
// after each step. The products with the inputs and the gradients of the weights are single products over all
// steps. Larger batches run in parts, as many blocks at a time as the device has multiprocessors.
#include <algorithm>

#include "chain.h"
#include "matmul.h"
#include "ops.h"
#include "rnn_text.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

constexpr int64_t kRows = RnnProduct::kRows, kUnits = RnnProduct::kUnits;
constexpr size_t kSaved = 8;  // inputs of lstm_grad before dy, dh, dc

struct Sizes4 {
  int64_t batch, time, features, units;

  explicit Sizes4(const Node& node)
      : batch(node.in(0).sizes[0]),
        time(node.in(0).sizes[1]),
        features(node.in(0).sizes[2]),
        units(node.in(1).sizes[1]) {}
  int64_t unit_blocks() const { return (units + kUnits - 1) / kUnits; }
};

RnnProduct product_of(const plimsoll_device& device, const Node& node, bool gradient) {
  const Sizes4 s(node);
  const DType t = node.in(0).dtype;
  const int64_t k = gradient ? 4 * s.units : s.units;
  RnnProduct p;
  p.dtype = t;
  p.k = k;
  p.n = gradient ? 16 : 64;
  p.tensor_cores = (t != DType::f32 || device.options.tf32) && device.capability >= 80 &&
                   s.units % 128 == 0 && s.units <= (t == DType::f32 ? 512 : 1024);
  const std::string unit = gradient ? "(u0 + n)" : "(u0 + n % 16)";
  const std::string at = gradient ? concat(unit, " * ", 4 * s.units, " + k")
                                  : concat("k * ", 4 * s.units, " + n / 16 * ", s.units, " + ", unit);
  // Units that are not there weigh nothing.
  p.weight = s.units % kUnits == 0
                 ? concat("recurrent[", at, "]")
                 : concat("(", unit, " < ", s.units, " ? recurrent[", at, "] : (", stored(t), ")0)");
  return p;
}

bool fits(const plimsoll_device& device, const Node& node, bool gradient) {
  const DType t = node.in(0).dtype;
  if (t != DType::f32 && t != DType::bf16 && t != DType::f16) return false;
  if (device.capability < 70) return false;  // has no barrier of blocks
  const Sizes4 s(node);
  if (s.batch == 0 || s.units == 0 || s.features == 0) return false;
  const RnnProduct p = product_of(device, node, gradient);
  // Without tensor cores the state would have to be exchanged in float32 beside the halves of y.
  if (t != DType::f32 && !p.tensor_cores) return false;
  return s.unit_blocks() <= device.multiprocessors && p.shared_bytes() <= device.shared_bytes;
}
bool fits_forward(const plimsoll_device& device, const Node& node) { return fits(device, node, false); }
bool fits_gradient(const plimsoll_device& device, const Node& node) { return fits(device, node, true); }

// Launches `body` once for each part of the batch; it begins with sequence `b0` of `most`.
void launch_parts(Build& b, const RnnProduct& p, std::string_view parameters, std::string_view body,
                  std::vector<Ref> args) {
  const Sizes4 s(b.node);
  const int64_t tiles = (s.batch + kRows - 1) / kRows,
                at_once = std::min(tiles, std::max<int64_t>(1, b.device.multiprocessors / s.unit_blocks()));
  const Ref counters = b.scratch(4 * tiles);
  b.zero(counters, 4 * tiles);
  args.push_back(counters);
  for (int64_t tile = 0; tile < tiles; tile += at_once) {
    const std::string text = concat(
        p.functions(), "extern \"C\" __global__ void __launch_bounds__(", RnnProduct::kThreads,
        ", 1) KERNEL(", parameters, ", unsigned* counters) {\nconst int64_t u0 = (int64_t)blockIdx.x * ",
        kUnits, ", tile = ", tile, " + blockIdx.y, b0 = tile * ", kRows, ";\nconst int count = ", s.batch,
        " - b0 < ", kRows, " ? (int)(", s.batch, " - b0) : ", kRows, ";\n", p.prepare(),
        "const int64_t b = b0 + tid / 16, u = u0 + tid % 16;\nconst bool mine = tid / 16 < count && u < ",
        s.units, ";\n", body, "}\n");
    Launch launch;
    launch.blocks = s.unit_blocks();
    launch.blocks_y = std::min(at_once, tiles - tile);
    launch.threads = static_cast<int>(RnnProduct::kThreads);
    launch.shared_bytes = p.shared_bytes();
    launch.together = true;
    b.launch(concat(b.node.op(), " of ", s.time), text, launch, args);
  }
}

// Time of step `step`, and of the one before it.
std::string times(const Sizes4& s, bool reverse) {
  return reverse ? concat("const int64_t now = ", s.time - 1, " - step, before = now + 1;\n")
                 : std::string("const int64_t now = step, before = now - 1;\n");
}

void lstm(Build& b) {
  const Sizes4 s(b.node);
  const DType t = b.node.in(0).dtype;
  const RnnProduct p = product_of(b.device, b.node, false);
  const bool reverse = b.node.integer("reverse") != 0;
  Matmul projected;
  projected.dtype = t;
  projected.out_dtype = DType::f32;
  projected.m = s.batch * s.time;
  projected.n = 4 * s.units;
  projected.k = s.features;
  projected.a = b.in(0);
  projected.b = b.in(3);
  projected.out = b.out(3);
  add_matmul(b, projected);

  const int64_t u = s.units, row = s.time * u;
  const std::string_view type = stored(t);
  std::string body = concat(
      "float bias0 = 0, bias1 = 0, bias2 = 0, bias3 = 0, cell = 0, z0 = 0, z1 = 0, z2 = 0, z3 = 0, h = "
      "0;\nif (mine) {\n");
  for (int g = 0; g < 4; ++g)
    body += concat("bias", g, " = ", load_element(concat("bias[", g * u, " + u]"), t), ";\n");
  const auto load = [&](std::string_view time) {
    std::string text = concat("if (mine) {\nconst float* const from = gates + (b * ", s.time, " + ", time,
                              ") * ", 4 * u, " + u;\n");
    for (int g = 0; g < 4; ++g) text += concat("z", g, " = from[", g * u, "];\n");
    return text + "}\n";
  };
  body += concat(
      "cell = ", load_element(concat("c0[b * ", u, " + u]"), t), ";\n}\n",
      load(reverse ? concat(s.time - 1) : "0"), "for (int64_t step = 0; step < ", s.time, "; ++step) {\n",
      times(s, reverse), "if (step == 0) {\n", p.multiply(concat("(h0 + b0 * ", u, ")"), concat(u)),
      "} else {\n", p.multiply(concat("(y + b0 * ", row, " + before * ", u, ")"), concat(row)), "}\n",
      "if (mine) {\nconst int r = tid / 16, c = tid % 16;\nconst float i = logistic(z0 + bias0 + ",
      p.sum("r", "c"), "), f = logistic(z1 + bias1 + ", p.sum("r", "c + 16"), "), g = tanhf(z2 + bias2 + ",
      p.sum("r", "c + 32"), "), o = logistic(z3 + bias3 + ", p.sum("r", "c + 48"),
      ");\ncell = f * cell + i * g;\nh = o * tanhf(cell);\n", "y[b * ", row, " + now * ", u,
      " + u] = ", store_element("h", t), ";\ncells[b * ", row, " + now * ", u,
      " + u] = cell;\nfloat* const to = gates + (b * ", s.time, " + now) * ", 4 * u, " + u;\nto[0] = i;\nto[",
      u, "] = f;\nto[", 2 * u, "] = g;\nto[", 3 * u, "] = o;\n}\nif (step + 1 == ", s.time, ") break;\n",
      load(reverse ? "now - 1" : "now + 1"), blocks_meet("counters + tile", s.unit_blocks(), "step + 1"),
      "}\n", "if (mine) {\nlast_h[b * ", u, " + u] = ", store_element("h", t), ";\nlast_c[b * ", u,
      " + u] = ", store_element("cell", t), ";\n}\n");
  launch_parts(
      b, p,
      concat("const ", type, "* h0, const ", type, "* c0, const ", type, "* recurrent, const ", type,
             "* bias, ", type, "* y, ", type, "* last_h, ", type, "* last_c, float* gates, float* cells"),
      body, {b.in(1), b.in(2), b.in(4), b.in(5), b.out(0), b.out(1), b.out(2), b.out(3), b.out(4)});
}

// What the state was before each step, beside the steps.
Ref states_before(Build& b, const Sizes4& s, bool reverse) {
  const DType t = b.node.in(0).dtype;
  const Ref to = b.scratch(s.batch * s.time * s.units * static_cast<int64_t>(size_of(t)));
  const std::string first = reverse ? concat(s.time - 1) : "0";
  b.each(parameters({moved(t), moved(t), moved(t)}, 2), s.batch * s.time * s.units,
         concat("const index u = at % ", s.units, ", time = at / ", s.units, " % ", s.time, ", b = at / ",
                s.time * s.units, ";\narg2[at] = time == ", first, " ? arg1[b * ", s.units,
                " + u] : arg0[at ", reverse ? "+ " : "- ", s.units, "];\n"),
         {b.in(5), b.in(1), to});
  return to;
}

void weight_gradients(Build& b, const Sizes4& s, Ref dz, Ref before) {
  const DType t = b.node.in(0).dtype;
  const int64_t rows = s.batch * s.time;
  Matmul product;
  product.dtype = t;
  product.a_transposed = true;
  product.m = s.features;
  product.n = 4 * s.units;
  product.k = rows;
  product.a = b.in(0);
  product.b = dz;
  product.out = b.out(2);
  add_matmul(b, product);
  product.m = s.units;
  product.a = before;
  product.out = b.out(3);
  add_matmul(b, product);
  Chain sums;
  sums.sizes = {rows, 4 * s.units};
  sums.reads = {{{t, sums.sizes}, 0, "dz", dz}};
  sums.folds = {{"dz", t, "reduce_sum", {true, false}, 4}};
  lower_folds(b, sums);
  if (b.node.integer("dx") == 0) return;
  product.a_transposed = false;
  product.b_transposed = true;
  product.m = rows;
  product.n = s.features;
  product.k = 4 * s.units;
  product.a = dz;
  product.b = b.in(3);
  product.out = b.out(5);
  add_matmul(b, product);
}

void lstm_grad(Build& b) {
  const Sizes4 s(b.node);
  const DType t = b.node.in(0).dtype;
  const RnnProduct p = product_of(b.device, b.node, true);
  const bool reverse = b.node.integer("reverse") != 0;
  const int64_t given = b.node.integer("given"), u = s.units, row = s.time * u;
  const std::string_view type = stored(t);
  const Ref dz = b.scratch(s.batch * s.time * 4 * u * static_cast<int64_t>(size_of(t)));
  std::string parameters =
      concat("const ", type, "* c0, const ", type, "* recurrent, const float* gates, const float* cells, ",
             type, "* dz, ", type, "* dh0, ", type, "* dc0");
  std::vector<Ref> args = {b.in(2), b.in(4), b.in(6), b.in(7), dz, b.out(0), b.out(1)};
  size_t next = kSaved;
  for (int bit = 0; bit < 3; ++bit) {
    if ((given >> bit & 1) == 0) continue;
    parameters += concat(", const ", type, "* given", bit);
    args.push_back(b.in(next++));
  }
  const auto state = [&](int bit) {
    return (given >> bit & 1) ? load_element(concat("given", bit, "[b * ", u, " + u]"), t) : std::string("0");
  };
  // Steps from the last to the first: the one before in time is the next here.
  const std::string first = reverse ? concat(s.time - 1) : "0";
  std::string body = concat(
      "float up = 0, dcell = 0, i = 0, f = 0, g = 0, o = 0, c = 0, before = 0, dy = 0;\nif (mine) {\nup = ",
      state(1), ";\ndcell = ", state(2), ";\n}\n", "for (int64_t step = 0; step < ", s.time,
      "; ++step) {\nconst int64_t now = ", reverse ? std::string("step") : concat(s.time - 1, " - step"),
      ";\nconst int64_t at = b * ", row, " + now * ", u,
      " + u;\nif (mine) {\nconst float* const from = gates + (b * ", s.time, " + now) * ", 4 * u,
      " + u;\ni = from[0];\nf = from[", u, "];\ng = from[", 2 * u, "];\no = from[", 3 * u,
      "];\nc = cells[at];\nbefore = now == ", first, " ? ", load_element(concat("c0[b * ", u, " + u]"), t),
      " : cells[at ", reverse ? "+ " : "- ", u, "];\n",
      (given & 1) ? concat("dy = ", load_element("given0[at]", t), ";\n") : std::string(), "}\n",
      "if (step > 0) {\n", blocks_meet("counters + tile", s.unit_blocks(), "step"),
      p.multiply(concat("(dz + (b0 * ", s.time, " + now ", reverse ? "- 1" : "+ 1", ") * ", 4 * u, ")"),
                 concat(4 * row)),
      "up = ", p.sum("tid / 16", "tid % 16"), ";\n}\n",
      "if (mine) {\nconst float all = up + dy, s = tanhf(c);\ndcell += all * o * (1 - s * s);\nconst float "
      "d0 = dcell * g * i * (1 - i), "
      "d1 = dcell * before * f * (1 - f), d2 = dcell * i * (1 - g * g), d3 = all * s * o * (1 - o);\ndcell "
      "*= f;\n",
      type, "* const to = dz + (b * ", s.time, " + now) * ", 4 * u, " + u;\n");
  for (int g = 0; g < 4; ++g) body += concat("to[", g * u, "] = ", store_element(concat("d", g), t), ";\n");
  body += concat(
      "}\n}\n", blocks_meet("counters + tile", s.unit_blocks(), concat(s.time)),
      p.multiply(concat("(dz + (b0 * ", s.time, " + ", first, ") * ", 4 * u, ")"), concat(4 * row)),
      "if (mine) {\nup = ", p.sum("tid / 16", "tid % 16"), ";\ndh0[b * ", u,
      " + u] = ", store_element("up", t), ";\ndc0[b * ", u, " + u] = ", store_element("dcell", t), ";\n}\n");
  launch_parts(b, p, parameters, body, std::move(args));
  weight_gradients(b, s, dz, states_before(b, s, reverse));
}

}  // namespace

std::span<const Op> recurrent_ops() {
  static const Op ops[] = {
      {.name = "lstm", .lower = lstm, .fits = fits_forward},
      {.name = "lstm_grad", .lower = lstm_grad, .fits = fits_gradient},
  };
  return ops;
}

}  // namespace plimsoll::cuda
