// Convolutions of a 3x3 window with stride 1 by Winograd's F(2x2, 3x3) (winograd_transforms.h): 16 matrix
// products over tiles instead of 36. Results are at least as exact as those of plain sums, which are nine
// times as long; larger tiles would save more and lose digits (docs/decisions/0011-winograd.md). Sums run in
// an order that depends on shapes alone: results are the same for every number of threads.
#include <algorithm>

#include "device/cpu/conv_forward_highway.h"
#include "device/cpu/conv_kernels.h"
#include "device/cpu/gemm_kernels.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/winograd_tiles.h"
#include "device/steady.h"

namespace plimsoll::winograd {
namespace {

struct Forward {
  Tiles tiles;
  bool turned;  // the kernel is that of the convolution whose data gradient this is
  ConvEpilogue e;
  int inputs, threads;
  int64_t panel;              // filters of a panel of the transformed kernel
  int64_t group = 0;          // panels of a group: a large kernel is transformed and read group by group
  int64_t block = 0, blocks = 0;  // tiles of a task, tasks
  // In floats: one of the 16 transformed kernels of a group, one of the matrices of a task, and all of them.
  int64_t kernel_step = 0, input_step = 0, sum_step = 0, task_elements = 0;
  int64_t panel_elements = 0;  // that transforming one panel takes
  int64_t parts = 0;  // of the filters of a product, where threads share all tiles; 0: each has its own
  ActivationFn activation = nullptr;
  std::shared_ptr<SteadyCopy> kept = nullptr;  // of the transformed kernel

