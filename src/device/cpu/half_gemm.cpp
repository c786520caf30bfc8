#include "device/cpu/half_gemm.h"

#include <algorithm>

#include "device/aligned.h"
#include "device/cpu/gemm.h"
#include "device/cpu/gemm_kernels.h"
#include "device/cpu/half_rows.h"
#include "device/cpu/thread_pool.h"

namespace plimsoll {
namespace {

constexpr double kWorkPerThread = 1.5e6;  // multiply-adds that pay for waking a thread
constexpr double kPackCost = 16;          // multiply-adds in the time that packing one element takes
constexpr int64_t kWholeSum = 1024;       // sums up to this length are taken in one block
constexpr int64_t kKc = 512;              // longer ones in blocks of this,
constexpr int64_t kMc = 144;              // with a tile of C of kMc x kNc in f32
constexpr int64_t kNc = 384;
constexpr int64_t kSmall = 1 << 19;  // multiply-adds; such a product takes blocks of kSmallKc x one panel,
constexpr int64_t kSmallKc = 16;     // as scratch of the size of its operands would eat up what halves save
constexpr int64_t kPackedBytes = 512 << 10;  // of B, if the sum is one block: half the second-level cache

int64_t panel_elements(int64_t k, int64_t width) { return round_up(k * width, kAlign / 4); }

// `size` in the fewest equal blocks of at most `most`, whole units each.
int64_t even_block(int64_t size, int64_t most, int64_t unit) {
  const int64_t blocks = std::max<int64_t>(1, divide_up(size, std::max(unit, most)));
  return std::max(unit, round_up(divide_up(size, blocks), unit));
}

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

Range share(int64_t size, int64_t unit, int64_t chunks, int64_t c) {
  const int64_t units = divide_up(size, unit);
  return {std::min(size, c * units / chunks * unit), std::min(size, (c + 1) * units / chunks * unit)};
}

const char* element(const void* base, DType dtype, int64_t i) {
  return static_cast<const char*>(base) + i * static_cast<int64_t>(size_of(dtype));
}

}  // namespace

HalfGemm::HalfGemm(const GemmProblem& problem, const HalfTypes& types)
    : p_(problem), types_(types), mr_(gemm_kernels_f32().mr), nr_(gemm_kernels_f32().nr) {
  choose_grid();
  choose_blocks();
}

// By items of the batch if there are enough, else in a grid of cells whose packing costs least.
void HalfGemm::choose_grid() {
  const auto m = static_cast<double>(p_.m), n = static_cast<double>(p_.n), k = static_cast<double>(p_.k);
  const int64_t items = p_.outer * p_.batch;
  const double work = static_cast<double>(items) * m * n * k;
  p_.threads =
      static_cast<int>(std::clamp(work / kWorkPerThread, 1.0, static_cast<double>(std::max(1, p_.threads))));
  const int64_t threads = p_.threads;
  if (threads == 1 || items >= 2 * threads || items % threads == 0) return;
  double least = 1e30;
  for (int64_t r = 1; r <= threads; ++r) {
    const int64_t across = std::min(r, std::max<int64_t>(1, divide_up(p_.m, mr_)));
    const int64_t along = std::min(threads / r, std::max<int64_t>(1, divide_up(p_.n, nr_)));
    const double packing = kPackCost * (static_cast<double>(across) / m + static_cast<double>(along) / n);
    const double cost = (1 + packing) * static_cast<double>(threads) / static_cast<double>(across * along);
    if (cost >= least) continue;
    least = cost;
    row_chunks_ = across;
    col_chunks_ = along;
  }
}

void HalfGemm::choose_blocks() {
  const int64_t rows = divide_up(p_.m, row_chunks_), columns = divide_up(p_.n, col_chunks_) + nr_ - 1;
  const bool small = p_.m * p_.n <= kSmall / std::max<int64_t>(p_.k, 1);
  const bool whole = !small && p_.k <= kWholeSum;
  kc_ = small ? even_block(p_.k, kSmallKc, 4) : whole ? std::max<int64_t>(p_.k, 1) : even_block(p_.k, kKc, 4);
  // In one block a few rows of C at a time are enough.
  mc_ = small ? even_block(rows, 3 * mr_, mr_) : whole ? mr_ : even_block(rows, kMc, mr_);
  const int64_t most = small ? nr_ : whole ? std::min<int64_t>(kPackedBytes / (4 * kc_), kNc) : kNc;
  nc_ = even_block(std::min(columns, round_up(p_.n, nr_)), most, nr_);
  b_at_ = aligned(mc_ / mr_ * panel_elements(kc_, mr_) * 4);
  tile_at_ = b_at_ + aligned(nc_ / nr_ * panel_elements(kc_, nr_) * 4);
  bias_at_ = tile_at_ + aligned(mc_ * nc_ * 4);
  piece_ = bias_at_ + (p_.bias ? aligned(nc_ * 4) : 0);
}

// What one thread does: some rows and columns of one item.
struct HalfGemm::Cell {
  const HalfGemm& g;
  const char *a, *b;
  const void* bias;
  void* c;
  int64_t c_first;  // element
  char* scratch;

