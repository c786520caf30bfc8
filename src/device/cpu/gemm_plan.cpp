#include "device/cpu/gemm_plan.h"

#include <algorithm>
#include <utility>

#include "device/aligned.h"
#include "device/cpu/gemm_kernels.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr double kWorkPerThread = 1.5e6;  // multiply-adds and bytes that pay for waking a thread
constexpr int64_t kKc = 384;              // a panel of B, kKc x nr, stays in the first-level cache
constexpr int64_t kMc = 144;              // a block of A, kMc x kKc, in the second
constexpr int64_t kNc = 3072;             // a block of B, kKc x kNc, in the third, if threads share it,
constexpr int64_t kOwnNc = 1024;          // and if each has its own
constexpr double kPackCost = 12;          // multiply-adds in the time that packing one element takes
constexpr double kMostPacking =
    0.08;  // more of it than if they share, in parts of all work, if each has its own:
constexpr double kMostPackingOfMany =
    0.03;  // two or four threads keep what they pack near, many share anyway
constexpr int64_t kFew = 4;
constexpr int64_t kChunkPanels = 8, kFinerChunks = 4;
constexpr int64_t kCellRows = 2, kCellColumns = 8,
                  kCellsPerThread = 8;  // panels of a cell where all is shared
constexpr int64_t kSharedBytes =
    8 << 20;  // of B packed at once, so that threads meet twice and not for every block
constexpr int64_t kDirectBytes = 48 << 10;  // B is read as it lies if it is not much larger than the first,
constexpr int64_t kDirectPanels =
    2;  // or if there are so few panels of rows or columns that packing does not pay
constexpr int64_t kStreamKc =
    8;  // rows of a large B read side by side, as streams, for one to three rows of C,
constexpr int64_t kStreamRows = 3;
constexpr int64_t kDirectKc = 64;     // and for a few more
constexpr int64_t kPackColumns = 96;  // A is packed if that many columns of C use it,
constexpr int64_t kPackRows = 384;    // or that many if its rows are contiguous

// `size` in the fewest equal blocks of at most `most`, whole units each.
int64_t even_block(int64_t size, int64_t most, int64_t unit) {
  const int64_t blocks = std::max<int64_t>(1, divide_up(size, most));
  return std::max(unit, round_up(divide_up(size, blocks), unit));
}

// C with one row or one column, computed as its transpose.
void swap_operands(GemmPlan& plan) {
  GemmProblem& p = plan.problem;
  std::swap(p.m, p.n);
  std::swap(p.a_row, p.b_col);
  std::swap(p.a_col, p.b_row);
  std::swap(p.a_batch, p.b_batch);
  std::swap(p.a_outer, p.b_outer);
  p.c_row = p.n;
  plan.swapped = true;
}

void choose_path(GemmPlan& plan, int64_t rows, int64_t columns, int64_t element_size) {
  GemmProblem& p = plan.problem;
  plan.bias_scalar = p.n == 1;
  const bool column = p.n == 1 && p.c_row == 1;
  const bool dot_as_is = column && (p.a_col == 1 || p.k == 1);
  const bool dot_swapped = p.m == 1 && p.b_col != 1 && p.b_row == 1;
  if (!dot_as_is && (dot_swapped || column)) swap_operands(plan);
  if (dot_as_is || dot_swapped) {
    plan.path = GemmPlan::Path::dot;
    return;
  }
  const bool few = divide_up(p.m, rows) <= kDirectPanels || divide_up(p.n, columns) <= kDirectPanels;
  const bool small = few || p.k * p.n * element_size <= kDirectBytes;
  plan.path = p.b_col == 1 && small ? GemmPlan::Path::direct : GemmPlan::Path::packed;
}

void choose_threads(GemmPlan& plan, double element_size) {
  GemmProblem& p = plan.problem;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const double bytes = element_size * (m * k + k * n + m * n);
  const double work = static_cast<double>(plan.items()) * (m * n * k * element_size / 4 + bytes);
  p.threads =
      static_cast<int>(std::clamp(work / kWorkPerThread, 1.0, static_cast<double>(std::max(1, p.threads))));
}

// Splits C among threads: by items of the batch if there are enough, else into a grid. What a thread
// packs for its cell others pack too, but nothing moves from core to core; where that is too much they
// share the blocks of B.
void choose_chunks(GemmPlan& plan, int64_t rows, int64_t columns) {
  const GemmProblem& p = plan.problem;
  const int64_t threads = p.threads;
  if (threads == 1 || plan.items() >= 2 * threads || plan.items() % threads == 0) return;
  const int64_t row_panels = std::max<int64_t>(1, divide_up(p.m, rows));
  const int64_t column_panels = std::max<int64_t>(1, divide_up(p.n, columns));
  double least = 1e30;
  for (int64_t r = 1; r <= threads; ++r) {
    const int64_t across = std::min(r, row_panels), along = std::min(threads / r, column_panels);
    const double packing = kPackCost * (static_cast<double>(across) / static_cast<double>(p.m) +
                                        static_cast<double>(along) / static_cast<double>(p.n));
    const double idle = static_cast<double>(threads) / static_cast<double>(across * along);
    if ((1 + packing) * idle >= least) continue;
    least = (1 + packing) * idle;
    plan.row_chunks = across;
    plan.col_chunks = along;
  }
  if (plan.path !=
      GemmPlan::Path::packed) {  // nothing is copied: finer chunks cost nothing, and others can help
    plan.row_chunks = std::clamp(row_panels / kChunkPanels, plan.row_chunks, kFinerChunks * plan.row_chunks);
    return;
  }
  const double shared = kPackCost * (1 / static_cast<double>(p.m) + 1 / static_cast<double>(p.n));
  const double most = threads <= kFew ? kMostPacking : kMostPackingOfMany;
  plan.shared = least > 1 + shared + most;
}

