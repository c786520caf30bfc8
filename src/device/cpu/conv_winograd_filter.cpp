// The gradient of a 3x3 convolution by its kernel, by Winograd's transposed algorithm: 16 matrix products of
// transformed inputs and gradients, summed over tiles.
#include <algorithm>

#include "device/cpu/conv_kernels.h"
#include "device/cpu/gemm_kernels.h"
#include "device/cpu/rnn_support.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/winograd_tiles.h"

namespace plimsoll::winograd {
namespace {

constexpr int64_t kLeadWidth = 48;  // channels and filters together: fewer do not pay for the transforms

// Where the sums are few, tiles are cut into slices with sums of their own, so that a thread finds all it
// needs in its own cache; else all threads work on one slice, and where they are many, on those of some
// channels after the other.
struct Filter {
  Tiles tiles;
  bool bias;
  int threads;
  int64_t slices = 1;
  int64_t group = 0;  // channels whose sums are made at a time: all, if there are slices
  int64_t parts = 1;  // of the channels of a product, if there is one slice
  int64_t chunk = 0;  // tiles of a slice whose products are made together
  // In floats: one of the 16 matrices, and what a thread needs for a chunk.
  int64_t input_step = 0, gradient_step = 0, sum_step = 0, area_elements = 0;
};

constexpr int64_t kTransformTiles = 16;     // of one task
constexpr int64_t kDepth = 256;             // tiles of one product: its operands' panels stay near
constexpr int64_t kSliceBytes = 300 << 10;  // of the sums of one slice
constexpr int64_t kPartialBytes = 4 << 20;  // and of all,
constexpr int64_t kMostSlices = 16;         // enough for many cores
constexpr int kFewThreads = 4;              // sixteen products are enough for so many
constexpr int64_t kPartChannels = 48;       // the fewest of a part of a product
constexpr int64_t kSliceChunk = 512 << 10;  // bytes of a chunk that one thread works on
constexpr int64_t kSharedChunk = 4 << 20;   // and all

// Channels [first, first + count).
struct Group {
  int64_t first, count;
};

void transform_tiles(const Filter& f, const Group& group, int64_t first, int64_t count, int64_t at,
                     const float* x, const float* dy, const float* zeros, float* area) {
  const ConvGeometry& g = f.tiles.g;
  float* const gradients = area + kProducts * f.input_step;
  for (int64_t i = 0; i < count; ++i) {
    const float* points[kProducts];
    f.tiles.inputs(first + i, x + group.first, zeros, points);
    winograd_transforms().input(points, group.count, area + (at + i) * f.group, f.input_step);
    int64_t elements[4];
    f.tiles.results(first + i, elements);
    for (int p = 0; p < 4; ++p) points[p] = elements[p] < 0 ? zeros : dy + elements[p];
    winograd_transforms().gradient(points, g.filters, gradients + (at + i) * g.filters, f.gradient_step);
  }
}

// Channels [begin, end) of a group, of one of the products.
void multiply(const Filter& f, int64_t begin, int64_t end, int64_t count, bool add, const float* inputs,
              const float* gradients, float* sums) {
  const ConvGeometry& g = f.tiles.g;
  for (int64_t at = 0; at < count; at += kDepth) {
    gemm_kernels_f32().block({.a = inputs + at * f.group + begin,
                              .a_row = 1,
                              .a_col = f.group,
                              .b = gradients + at * g.filters,
                              .b_row = g.filters,
                              .c = sums + begin * g.filters,
                              .c_row = g.filters,
                              .m = end - begin,
                              .n = g.filters,
                              .k = std::min(kDepth, count - at),
                              .add_c = add || at > 0});
  }
}

// The sums over the tiles [begin, end). Runs on one thread within a team, else on all.
void add_up(const Filter& f, const Group& group, int64_t begin, int64_t end, const float* x, const float* dy,
            const float* zeros, float* area, float* sums) noexcept {
  for (int64_t first = begin; first < end; first += f.chunk) {
    const int64_t count = std::min(f.chunk, end - first);
    parallel_for(divide_up(count, kTransformTiles), f.threads, [&](int64_t task, int) noexcept {
      const int64_t at = task * kTransformTiles;
      transform_tiles(f, group, first + at, std::min(kTransformTiles, count - at), at, x, dy, zeros, area);
    });
    parallel_for(kProducts * f.parts, f.threads, [&](int64_t task, int) noexcept {
      const int64_t p = task / f.parts, part = task % f.parts;
      multiply(f, group.count * part / f.parts, group.count * (part + 1) / f.parts, count, first > begin,
               area + p * f.input_step, area + kProducts * f.input_step + p * f.gradient_step,
               sums + p * f.sum_step);
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
  for (int64_t first = 0; first < g.channels; first += f.group) {
    const Group group{first, std::min(f.group, g.channels - first)};
    parallel_for(f.slices, f.threads, [&](int64_t s, int thread) noexcept {
      add_up(f, group, f.tiles.count * s / f.slices, f.tiles.count * (s + 1) / f.slices, x, dy, zeros,
             areas + thread * f.area_elements, sums + s * kProducts * f.sum_step);
    });
    parallel_for(group.count, f.threads, [&](int64_t c, int) noexcept {
      winograd_transforms().kernel_gradient(sums + c * g.filters, f.sum_step, f.slices, g.filters,
                                            dkernel + (first + c) * g.filters, g.channels * g.filters);
    });
  }
  if (f.bias) {
    column_sums(DType::f32, dy, g.batch * g.out_points(), g.filters, args[3], f.threads);
  }
}

ConvGeometry geometry(const KernelQuery& q) {
  return conv_geometry("conv_grad_filter", q.in[0].shape, q.out[0].shape, q.attrs);
}

}  // namespace

bool conv_grad_filter_leads(const KernelQuery& q) {
  const ConvGeometry g = geometry(q);
  return leads(g, q.in[0].dtype) && g.channels + g.filters >= kLeadWidth;
}

Kernel prepare_conv_grad_filter(const KernelQuery& q) {
  const ConvGeometry g = geometry(q);
  require_suited(g, q.in[0].dtype);
  Filter f{.tiles = Tiles(g), .bias = q.out.size() == 2, .threads = available_threads(q.threads)};
  f.group = filters_at_once(g.filters, g.channels, gemm_kernels_f32().nr);
  f.sum_step = matrix_step(f.group * g.filters);
  const int64_t slice_bytes = kProducts * f.sum_step * kFloat;
  const bool sliced = slice_bytes <= kSliceBytes;
  const int64_t tile_bytes = kProducts * kFloat * (f.group + g.filters);
  f.chunk =
      std::min(f.tiles.count, std::max(kTransformTiles, (sliced ? kSliceChunk : kSharedChunk) / tile_bytes));
  f.slices = !sliced ? 1
                     : std::clamp(std::min(kPartialBytes / slice_bytes, f.tiles.count / f.chunk), int64_t{1},
                                  kMostSlices);
  // Where all threads are on one slice, each product is cut until there are tasks for all to help each other.
  if (f.slices == 1 && f.threads > kFewThreads)
    f.parts = std::clamp<int64_t>(divide_up(2 * f.threads, kProducts), 1,
                                  std::max<int64_t>(1, f.group / kPartChannels));
  f.input_step = matrix_step(f.chunk * f.group);
  f.gradient_step = matrix_step(f.chunk * g.filters);
  f.area_elements = kProducts * (f.input_step + f.gradient_step);
  const int64_t scratch = lines(std::max(g.channels, g.filters)) + f.slices * kProducts * f.sum_step +
                          (f.slices > 1 ? f.threads : 1) * f.area_elements;
  return make_kernel<Filter, run>("winograd filter", f, scratch * kFloat);
}

}  // namespace plimsoll::winograd
