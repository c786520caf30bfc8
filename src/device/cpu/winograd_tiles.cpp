#include "device/cpu/winograd_tiles.h"

#include <algorithm>

#include "device/cpu/gemm_kernels.h"
#include "plimsoll/error.h"

namespace plimsoll::winograd {
namespace {

constexpr int64_t kMostWeights = int64_t{1} << 32;  // with which no size here comes near its type's limit
constexpr int64_t kGroupBytes = 4 << 20;  // of the matrices made at a time, as long as
constexpr int64_t kGroup = 128;           // so many filters share what the tiles' transforms cost
constexpr int64_t kLeadTiles = 48;  // fewer do not pay for a kernel that has grown from 9 points to 16

bool suits(const ConvGeometry& g, DType dtype) {
  const auto is = [](const ConvAxes& axes, int64_t depth, int64_t rows, int64_t columns) {
    return axes == ConvAxes{depth, rows, columns};
  };
  const int64_t panel = gemm_kernels_f32().nr;
  return dtype == DType::f32 && g.rank == 2 && g.groups == 1 && !g.empty() && is(g.window, 1, 3, 3) &&
         is(g.stride, 1, 1, 1) && is(g.dilation, 1, 1, 1) && is(g.in_dilation, 1, 1, 1) &&
         g.channels % panel == 0 && g.filters % panel == 0 && g.kernel_elements() <= kMostWeights;
}

}  // namespace

int64_t filters_at_once(int64_t channels, int64_t filters, int64_t panel) {
  const int64_t most = std::max(kGroup, kGroupBytes / (kProducts * kFloat * channels));
  const int64_t panels = divide_up(filters, panel), groups = divide_up(filters, most);
  return divide_up(panels, groups) * panel;
}

void require_suited(const ConvGeometry& g, DType dtype) {
  if (suits(g, dtype)) return;
  fail(ErrorKind::unsupported, "conv", "not a float32 convolution of 3x3 points with full panels");
}

bool leads(const ConvGeometry& g, DType dtype) { return suits(g, dtype) && Tiles(g).count >= kLeadTiles; }

}  // namespace plimsoll::winograd
