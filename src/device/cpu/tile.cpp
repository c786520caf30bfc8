#include "device/cpu/tile.h"

#include <algorithm>

#include "device/cpu/tile_plan.h"
#include "plimsoll/error.h"

namespace plimsoll {

TileStrides broadcast_strides(const Shape& shape, const Shape& space) {
  TileStrides strides{};
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    const int axis = i + space.rank() - shape.rank();
    if (shape[i] != 1) strides[static_cast<size_t>(axis)] = stride;
    stride *= shape[i];
  }
  return strides;
}

TileStrides fold_strides(const Shape& space, std::span<const int64_t> axes) {
  TileStrides strides{};
  if (axes.empty()) return strides;
  std::array<bool, Shape::kMaxRank> folded{};
  for (const int64_t axis : axes)
    folded[static_cast<size_t>(normalize_axis(axis, space.rank(), "tile"))] = true;
  int64_t stride = 1;
  for (int i = space.rank() - 1; i >= 0; --i) {
    const size_t axis = static_cast<size_t>(i);
    if (folded[axis]) continue;
    strides[axis] = stride;
    stride *= space[i];
  }
  return strides;
}

int TileProgram::read(int argument, DType dtype, const TileStrides& strides) {
  if (is_complex(dtype)) fail(ErrorKind::unsupported, "tile", "no element-wise kernels of ", dtype);
  reads_.push_back({argument, dtype, strides, nullptr});
  values_.push_back({dtype, static_cast<int>(reads_.size()) - 1, -1});
  return static_cast<int>(values_.size()) - 1;
}

int TileProgram::constant(std::shared_ptr<const void> bytes, DType dtype, const TileStrides& strides) {
  const int value = read(-1, dtype, strides);
  reads_.back().constant = std::move(bytes);
  return value;
}

int TileProgram::call(TileFn fn, const std::array<double, 4>& params, std::span<const int> operands,
                      DType result) {
  require(operands.size() <= kTileOperands, "tile", "expected at most ", kTileOperands, " operands, got ",
          operands.size());
  if (is_complex(result)) fail(ErrorKind::unsupported, "tile", "no element-wise kernels of ", result);
  calls_.push_back({fn, params, {operands.begin(), operands.end()}});
  values_.push_back({result, -1, static_cast<int>(calls_.size()) - 1});
  return static_cast<int>(values_.size()) - 1;
}

void TileProgram::write(int argument, int value) { writes_.push_back({argument, value}); }

void TileProgram::fold(int argument, int value, Fold kind, const TileStrides& strides, int64_t elements) {
  folds_.push_back({argument, value, kind, strides, elements});
}

Kernel TileProgram::build(std::string name, int arguments, int threads) const {
  TilePlan plan = plan_tiles(*this, arguments, std::max(1, threads));
  const int64_t scratch = plan.shared_bytes + plan.thread_bytes * plan.threads;
  return make_kernel<TilePlan, run_tiles>(std::move(name), std::move(plan), scratch);
}

}  // namespace plimsoll
