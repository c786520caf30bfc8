// The tile engine runs a list of element-wise instructions over an iteration space. A tile, some thousand
// consecutive elements, passes through all instructions while it lies in the L1 cache: a chain of ops reads
// its inputs once and writes its results once. The space is cut into chunks by its shape alone, and folds
// combine the chunks in a fixed order, so results do not depend on the number of threads.
//
// Values of f16 and bf16 are f32 in registers, rounded to their type after every instruction: a fused chain
// gives the bits of the single ops. Bools are bytes 0 and 1.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/tile.h"
#include "device/kernel.h"
#include "plimsoll/shape.h"

namespace plimsoll {

enum class Fold : uint8_t { sum, prod, max, min, logical_and, logical_or };

inline constexpr int kTileOperands = 4;
using TileStrides = std::array<int64_t, Shape::kMaxRank>;

// What one kernel does, value by value; build() turns it into a Kernel. Arguments are numbered as the
// kernel's args: inputs, then outputs.
class TileProgram {
 public:
  struct Read {
    int argument;
    DType dtype;
    TileStrides strides;
    std::shared_ptr<const void> constant;
  };
  struct Call {
    Tile tile;
    std::vector<int> operands;
  };
  struct Value {
    DType dtype;
    int read = -1;
    int call = -1;
  };  // made by a read or by a call
  struct Write {
    int argument;
    int value;
  };
  struct FoldTo {
    int argument;
    int value;
    Fold kind;
    TileStrides strides;
    int64_t elements;
  };

  explicit TileProgram(const Shape& space) : space_(space) {}

  // An input read at `strides` (elements; one per axis of the space, 0 where it is broadcast).
  int read(int argument, DType dtype, const TileStrides& strides);
  // The same for bytes known now, kept alive by the kernel.
  int constant(std::shared_ptr<const void> bytes, DType dtype, const TileStrides& strides);
  int call(const Tile& tile, std::span<const int> operands, DType result);
  // An output with one element per point of the space, in row-major order.
  void write(int argument, int value);
  // An output of `elements` elements that folds the value over the axes where `strides` is 0.
  void fold(int argument, int value, Fold kind, const TileStrides& strides, int64_t elements);

  // `arguments`: inputs and outputs of the kernel. Throws Error{unsupported} if the registers do not suffice.
  Kernel build(std::string name, int arguments, int threads) const;

  const Shape& space() const { return space_; }
  const std::vector<Read>& reads() const { return reads_; }
  const std::vector<Call>& calls() const { return calls_; }
  const std::vector<Value>& values() const { return values_; }  // in the order they are made
  const std::vector<Write>& writes() const { return writes_; }
  const std::vector<FoldTo>& folds() const { return folds_; }
  DType dtype_of(int value) const { return values_[static_cast<size_t>(value)].dtype; }

 private:
  Shape space_;
  std::vector<Read> reads_;
  std::vector<Call> calls_;
  std::vector<Value> values_;
  std::vector<Write> writes_;
  std::vector<FoldTo> folds_;
};

// The space of a program with as few axes as its reads and folds allow: axes that all of them walk as one are
// joined, axes of size 1 left out. At least one axis.
struct TileSpace {
  explicit TileSpace(const TileProgram& program);
  // Whether `strides` are those of the space itself, row-major.
  bool is_dense(const TileStrides& strides) const;

  int rank = 0;
  TileStrides sizes{};
  std::vector<TileStrides> reads, folds;  // strides, one per read and per fold of the program
};

// Row-major strides of `shape`, seen from `space` to which it broadcasts (aligned at the last axis).
TileStrides broadcast_strides(const Shape& shape, const Shape& space);
// Row-major strides of what is left of `space` without `axes` (valid, from the end if negative; none: all).
TileStrides fold_strides(const Shape& space, std::span<const int64_t> axes);

}  // namespace plimsoll
