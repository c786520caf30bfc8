// Convolutions of a 3x3 window with stride 1 by Winograd's F(2x2, 3x3) (winograd_transforms.h): 16 matrix
// products over tiles instead of 36. Results are at least as exact as those of plain sums, which are nine
// times as long; larger tiles would save more and lose digits (docs/decisions/0011-winograd.md). Sums run in
// an order that depends on shapes alone: results are the same for every number of threads.
#include <algorithm>
#include <cstring>

#include "device/aligned.h"
#include "device/cpu/conv_forward_highway.h"
#include "device/cpu/conv_kernels.h"
#include "device/cpu/gemm_kernels.h"
#include "device/cpu/rnn_support.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/winograd_transforms.h"
#include "device/steady.h"
#include "plimsoll/error.h"

namespace plimsoll::winograd {
namespace {

constexpr int64_t kProducts = kWinogradProducts;
constexpr int64_t kFloat = sizeof(float);

int64_t lines(int64_t floats) { return aligned(floats * kFloat) / kFloat; }
// From one of the 16 matrices to the next: never a power of two, which would put all into one set of a cache.
int64_t matrix_step(int64_t elements) { return lines(elements) + kAlign / kFloat; }

struct Tiles {
  ConvGeometry g;
  int64_t rows, columns, count;

  explicit Tiles(const ConvGeometry& geometry)
      : g(geometry),
        rows(divide_up(g.out[1], kWinogradResults)),
        columns(divide_up(g.out[2], kWinogradResults)),
        count(g.batch * rows * columns) {}