  int64_t area_elements() const {
    return std::max((parts > 0 ? 1 : threads) * task_elements, threads * panel_elements);
  }
};

// Panels [first, first + count) of the filters.
struct Group {
  int64_t first, count;
};

constexpr int64_t kTogether = 4;  // tiles of one task, where threads share all tiles

// One panel of filters: the nine windows in order, then the sixteen of the transformed kernel at `to`.
void transform_panel(const Forward& f, int64_t panel, const float* kernel, const float* scale, float* area,
                     float* to) {
  const ConvGeometry& g = f.tiles.g;
  const int64_t first = panel * f.panel, block = g.channels * g.filters, size = g.channels * f.panel;
  const int64_t step = matrix_step(size);  // its spare line takes what packing writes past the end
  const auto pack = gemm_kernels_f32().pack;
  for (int64_t w = 0; w < 9; ++w) {
    float* const out = area + w * step;
    if (f.turned)  // (window, filters, channels), and turned round
      pack(kernel + (8 - w) * block + first * g.channels, g.channels, 1, f.panel, g.channels, f.panel, size,
           out);
    else
      pack(kernel + w * block + first, 1, g.filters, f.panel, g.channels, f.panel, size, out);
  }
  winograd_transforms().kernel(area, step, g.channels, f.panel, scale ? scale + first : nullptr,
                               to, f.kernel_step);
}

// Panels [begin, end) of a group.
void multiply(const Forward& f, int64_t tiles, int64_t begin, int64_t end, const float* inputs,
              const float* kernel, float* sums) {
  const ConvGeometry& g = f.tiles.g;
  const int64_t panel = g.channels * f.panel;
  gemm_kernels_f32().block({.a = inputs,
                            .a_row = g.channels,
                            .a_col = 1,
                            .b = kernel + begin * panel,
                            .b_row = f.panel,
                            .b_panel = panel,
                            .c = sums + begin * f.panel,
                            .c_row = f.group * f.panel,
                            .m = tiles,
                            .n = (end - begin) * f.panel,
                            .k = g.channels});
}

struct Arguments {
  const float *x, *kernel, *bias, *residual, *zeros;  // the kernel transformed; bias and residual may be null
  float* y;
};

void finish_tile(const Forward& f, const Group& group, int64_t tile, const float* sums, const Arguments& a) {
  int64_t elements[4];
  f.tiles.results(tile, elements);
  const int64_t first = group.first * f.panel, filters = group.count * f.panel;
  WinogradFinish finish{.bias = a.bias ? a.bias + first : nullptr,
                        .relu = f.e.activation == Activation::relu};
  float* points[4];
  for (int p = 0; p < 4; ++p) {
    const bool inside = elements[p] >= 0;
    points[p] = inside ? a.y + elements[p] + first : nullptr;
    finish.residual[p] = inside && a.residual ? a.residual + elements[p] + first : nullptr;
  }
  winograd_transforms().result(sums, f.sum_step, filters, finish, points);
  for (float* point : points) {
    const void* in = point;
    if (point && f.activation) f.activation(&in, point, static_cast<size_t>(filters), nullptr);
  }
}

// Tiles [first, first + count), whose transformed inputs begin at `inputs`.
void transform_inputs(const Forward& f, int64_t first, int64_t count, const Arguments& a, float* inputs) {
  for (int64_t i = 0; i < count; ++i) {
    const float* points[kProducts];
    f.tiles.inputs(first + i, a.x, a.zeros, points);
    winograd_transforms().input(points, f.tiles.g.channels, inputs + i * f.tiles.g.channels, f.input_step);
  }
}

void run_block(const Forward& f, const Group& group, int64_t task, const Arguments& a, float* area) {
  const int64_t first = task * f.block, count = std::min(f.block, f.tiles.count - first);
  float* const sums = area + kProducts * f.input_step;
  transform_inputs(f, first, count, a, area);
  for (int64_t p = 0; p < kProducts; ++p) {
    multiply(f, count, 0, group.count, area + p * f.input_step, a.kernel + p * f.kernel_step,
             sums + p * f.sum_step);
  }
  for (int64_t i = 0; i < count; ++i) finish_tile(f, group, first + i, sums + i * f.group * f.panel, a);
}

// Many threads and few tiles: if each took some through all products, each would read the whole kernel. Here
// each reads its part of it.
void run_together(const Forward& f, const Group& group, const Arguments& a, float* area) {
  const ConvGeometry& g = f.tiles.g;
  float* const sums = area + kProducts * f.input_step;
  const int64_t tasks = divide_up(f.tiles.count, kTogether);
  parallel_for(tasks, f.threads, [&](int64_t task, int) noexcept {
    const int64_t first = task * kTogether;
    transform_inputs(f, first, std::min(kTogether, f.tiles.count - first), a, area + first * g.channels);
  });
  parallel_for(kProducts * f.parts, f.threads, [&](int64_t task, int) noexcept {
    const int64_t p = task / f.parts, part = task % f.parts;
    multiply(f, f.tiles.count, group.count * part / f.parts, group.count * (part + 1) / f.parts,
             area + p * f.input_step, a.kernel + p * f.kernel_step, sums + p * f.sum_step);
  });
  parallel_for(tasks, f.threads, [&](int64_t task, int) noexcept {
    const int64_t end = std::min(f.tiles.count, (task + 1) * kTogether);
    for (int64_t i = task * kTogether; i < end; ++i)
      finish_tile(f, group, i, sums + i * f.group * f.panel, a);
  });
}

void run(const Forward& f, void* const* args) {
  const auto input = [&](int i) { return i < 0 ? nullptr : static_cast<const float*>(args[i]); };
  const ConvGeometry& g = f.tiles.g;
  float* const zeros = static_cast<float*>(args[f.inputs + 1]);
  float* const areas = zeros + lines(g.channels);
  float* const kernel = f.kept ? static_cast<float*>(f.kept->data()) : areas + f.area_elements();
  std::fill_n(zeros, g.channels, 0.0f);
  const float* const scale = input(f.e.scale);
  const Arguments a{
      input(0), kernel, input(f.e.bias), input(f.e.residual), zeros, static_cast<float*>(args[f.inputs])};
  const int64_t panels = g.filters / f.panel;
  for (int64_t first = 0; first < panels; first += f.group) {
    const Group group{first, std::min(f.group, panels - first)};
    if (!f.kept || f.kept->stale(scale)) {
      parallel_for(group.count, f.threads, [&](int64_t i, int thread) noexcept {
        transform_panel(f, first + i, input(1), scale, areas + thread * f.panel_elements,
                        kernel + i * g.channels * f.panel);
      });
      if (f.kept) f.kept->update(scale);
    }
    if (f.parts > 0) {
      run_together(f, group, a, areas);
      continue;
    }
    parallel_for(f.blocks, f.threads, [&](int64_t task, int thread) noexcept {
      run_block(f, group, task, a, areas + thread * f.task_elements);
    });
  }
}

constexpr int64_t kTaskBytes = 768 << 10;  // transformed inputs and sums of one task: they stay in L2,
constexpr int64_t kTaskTiles = 48;         // as long as the kernel is not read for fewer tiles than this
constexpr int64_t kLargeKernel = 1 << 20;  // bytes, transformed: more are not read by each of
constexpr int kFewThreads = 4;             // more threads than these

// `filters`: of a group.
int64_t tiles_per_task(const Tiles& t, int64_t filters, int threads) {
  const int64_t most = std::max(kTaskTiles, kTaskBytes / (kProducts * kFloat * (t.g.channels + filters)));
  const int64_t tasks = divide_up(divide_up(t.count, most), threads) * threads;
  return divide_up(t.count, tasks);
}

Kernel forward(const KernelQuery& q, const ConvGeometry& g, bool turned, const ConvEpilogue& e) {
  require_suited(g, q.in[0].dtype);
  const Tiles tiles(g);
  const int threads = available_threads(q.threads);
  Forward f{.tiles = tiles,
            .turned = turned,
            .e = e,
            .inputs = static_cast<int>(q.in.size()),
            .threads = threads,
            .panel = gemm_kernels_f32().nr};
  // What is kept is there for all filters at once.
  f.kept = SteadyCopy::make(q, 1, kProducts * matrix_step(g.channels * g.filters) * kFloat,
                            e.scale < 0 ? 0 : g.filters * kFloat);
  const int64_t filters = f.kept ? g.filters : filters_at_once(g.channels, g.filters, f.panel);
  f.group = filters / f.panel;
  f.kernel_step = matrix_step(g.channels * filters);
  f.block = tiles_per_task(tiles, filters, threads);
  if (threads > kFewThreads && f.block < kTaskTiles && kProducts * f.kernel_step * kFloat > kLargeKernel) {
    f.block = tiles.count;
    f.parts = std::min(f.group, divide_up(4 * threads, kProducts));
  }
  f.blocks = divide_up(tiles.count, f.block);
  f.input_step = matrix_step(f.block * g.channels);
  f.sum_step = matrix_step(f.block * filters);
  f.task_elements = kProducts * (f.input_step + f.sum_step);
  f.panel_elements = 9 * matrix_step(g.channels * f.panel);
  if (e.activation > Activation::relu) f.activation = activation_kernel(e.activation, DType::f32);
  const int64_t scratch = lines(g.channels) + f.area_elements() + (f.kept ? 0 : kProducts * f.kernel_step);
  return make_kernel<Forward, run>("winograd", std::move(f), scratch * kFloat);
}

ConvGeometry geometry(const KernelQuery& q, bool turned) {
  const ConvGeometry g =
      conv_geometry("conv", turned ? q.out[0].shape : q.in[0].shape, q.in[1].shape, q.attrs);
  return turned ? data_gradient(g) : g;
}

}  // namespace

bool conv_leads(const KernelQuery& q) { return leads(geometry(q, false), q.in[0].dtype); }
bool conv_grad_input_leads(const KernelQuery& q) { return leads(geometry(q, true), q.in[0].dtype); }

Kernel prepare_conv(const KernelQuery& q) { return forward(q, geometry(q, false), false, kNoEpilogue); }
Kernel prepare_conv_bias(const KernelQuery& q) {
  return forward(q, geometry(q, false), false, conv_epilogue(q.attrs));
}
Kernel prepare_conv_grad_input(const KernelQuery& q) {
  return forward(q, geometry(q, true), true, kNoEpilogue);
}

}  // namespace plimsoll::winograd
