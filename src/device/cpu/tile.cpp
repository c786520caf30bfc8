#include "device/cpu/tile.h"

#include <algorithm>

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

int TileProgram::call(const Tile& tile, std::span<const int> operands, DType result) {
  require(operands.size() <= kTileOperands, "tile", "expected at most ", kTileOperands, " operands, got ",
          operands.size());
  if (is_complex(result)) fail(ErrorKind::unsupported, "tile", "no element-wise kernels of ", result);
  calls_.push_back({tile, {operands.begin(), operands.end()}});
  values_.push_back({result, -1, static_cast<int>(calls_.size()) - 1});
  return static_cast<int>(values_.size()) - 1;
}

void TileProgram::write(int argument, int value) { writes_.push_back({argument, value}); }

void TileProgram::fold(int argument, int value, Fold kind, const TileStrides& strides, int64_t elements) {
  folds_.push_back({argument, value, kind, strides, elements});
}

TileSpace::TileSpace(const TileProgram& program)
    : reads(program.reads().size()), folds(program.folds().size()) {
  size_t previous = 0;  // axis of the space
  for (int i = 0; i < program.space().rank(); ++i) {
    const size_t axis = static_cast<size_t>(i);
    const int64_t size = program.space()[i];
    if (size == 1) continue;
    const auto walks_on = [&](const auto& a) { return a.strides[previous] == a.strides[axis] * size; };
    const bool join = rank > 0 && std::ranges::all_of(program.reads(), walks_on) &&
                      std::ranges::all_of(program.folds(), walks_on);
    if (!join) sizes[static_cast<size_t>(rank++)] = 1;
    const size_t at = static_cast<size_t>(rank - 1);
    sizes[at] *= size;
    for (size_t r = 0; r < reads.size(); ++r) reads[r][at] = program.reads()[r].strides[axis];
    for (size_t f = 0; f < folds.size(); ++f) folds[f][at] = program.folds()[f].strides[axis];
    previous = axis;
  }
  if (rank == 0) sizes[static_cast<size_t>(rank++)] = 1;
}

bool TileSpace::is_dense(const TileStrides& strides) const {
  int64_t stride = 1;
  for (size_t d = static_cast<size_t>(rank); d-- > 0; stride *= sizes[d]) {
    if (sizes[d] != 1 && strides[d] != stride) return false;
  }
  return true;
}

}  // namespace plimsoll
