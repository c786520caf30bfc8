// TilePlan: a TileProgram made ready: registers given out, loads classified, the space cut into chunks.
// Immutable once built; run by tile_run.cpp.
#pragma once

#include <memory>
#include <vector>

#include "device/cpu/tile.h"
#include "device/cpu/tile_simd.h"

namespace plimsoll {

inline constexpr int kTileSlots = 192;  // pointers a thread keeps on its stack
inline constexpr size_t kTileFolds = 16;

struct TilePlan {
  // A slot is a pointer: into an argument (it moves with the tile) or to a register of the thread.
  struct Moving {
    uint16_t slot;
    uint16_t size;
    int32_t argument;
  };
  enum class LoadKind : uint8_t {
    row,     // inner stride 1, a tile lies in one row: a pointer into the argument
    fill,    // inner stride 0, a tile lies in one row: one element, repeated
    once,    // repeats with the tile: gathered when a chunk begins
    gather,  // anything else
  };
  struct Load {
    LoadKind kind;
    uint16_t slot;
    uint16_t size;     // of an element
    int32_t argument;  // or -1:
    const void* constant;
    TileStrides strides;  // of the collapsed space, in elements
    int64_t repeat;       // elements after which it begins again
  };
  struct Call {
    TileFn fn;
    std::array<double, 4> params;
    uint16_t count;
    std::array<uint16_t, kTileOperands> in;
    uint16_t out;
  };
  struct FoldStep {
    FoldFns fns;
    uint16_t slot;
    int32_t argument;
    DType dtype;
    TileStrides strides;
    int64_t elements;  // of the output
    int64_t window;    // elements of the output one chunk works on
    int64_t wide;      // > 0: whole rows are folded side by side, this many elements
    int64_t scratch;   // offset in the thread's scratch: the wide accumulator, then the window
    int64_t shared;    // offset in the kernel's scratch, of partial results or half-width results
    TileFn narrow;     // for f16 and bf16
  };

  int rank = 0;  // of the collapsed space
  TileStrides dims{};
  int64_t total = 0;
  int64_t inner = 1;  // dims[rank - 1]
  int64_t tile = 0;   // most elements of a tile
  int64_t chunk = 0;  // elements of a chunk
  int64_t chunks = 0;
  int64_t unit = 0;         // chunks with private windows are multiples of this
  bool in_rows = false;     // tiles do not cross rows
  bool columns = false;     // a chunk is a block of columns, through all rows of its unit
  bool partial = false;     // every chunk folds into its own copy of the outputs
  bool positioned = false;  // some step needs the tile's indices

  std::vector<Moving> moving;
  std::vector<uint16_t> registers;  // the slot of each
  std::vector<Load> once, loads;
  std::vector<Call> once_calls, calls;
  std::vector<FoldStep> folds;
  std::vector<std::shared_ptr<const void>> keep_alive;

  int64_t register_bytes = 0;
  int64_t thread_bytes = 0;  // registers and windows
  int64_t shared_bytes = 0;
  int scratch_argument = 0;
  int threads = 1;
};

// Throws Error{unsupported} if the registers do not suffice.
TilePlan plan_tiles(const TileProgram& program, int arguments, int threads);
void run_tiles(const TilePlan& plan, void* const* args);

}  // namespace plimsoll
