// Gradients of convolutions whose window is one point: matrix products over the points that the stride meets.
//   dkernel[c, k] = sum over points of x[point, c] * dy[point, k]
//   dx[point, c]  = sum over filters of dy[point, k] * kernel[c, k], and zero between the points
// Weights are read and written as they lie, so nothing is packed or unpacked beside what the product itself
// does.
#include <algorithm>
#include <cstring>
#include <optional>

#include "device/aligned.h"
#include "device/cpu/conv_kernels.h"
#include "device/cpu/gemm.h"
#include "device/cpu/rnn_support.h"
#include "device/cpu/strided_copy.h"
#include "device/cpu/thread_pool.h"
#include "plimsoll/error.h"

namespace plimsoll::pointwise {
namespace {

// oneDNN's filter gradient ends with a reorder of the weights, which costs it the lead when they are many.
constexpr int64_t kManyWeights = 1 << 17;

bool all(const ConvAxes& axes, int64_t value) {
  return std::ranges::all_of(axes, [&](int64_t a) { return a == value; });
}

bool is_pointwise(const ConvGeometry& g) {
  return g.groups == 1 && g.window_points() == 1 && all(g.pad_low, 0) && all(g.pad_high, 0) &&
         all(g.in_dilation, 1) && !g.empty();
}

bool fits(const KernelQuery& q, const ConvGeometry& g) {
  return q.in[0].dtype == DType::f32 && is_pointwise(g);
}

ConvGeometry required(const KernelQuery& q, const ConvGeometry& g) {
  if (!fits(q, g)) fail(ErrorKind::unsupported, "conv", "not a float32 convolution of one point");
  return g;
}

ConvGeometry input_geometry(const KernelQuery& q) {
  return conv_geometry("conv_grad_input", q.out[0].shape, q.in[1].shape, q.attrs);
}
ConvGeometry filter_geometry(const KernelQuery& q) {
  return conv_geometry("conv_grad_filter", q.in[0].shape, q.out[0].shape, q.attrs);
}

struct FilterGradient {
  Gemm gemm;
  std::optional<StridedCopy> gather;  // of the points that the stride meets, if it leaves some out
  int64_t points, filters, gemm_at;   // gemm_at: offset of the product's scratch
  bool bias;
  int threads;
};

void run(const FilterGradient& f, void* const* args) {
  char* const scratch = static_cast<char*>(args[f.bias ? 4 : 3]);
  const void* x = args[0];
  if (f.gather) {
    f.gather->run(scratch, x);
    x = scratch;
  }
  f.gemm.run(x, args[1], nullptr, args[2], scratch + f.gemm_at);
  if (f.bias) column_sums(DType::f32, args[1], f.points, f.filters, args[3], f.threads);
}

struct InputGradient {
  Gemm gemm;
  ConvGeometry g;
  int64_t gemm_at;
  int threads;
};

// One row of dx: zeros, with the row of the product's result spread over it if the stride meets the row.
void spread_row(const ConvGeometry& g, int64_t row, const float* from, float* to) {
  const int64_t h = row % g.in[1], d = row / g.in[1] % g.in[0], n = row / (g.in[1] * g.in[0]);
  const int64_t c = g.channels, step = g.stride[2];
  float* const out = to + row * g.in[2] * c;
  const int64_t y = h / g.stride[1], z = d / g.stride[0];
  if (h % g.stride[1] != 0 || d % g.stride[0] != 0 || y >= g.out[1] || z >= g.out[0]) {
    std::memset(out, 0, static_cast<size_t>(g.in[2] * c) * sizeof(float));
    return;
  }
  const float* const in = from + ((n * g.out[0] + z) * g.out[1] + y) * g.out[2] * c;
  for (int64_t x = 0; x < g.out[2]; ++x) {
    const int64_t first = x * step, next = x + 1 == g.out[2] ? g.in[2] : first + step;
    std::memcpy(out + first * c, in + x * c, static_cast<size_t>(c) * sizeof(float));
    std::memset(out + (first + 1) * c, 0, static_cast<size_t>((next - first - 1) * c) * sizeof(float));
  }
}

void run(const InputGradient& i, void* const* args) {
  char* const scratch = static_cast<char*>(args[3]);
  i.gemm.run(args[0], args[1], nullptr, scratch, scratch + i.gemm_at);
  const int64_t rows = i.g.batch * i.g.in[0] * i.g.in[1];
  const int64_t per_task = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, i.g.in[2] * i.g.channels));
  parallel_for(divide_up(rows, per_task), i.threads, [&](int64_t task, int) noexcept {
    const int64_t end = std::min(rows, (task + 1) * per_task);
    for (int64_t row = task * per_task; row < end; ++row) {
      spread_row(i.g, row, reinterpret_cast<const float*>(scratch), static_cast<float*>(args[2]));
    }
  });
}

StridedCopy gather_points(const ConvGeometry& g, int threads) {
  const Shape box{g.batch, g.out[0], g.out[1], g.out[2], g.channels};
  const StridedCopy::Strides all = row_major(Shape{g.batch, g.in[0], g.in[1], g.in[2], g.channels});
  StridedCopy::Strides met = all;
  for (size_t a = 0; a < kConvAxes; ++a) met[a + 1] = all[a + 1] * g.stride[a];
  return StridedCopy(box, row_major(box), met, sizeof(float), threads);
}

}  // namespace

bool conv_grad_filter_leads(const KernelQuery& q) {
  const ConvGeometry g = filter_geometry(q);
  return fits(q, g) && g.kernel_elements() >= kManyWeights && g.channels >= 16 && g.filters >= 16;
}

bool conv_grad_input_leads(const KernelQuery& q) {
  const ConvGeometry g = input_geometry(q);
  return fits(q, g) && !all(g.stride, 1) && g.channels >= 16 && g.filters >= 16;
}

Kernel prepare_conv_grad_filter(const KernelQuery& q) {
  const ConvGeometry g = required(q, filter_geometry(q));
  const int threads = available_threads(q.threads);
  const int64_t points = g.batch * g.out_points();
  FilterGradient f{Gemm({.m = g.channels,
                         .n = g.filters,
                         .k = points,
                         .a_row = 1,
                         .a_col = g.channels,
                         .b_row = g.filters,
                         .c_row = g.filters,
                         .threads = threads}),
                   std::nullopt,
                   points,
                   g.filters,
                   0,
                   q.out.size() == 2,
                   threads};
  if (!all(g.stride, 1)) {
    f.gather = gather_points(g, threads);
    f.gemm_at = aligned(points * g.channels * static_cast<int64_t>(sizeof(float)));
  }
  const int64_t scratch = f.gemm_at + f.gemm.scratch_bytes();
  return make_kernel<FilterGradient, run>(f.gemm.name() + " of points", f, scratch);
}

Kernel prepare_conv_grad_input(const KernelQuery& q) {
  const ConvGeometry g = required(q, input_geometry(q));
  const int threads = available_threads(q.threads);
  const int64_t points = g.batch * g.out_points();
  InputGradient i{Gemm({.m = points,
                        .n = g.channels,
                        .k = g.filters,
                        .a_row = g.filters,
                        .b_row = 1,
                        .b_col = g.filters,
                        .c_row = g.channels,
                        .threads = threads}),
                  g, aligned(points * g.channels * static_cast<int64_t>(sizeof(float))), threads};
  const int64_t scratch = i.gemm_at + i.gemm.scratch_bytes();
  return make_kernel<InputGradient, run>(i.gemm.name() + " of points", i, scratch);
}

}  // namespace plimsoll::pointwise