  float* packed_a() const { return reinterpret_cast<float*>(scratch); }
  float* packed_b() const { return reinterpret_cast<float*>(scratch + g.b_at_); }
  float* tile() const { return reinterpret_cast<float*>(scratch + g.tile_at_); }
  float* wide_bias() const { return reinterpret_cast<float*>(scratch + g.bias_at_); }

  void pack_b(int64_t p0, int64_t kc, Range columns) const {
    const GemmProblem& p = g.p_;
    pack_wide({g.types_.b, element(b, g.types_.b, p0 * p.b_row + columns.begin * p.b_col), p.b_col, p.b_row,
               columns.size(), kc, g.nr_, panel_elements(kc, g.nr_)},
              packed_b());
  }

  // The tile gets, or gets added, the products of k's [p0, p0 + kc).
  void multiply(int64_t p0, int64_t kc, Range rows, Range columns) const {
    const GemmProblem& p = g.p_;
    const bool last = p0 + kc >= p.k;
    const int64_t panel = panel_elements(kc, g.mr_);
    pack_wide({g.types_.a, element(a, g.types_.a, rows.begin * p.a_row + p0 * p.a_col), p.a_row, p.a_col,
               rows.size(), kc, g.mr_, panel},
              packed_a());
    GemmBlock<float> call{};
    call.a = packed_a(), call.a_row = 1, call.a_col = g.mr_, call.a_panel = panel;
    call.b = packed_b(), call.b_row = g.nr_, call.b_panel = panel_elements(kc, g.nr_);
    call.c = tile(), call.c_row = g.nc_;
    call.m = rows.size(), call.n = columns.size(), call.k = kc;
    call.bias = last && p.bias ? wide_bias() : nullptr;
    call.add_c = p0 > 0;
    call.relu = last && p.relu;
    gemm_kernels_f32().block(call);
  }

  void finish(Range rows, Range columns) const {
    const GemmProblem& p = g.p_;
    const auto size = static_cast<int64_t>(size_of(g.types_.c));
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      float* const row = tile() + (i - rows.begin) * g.nc_;
      const void* const in[] = {row};
      if (p.post) p.post(in, row, static_cast<size_t>(columns.size()), p.post_params);
      char* const to = static_cast<char*>(c) + (c_first + i * p.c_row + columns.begin) * size;
      narrow_row(row, columns.size(), g.types_.c, to);
    }
  }

  void run(Range rows, Range columns) const {
    const GemmProblem& p = g.p_;
    const bool whole = g.kc_ >= p.k;
    for (int64_t j0 = columns.begin; j0 < columns.end; j0 += g.nc_) {
      const Range some{j0, std::min(columns.end, j0 + g.nc_)};
      if (p.bias) widen_row(g.types_.bias, element(bias, g.types_.bias, j0), some.size(), wide_bias());
      if (whole) pack_b(0, p.k, some);
      for (int64_t i0 = rows.begin; i0 < rows.end; i0 += g.mc_) {
        const Range part{i0, std::min(rows.end, i0 + g.mc_)};
        int64_t p0 = 0;
        do {  // once even if k is 0: C is still to be written
          const int64_t kc = std::min(g.kc_, p.k - p0);
          if (!whole) pack_b(p0, kc, some);
          multiply(p0, kc, part, some);
          p0 += kc;
        } while (p0 < p.k);
        finish(part, some);
      }
    }
  }
};

void HalfGemm::run(const void* a, const void* b, const void* bias, void* c, void* scratch) const {
  if (p_.m == 0 || p_.n == 0) return;
  const int64_t parts = row_chunks_ * col_chunks_;
  parallel_for(p_.outer * p_.batch * parts, p_.threads, [&](int64_t chunk, int thread) noexcept {
    const int64_t item = chunk / parts, part = chunk % parts;
    const int64_t y = item / p_.batch, z = item % p_.batch;
    const Cell cell{*this,
                    element(a, types_.a, y * p_.a_outer + z * p_.a_batch),
                    element(b, types_.b, y * p_.b_outer + z * p_.b_batch),
                    bias,
                    c,
                    y * p_.c_outer + z * p_.c_batch,
                    static_cast<char*>(scratch) + thread * piece_};
    cell.run(share(p_.m, mr_, row_chunks_, part % row_chunks_),
             share(p_.n, nr_, col_chunks_, part / row_chunks_));
  });
}

std::string HalfGemm::name() const { return "highway gemm:" + highway_target() + " of halves"; }

}  // namespace plimsoll