  struct Place {
    int64_t image, row, column;  // of its first result
  };
  Place place(int64_t tile) const {
    const int64_t column = tile % columns, row = tile / columns % rows, image = tile / (columns * rows);
    return {image, row * kWinogradResults, column * kWinogradResults};
  }
  // Where the 16 input points of a tile lie; `zeros` for those in the padding.
  void inputs(int64_t tile, const float* x, const float* zeros, const float** points) const {
    const Place p = place(tile);
    for (int64_t i = 0; i < kProducts; ++i) {
      const int64_t row = p.row - g.pad_low[1] + i / 4, column = p.column - g.pad_low[2] + i % 4;
      const bool inside = row >= 0 && row < g.in[1] && column >= 0 && column < g.in[2];
      points[i] = inside ? x + ((p.image * g.in[1] + row) * g.in[2] + column) * g.channels : zeros;
    }
  }
  // Which element of y each of its 4 results begins at; -1 outside.
  void results(int64_t tile, int64_t* elements) const {
    const Place p = place(tile);
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t row = p.row + i / 2, column = p.column + i % 2;
      const bool inside = row < g.out[1] && column < g.out[2];
      elements[i] = inside ? ((p.image * g.out[1] + row) * g.out[2] + column) * g.filters : -1;
    }
  }
};

struct Forward {
  Tiles tiles;
  bool turned;  // the kernel is that of the convolution whose data gradient this is
  ConvEpilogue e;
  int inputs, threads;
  int64_t panel;              // filters of a panel of the transformed kernel
  int64_t block, blocks = 0;  // tiles of a task, tasks
  // In floats: one of the 16 transformed kernels, one of the matrices of a task, and parts of the scratch.
  int64_t kernel_step = 0, input_step = 0, sum_step = 0, kernel_elements = 0, task_elements = 0;
  ActivationFn activation = nullptr;
  std::shared_ptr<SteadyCopy> kept = nullptr;  // of the transformed kernel, and behind it of the scale
};

// One panel of filters: the nine windows in order, then the sixteen of the transformed kernel.
void transform_panel(const Forward& f, int64_t panel, const float* kernel, const float* scale, float* area,
                     float* to) {
  const ConvGeometry& g = f.tiles.g;
  const int64_t first = panel * f.panel, block = g.channels * g.filters, size = g.channels * f.panel;
  const auto pack = gemm_kernels_f32().pack;
  for (int64_t w = 0; w < 9; ++w) {
    float* const out = area + w * (size + 16);
    if (f.turned)  // (window, filters, channels), and turned round
      pack(kernel + (8 - w) * block + first * g.channels, g.channels, 1, f.panel, g.channels, f.panel, size,
           out);
    else
      pack(kernel + w * block + first, 1, g.filters, f.panel, g.channels, f.panel, size, out);
  }
  winograd_transforms().kernel(area, size + 16, g.channels, f.panel, scale ? scale + first : nullptr,
                               to + panel * size, f.kernel_step);
}

void run_block(const Forward& f, int64_t task, const float* x, const float* kernel, const float* zeros,
               const float* bias, const float* residual, float* y, float* area) {
  const WinogradTransforms& t = winograd_transforms();
  const ConvGeometry& g = f.tiles.g;
  const int64_t first = task * f.block, count = std::min(f.block, f.tiles.count - first);
  float* const sums = area + kProducts * f.input_step;
  for (int64_t i = 0; i < count; ++i) {
    const float* points[kProducts];
    f.tiles.inputs(first + i, x, zeros, points);
    t.input(points, g.channels, area + i * g.channels, f.input_step);
  }
  for (int64_t p = 0; p < kProducts; ++p) {
    gemm_kernels_f32().block({.a = area + p * f.input_step,
                              .a_row = g.channels,
                              .a_col = 1,
                              .a_panel = 0,
                              .b = kernel + p * f.kernel_step,
                              .b_row = f.panel,
                              .b_panel = g.channels * f.panel,
                              .c = sums + p * f.sum_step,
                              .c_row = g.filters,
                              .m = count,
                              .n = g.filters,
                              .k = g.channels,
                              .bias = nullptr,
                              .bias_scalar = false,
                              .add_c = false,
                              .relu = false});
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t elements[4];
    f.tiles.results(first + i, elements);
    WinogradFinish finish{.bias = bias, .relu = f.e.activation == Activation::relu};
    float* points[4];
    for (int p = 0; p < 4; ++p) {
      const bool inside = elements[p] >= 0;
      points[p] = inside ? y + elements[p] : nullptr;
      finish.residual[p] = inside && residual ? residual + elements[p] : nullptr;
    }
    t.result(sums + i * g.filters, f.sum_step, g.filters, finish, points);
    for (float* point : points) {
      const void* in = point;
      if (point && f.activation) f.activation(&in, point, static_cast<size_t>(g.filters), nullptr);
    }
  }
}

bool transforms_kernel(const Forward& f, const float* scale) {
  if (!f.kept || f.kept->stale()) return true;
  const float* const used = static_cast<const float*>(f.kept->data()) + f.kernel_elements;
  return scale && std::memcmp(used, scale, static_cast<size_t>(f.tiles.g.filters * kFloat)) != 0;
}

void run(const Forward& f, void* const* args) {
  const auto input = [&](int i) { return i < 0 ? nullptr : static_cast<const float*>(args[i]); };
  const ConvGeometry& g = f.tiles.g;
  float* const zeros = static_cast<float*>(args[f.inputs + 1]);
  float* const areas = zeros + lines(g.channels);
  float* const kernel = f.kept ? static_cast<float*>(f.kept->data()) : areas + f.threads * f.task_elements;
  std::fill_n(zeros, g.channels, 0.0f);
  const float* const scale = input(f.e.scale);
  if (transforms_kernel(f, scale)) {
    parallel_for(g.filters / f.panel, f.threads, [&](int64_t panel, int thread) noexcept {
      transform_panel(f, panel, input(1), scale, areas + thread * f.task_elements, kernel);
    });
    if (f.kept && scale) std::copy_n(scale, g.filters, kernel + f.kernel_elements);
    if (f.kept) f.kept->update();
  }
  parallel_for(f.blocks, f.threads, [&](int64_t task, int thread) noexcept {
    run_block(f, task, input(0), kernel, zeros, input(f.e.bias), input(f.e.residual),
              static_cast<float*>(args[f.inputs]), areas + thread * f.task_elements);
  });
}

constexpr int64_t kMostWeights = int64_t{1} << 32;  // with which no size here comes near its type's limit

bool suits(const ConvGeometry& g, DType dtype) {
  const auto is = [](const ConvAxes& axes, int64_t depth, int64_t rows, int64_t columns) {
    return axes == ConvAxes{depth, rows, columns};
  };
  const int64_t panel = gemm_kernels_f32().nr;
  return dtype == DType::f32 && g.rank == 2 && g.groups == 1 && !g.empty() && is(g.window, 1, 3, 3) &&
         is(g.stride, 1, 1, 1) && is(g.dilation, 1, 1, 1) && is(g.in_dilation, 1, 1, 1) &&
         g.channels % panel == 0 && g.filters % panel == 0 && g.kernel_elements() <= kMostWeights;
}

// Few tiles do not pay for a kernel that has grown from 9 points to 16, nor few channels for the transforms
// of the filter's gradient.
constexpr int64_t kLeadTiles = 48;
constexpr int64_t kFilterWidth = 48;
bool leads(const ConvGeometry& g, DType dtype) { return suits(g, dtype) && Tiles(g).count >= kLeadTiles; }

[[noreturn]] void unsuited() {
  fail(ErrorKind::unsupported, "conv", "not a float32 convolution of 3x3 points with full panels");
}

constexpr int64_t kTaskBytes = 768 << 10;  // transformed inputs and sums of one task: they stay in L2,
constexpr int64_t kTaskTiles = 48;         // as long as the kernel is not read for fewer tiles than this

int64_t tiles_per_task(const Tiles& t, int threads) {
  const int64_t most = std::max(kTaskTiles, kTaskBytes / (kProducts * kFloat * (t.g.channels + t.g.filters)));
  const int64_t tasks = divide_up(divide_up(t.count, most), threads) * threads;
  return divide_up(t.count, tasks);
}

Kernel forward(const KernelQuery& q, const ConvGeometry& g, bool turned, const ConvEpilogue& e) {
  if (!suits(g, q.in[0].dtype)) unsuited();
  const Tiles tiles(g);
  const int threads = available_threads(q.threads);
  Forward f{.tiles = tiles,
            .turned = turned,
            .e = e,
            .inputs = static_cast<int>(q.in.size()),
            .threads = threads,
            .panel = gemm_kernels_f32().nr,
            .block = tiles_per_task(tiles, threads)};
  f.blocks = divide_up(tiles.count, f.block);
  f.kernel_step = matrix_step(g.channels * g.filters);
  f.input_step = matrix_step(f.block * g.channels);
  f.sum_step = matrix_step(f.block * g.filters);
  f.kernel_elements = kProducts * f.kernel_step;
  f.task_elements = std::max(kProducts * (f.input_step + f.sum_step), lines(9 * (g.channels * f.panel + 16)));
  if (e.activation > Activation::relu) f.activation = activation_kernel(e.activation, DType::f32);
  f.kept = SteadyCopy::make(q, 1, (f.kernel_elements + (e.scale < 0 ? 0 : g.filters)) * kFloat);
  const int64_t scratch = lines(g.channels) + threads * f.task_elements + (f.kept ? 0 : f.kernel_elements);
  return make_kernel<Forward, run>("winograd", std::move(f), scratch * kFloat);
}

// Where the sums are few, tiles are cut into slices with sums of their own, so that a thread finds all it
// needs in its own cache; else all threads work on one slice.
struct Filter {
  Tiles tiles;
  bool bias;
  int threads;
  int64_t slices = 1;
  int64_t chunk = 0;  // tiles of a slice whose products are made together
  // In floats: one of the 16 matrices, and what a thread needs for a chunk.
  int64_t input_step = 0, gradient_step = 0, sum_step = 0, area_elements = 0;
};

constexpr int64_t kTransformTiles = 16;     // of one task
constexpr int64_t kDepth = 256;             // tiles of one product: its operands' panels stay near
constexpr int64_t kSliceBytes = 300 << 10;  // of the sums of one slice
constexpr int64_t kPartialBytes = 2 << 20;  // and of all,
constexpr int64_t kMostSlices = 16;         // enough for many cores
constexpr int64_t kSliceChunk = 512 << 10;  // bytes of a chunk that one thread works on
constexpr int64_t kSharedChunk = 4 << 20;   // and all

void transform_tiles(const Filter& f, int64_t first, int64_t count, int64_t at, const float* x,
                     const float* dy, const float* zeros, float* area) {
  const ConvGeometry& g = f.tiles.g;
  float* const gradients = area + kProducts * f.input_step;
  for (int64_t i = 0; i < count; ++i) {
    const float* points[kProducts];
    f.tiles.inputs(first + i, x, zeros, points);
    winograd_transforms().input(points, g.channels, area + (at + i) * g.channels, f.input_step);
    int64_t elements[4];
    f.tiles.results(first + i, elements);
    for (int p = 0; p < 4; ++p) points[p] = elements[p] < 0 ? zeros : dy + elements[p];
    winograd_transforms().gradient(points, g.filters, gradients + (at + i) * g.filters, f.gradient_step);
  }
}

void multiply(const Filter& f, int64_t count, bool add, const float* inputs, const float* gradients,
              float* sums) {
  const ConvGeometry& g = f.tiles.g;
  for (int64_t at = 0; at < count; at += kDepth) {
    gemm_kernels_f32().block({.a = inputs + at * g.channels,
                              .a_row = 1,
                              .a_col = g.channels,
                              .a_panel = 0,
                              .b = gradients + at * g.filters,
                              .b_row = g.filters,
                              .b_panel = 0,
                              .c = sums,
                              .c_row = g.filters,
                              .m = g.channels,
                              .n = g.filters,
                              .k = std::min(kDepth, count - at),
                              .bias = nullptr,
                              .bias_scalar = false,
                              .add_c = add || at > 0,
                              .relu = false});
  }
}

// The sums over the tiles [begin, end). Runs on one thread within a team, else on all.
void add_up(const Filter& f, int64_t begin, int64_t end, const float* x, const float* dy, const float* zeros,
            float* area, float* sums) noexcept {
  for (int64_t first = begin; first < end; first += f.chunk) {
    const int64_t count = std::min(f.chunk, end - first);
    parallel_for(divide_up(count, kTransformTiles), f.threads, [&](int64_t task, int) noexcept {
      const int64_t at = task * kTransformTiles;
      transform_tiles(f, first + at, std::min(kTransformTiles, count - at), at, x, dy, zeros, area);
    });
    parallel_for(kProducts, f.threads, [&](int64_t p, int) noexcept {
      multiply(f, count, first > begin, area + p * f.input_step,
               area + kProducts * f.input_step + p * f.gradient_step, sums + p * f.sum_step);
    });
  }
}

void run(const Filter& f, void* const* args) {
  const ConvGeometry& g = f.tiles.g;
  const auto* const x = static_cast<const float*>(args[0]);
  const auto* const dy = static_cast<const float*>(args[1]);
  auto* const dkernel = static_cast<float*>(args[2]);
  float* const zeros = static_cast<float*>(args[f.bias ? 4 : 3]);
  const int64_t most = std::max(g.channels, g.filters);
  float* const sums = zeros + lines(most);
  float* const areas = sums + f.slices * kProducts * f.sum_step;
  std::fill_n(zeros, most, 0.0f);
  const auto slice = [&](int64_t s, int thread) noexcept {
    add_up(f, f.tiles.count * s / f.slices, f.tiles.count * (s + 1) / f.slices, x, dy, zeros,
           areas + thread * f.area_elements, sums + s * kProducts * f.sum_step);
  };
  parallel_for(f.slices, f.threads, slice);
  parallel_for(g.channels, f.threads, [&](int64_t c, int) noexcept {
    winograd_transforms().kernel_gradient(sums + c * g.filters, f.sum_step, f.slices, g.filters,
                                          dkernel + c * g.filters, g.channels * g.filters);
  });
  if (f.bias) {
    column_sums(DType::f32, dy, g.batch * g.out_points(), g.filters, args[3], f.threads);
  }
}

constexpr ConvEpilogue kNoEpilogue{-1, -1, -1, Activation::linear};

ConvGeometry geometry(const KernelQuery& q, bool turned) {
  const ConvGeometry g =
      conv_geometry("conv", turned ? q.out[0].shape : q.in[0].shape, q.in[1].shape, q.attrs);
  return turned ? data_gradient(g) : g;
}
ConvGeometry filter_geometry(const KernelQuery& q) {
  return conv_geometry("conv_grad_filter", q.in[0].shape, q.out[0].shape, q.attrs);
}

}  // namespace