// Cells for threads that share what they pack: small ones, so that all have the same to do and others can
// help one that is late.
void choose_cells(GemmPlan& plan, int64_t rows, int64_t columns) {
  const GemmProblem& p = plan.problem;
  const int64_t row_panels = divide_up(p.m, rows), column_panels = divide_up(std::min(p.n, kNc), columns);
  if (plan.pack_a && !plan.share_a) {  // a chunk's rows are packed by who has it
    plan.row_chunks = std::min<int64_t>(row_panels, round_up(divide_up(p.m, kMc), 2 * p.threads));
    plan.col_chunks = 1;
    return;
  }
  int64_t high = kCellRows, wide = kCellColumns;  // in panels
  const auto cells = [&] { return divide_up(row_panels, high) * divide_up(column_panels, wide); };
  while (cells() < kCellsPerThread * p.threads && wide > 1) {
    wide /= 2;
    if (high > 1) high /= 2;
  }
  plan.row_chunks = divide_up(row_panels, high);
  plan.col_chunks = divide_up(column_panels, wide);
}

template <class T>
void choose_blocks(GemmPlan& plan, const GemmKernels<T>& kernels) {
  const GemmProblem& p = plan.problem;
  const int64_t line = 64 / static_cast<int64_t>(sizeof(T));
  if (plan.path == GemmPlan::Path::dot) {
    const bool gather = p.b_row != 1 && p.k > 1;
    plan.b_elements = gather ? round_up(p.k, line) : 0;
    plan.scratch = plan.b_elements * p.threads * static_cast<int64_t>(sizeof(T));
    return;
  }
  if (plan.path == GemmPlan::Path::direct) {
    const int64_t row_bytes = std::max<int64_t>(1, p.n * static_cast<int64_t>(sizeof(T)));
    const int64_t most = p.m <= kStreamRows ? kStreamKc : kDirectKc;
    plan.kc = p.k * row_bytes <= kDirectBytes ? std::max<int64_t>(p.k, 1)
                                              : std::max(most, kDirectBytes / row_bytes);
    return;
  }
  plan.kc = even_block(p.k, kKc * 4 / static_cast<int64_t>(sizeof(T)), 4);
  plan.pack_a = p.n >= (p.a_col == 1 ? kPackRows : kPackColumns) || (p.a_col != 1 && p.a_row != 1);
  // A panel may be written up to four elements past its end.
  const int64_t a_panel = round_up(plan.kc * kernels.mr + 4, line),
                b_panel = round_up(plan.kc * kernels.nr + 4, line);
  if (plan.shared) {
    plan.nc = even_block(p.n, kNc, kernels.nr);
    plan.b_elements = plan.nc / kernels.nr * b_panel;
    const int64_t a_block = divide_up(p.m, kernels.mr) * a_panel, size = static_cast<int64_t>(sizeof(T));
    const int64_t blocks =
        std::clamp(kSharedBytes / (plan.b_elements * size), int64_t{1}, divide_up(p.k, plan.kc));
    plan.depth = blocks * plan.kc;
    plan.share_a = plan.pack_a && blocks * a_block * size <= kSharedBytes;
    choose_cells(plan, kernels.mr, kernels.nr);
    plan.b_elements *= blocks;
    if (plan.share_a) plan.a_elements = blocks * a_block;
  } else {
    const int64_t spare = plan.col_chunks > 1 ? kernels.nr : 0;  // chunks are whole panels
    plan.nc = even_block(divide_up(p.n, plan.col_chunks) + spare, kOwnNc, kernels.nr);
    plan.b_elements = plan.nc / kernels.nr * b_panel;
  }
  plan.mc = even_block(divide_up(p.m, plan.row_chunks), kMc, kernels.mr);
  if (plan.pack_a && !plan.share_a) plan.a_elements = plan.mc / kernels.mr * a_panel;
  plan.scratch =
      (plan.a_elements * (plan.share_a ? 1 : p.threads) + plan.b_elements * (plan.shared ? 1 : p.threads)) *
      static_cast<int64_t>(sizeof(T));
}

template <class T>
GemmPlan plan_typed(const GemmProblem& problem, const GemmKernels<T>& kernels) {
  GemmPlan plan;
  plan.problem = problem;
  plan.kernels = &kernels;
  choose_path(plan, kernels.mr, kernels.nr, sizeof(T));
  choose_threads(plan, sizeof(T));
  choose_chunks(plan, kernels.mr, kernels.nr);
  choose_blocks(plan, kernels);
  return plan;
}

}  // namespace

GemmPlan plan_gemm(const GemmProblem& problem) {
  if (problem.dtype == DType::f32) return plan_typed(problem, gemm_kernels_f32());
  if (problem.dtype == DType::f64) return plan_typed(problem, gemm_kernels_f64());
  fail(ErrorKind::unsupported, "gemm", "expected float32 or float64, got ", problem.dtype);
}

}  // namespace plimsoll