bool conv_leads(const KernelQuery& q) { return leads(geometry(q, false), q.in[0].dtype); }
bool conv_grad_input_leads(const KernelQuery& q) { return leads(geometry(q, true), q.in[0].dtype); }
bool conv_grad_filter_leads(const KernelQuery& q) {
  const ConvGeometry g = filter_geometry(q);
  return leads(g, q.in[0].dtype) && g.channels + g.filters >= kFilterWidth;
}

Kernel prepare_conv(const KernelQuery& q) { return forward(q, geometry(q, false), false, kNoEpilogue); }
Kernel prepare_conv_bias(const KernelQuery& q) {
  return forward(q, geometry(q, false), false, conv_epilogue(q.attrs));
}
Kernel prepare_conv_grad_input(const KernelQuery& q) {
  return forward(q, geometry(q, true), true, kNoEpilogue);
}

Kernel prepare_conv_grad_filter(const KernelQuery& q) {
  const ConvGeometry g = filter_geometry(q);
  if (!suits(g, q.in[0].dtype)) unsuited();
  Filter f{.tiles = Tiles(g), .bias = q.out.size() == 2, .threads = available_threads(q.threads)};
  f.sum_step = matrix_step(g.channels * g.filters);
  const int64_t slice_bytes = kProducts * f.sum_step * kFloat;
  const bool sliced = slice_bytes <= kSliceBytes;
  const int64_t tile_bytes = kProducts * kFloat * (g.channels + g.filters);
  f.chunk =
      std::min(f.tiles.count, std::max(kTransformTiles, (sliced ? kSliceChunk : kSharedChunk) / tile_bytes));
  f.slices = !sliced ? 1
                     : std::clamp(std::min(kPartialBytes / slice_bytes, f.tiles.count / f.chunk), int64_t{1},
                                  kMostSlices);
  f.input_step = matrix_step(f.chunk * g.channels);
  f.gradient_step = matrix_step(f.chunk * g.filters);
  f.area_elements = kProducts * (f.input_step + f.gradient_step);
  const int64_t scratch = lines(std::max(g.channels, g.filters)) + f.slices * kProducts * f.sum_step +
                          (f.slices > 1 ? f.threads : 1) * f.area_elements;
  return make_kernel<Filter, run>("winograd filter", f, scratch * kFloat);
}

}  // namespace plimsoll::winograd
