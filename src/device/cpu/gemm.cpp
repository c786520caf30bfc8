#include "device/cpu/gemm.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "device/aligned.h"
#include "device/cpu/gemm_kernels.h"
#include "device/cpu/thread_pool.h"
#include "hwy/targets.h"

namespace plimsoll {
namespace {

struct Range {
  int64_t begin, end;
};

// What chunk `c` of `chunks` does of [0, size), in whole units.
Range share(int64_t size, int64_t unit, int64_t chunks, int64_t c) {
  const int64_t units = divide_up(size, unit);
  return {std::min(size, c * units / chunks * unit), std::min(size, (c + 1) * units / chunks * unit)};
}

// One item of the batch, with the plan it follows.
template <class T>
struct Item {
  const GemmPlan& plan;
  const T* a;
  const T* b;
  const T* bias;
  T* c;

  const GemmProblem& problem() const { return plan.problem; }
  const GemmKernels<T>& kernels() const { return *static_cast<const GemmKernels<T>*>(plan.kernels); }
  int64_t panel(int64_t k, int64_t width) const {
    const int64_t line = 64 / static_cast<int64_t>(sizeof(T));
    return round_up(k * width + 4, line);
  }

  // The part of a block that does not depend on where A and B come from; p0 is its first k, of kc.
  GemmBlock<T> block(Range rows, Range columns, int64_t p0, int64_t kc) const {
    const GemmProblem& p = problem();
    const bool last = p0 + kc >= p.k;
    GemmBlock<T> call{};
    call.c = c + rows.begin * p.c_row + columns.begin;
    call.c_row = p.c_row;
    call.m = rows.end - rows.begin;
    call.n = columns.end - columns.begin;
    call.k = kc;
    call.bias = last && p.bias ? bias + (plan.bias_scalar ? 0 : columns.begin) : nullptr;
    call.bias_scalar = plan.bias_scalar;
    call.add_c = p.accumulate || p0 > 0;
    call.relu = last && p.relu;
    return call;
  }

  void finish(Range rows, Range columns) const {
    const GemmProblem& p = problem();
    if (!p.post || columns.begin == columns.end) return;
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      T* const row = c + i * p.c_row + columns.begin;
      const void* const in[] = {row};
      p.post(in, row, static_cast<size_t>(columns.end - columns.begin), p.post_params);
    }
  }

  void run_direct(Range rows, Range columns) const {
    const GemmProblem& p = problem();
    int64_t p0 = 0;
    do {  // once even if k is 0: C is still to be written
      const int64_t kc = std::min(plan.kc, p.k - p0);
      GemmBlock<T> call = block(rows, columns, p0, kc);
      call.a = a + rows.begin * p.a_row + p0 * p.a_col;
      call.a_row = p.a_row;
      call.a_col = p.a_col;
      call.b = b + p0 * p.b_row + columns.begin;
      call.b_row = p.b_row;
      kernels().block(call);
      p0 += kc;
    } while (p0 < p.k);
    finish(rows, columns);
  }

  void run_dot(Range rows, T* gathered) const {
    const GemmProblem& p = problem();
    const T* x = b;
    if (plan.b_elements > 0) {
      for (int64_t i = 0; i < p.k; ++i) gathered[i] = b[i * p.b_row];
      x = gathered;
    }
    GemmDot<T> call{};
    call.a = a + rows.begin * p.a_row;
    call.a_row = p.a_row;
    call.x = x;
    call.y = c + rows.begin;
    call.m = rows.end - rows.begin;
    call.k = p.k;
    call.bias = p.bias ? bias + (plan.bias_scalar ? 0 : rows.begin) : nullptr;
    call.bias_scalar = plan.bias_scalar;
    call.add_c = p.accumulate;
    call.relu = p.relu;
    kernels().dot(call);
    if (p.post && call.m > 0) {
      const void* const in[] = {call.y};
      p.post(in, call.y, static_cast<size_t>(call.m), p.post_params);
    }
  }

  // Panels [mine) of the block of B that starts at (p0, columns.begin).
  void pack_b(int64_t p0, int64_t kc, Range columns, Range mine, T* packed) const {
    const GemmProblem& p = problem();
    const int64_t nr = kernels().nr, stride = panel(kc, nr);
    const int64_t begin = columns.begin + mine.begin * nr,
                  end = std::min(columns.end, columns.begin + mine.end * nr);
    kernels().pack(b + p0 * p.b_row + begin * p.b_col, p.b_col, p.b_row, end - begin, kc, nr, stride,
                   packed + mine.begin * stride);
  }

  // Rows x columns of C from k's [p0, p0 + kc), B packed; `first` is the first column of the packed block.
  // Where A is shared, `packed_a` is the block of all rows.
  void run_block(Range rows, Range columns, int64_t first, int64_t p0, int64_t kc, const T* packed_b,
                 T* packed_a) const {
    const GemmProblem& p = problem();
    const int64_t mr = kernels().mr, nr = kernels().nr;
    for (int64_t i0 = rows.begin; i0 < rows.end; i0 += plan.mc) {
      const Range part{i0, std::min(rows.end, i0 + plan.mc)};
      GemmBlock<T> call = block(part, columns, p0, kc);
      call.a = a + i0 * p.a_row + p0 * p.a_col;
      call.a_row = p.a_row;
      call.a_col = p.a_col;
      if (plan.pack_a) {
        call.a_panel = panel(kc, mr);
        if (!plan.share_a) kernels().pack(call.a, p.a_row, p.a_col, call.m, kc, mr, call.a_panel, packed_a);
        call.a = packed_a + (plan.share_a ? i0 / mr * call.a_panel : 0);
        call.a_row = 1;
        call.a_col = mr;
      }
      call.b_row = nr;
      call.b_panel = panel(kc, nr);
      call.b = packed_b + (columns.begin - first) / nr * call.b_panel;
      kernels().block(call);
      if (p0 + kc >= p.k) finish(part, columns);
    }
  }

  // A cell of the grid, by one thread with blocks of its own.
  void run_cell(Range rows, Range columns, T* packed_b, T* packed_a) const {
    const GemmProblem& p = problem();
    for (int64_t j0 = columns.begin; j0 < columns.end; j0 += plan.nc) {
      const Range part{j0, std::min(columns.end, j0 + plan.nc)};
      int64_t p0 = 0;
      do {
        const int64_t kc = std::min(plan.kc, p.k - p0);
        pack_b(p0, kc, part, {0, panels(part)}, packed_b);
        run_block(rows, part, j0, p0, kc, packed_b, packed_a);
        p0 += kc;
      } while (p0 < p.k);
    }
  }

  // By all threads together: they pack a part of B, and of A, then use it.
  void run_shared(T* packed_b, T* packed_a) const {
    const GemmProblem& p = problem();
    const int64_t chunks = plan.row_chunks * plan.col_chunks;
    for (int64_t j0 = 0; j0 < p.n; j0 += plan.nc) {
      const Range part{j0, std::min(p.n, j0 + plan.nc)};
      for (int64_t q0 = 0; q0 < p.k; q0 += plan.depth) {
        const Range sums{q0, std::min(p.k, q0 + plan.depth)};
        pack_shared(sums, part, packed_b, packed_a);
        parallel_for(chunks, p.threads, [&](int64_t chunk, int thread) noexcept {
          const Range rows = share(p.m, kernels().mr, plan.row_chunks, chunk % plan.row_chunks);
          const Range mine = share(part.end - j0, kernels().nr, plan.col_chunks, chunk / plan.row_chunks);
          for (int64_t p0 = sums.begin; p0 < sums.end; p0 += plan.kc) {
            run_block(rows, {mine.begin + j0, mine.end + j0}, j0, p0, std::min(plan.kc, p.k - p0),
                      packed_b + b_at(p0 - q0, part),
                      packed_a + (plan.share_a ? a_at(p0 - q0) : thread * plan.a_elements));
          }
        });
      }
    }
  }

  // Where the blocks lie that begin `k` after the first of those packed together.
  int64_t b_at(int64_t k, Range columns) const {
    return k / plan.kc * panels(columns) * panel(plan.kc, kernels().nr);
  }
  int64_t a_at(int64_t k) const {
    return k / plan.kc * divide_up(problem().m, kernels().mr) * panel(plan.kc, kernels().mr);
  }

  void pack_shared(Range sums, Range columns, T* packed_b, T* packed_a) const {
    const GemmProblem& p = problem();
    const int64_t mr = kernels().mr, b_panels = panels(columns), a_panels = divide_up(p.m, mr);
    const int64_t blocks = divide_up(sums.end - sums.begin, plan.kc);
    const int64_t each = std::max<int64_t>(1, divide_up(4 * p.threads, blocks));
    const int64_t b_tasks = std::min(b_panels, each), a_tasks = plan.share_a ? std::min(a_panels, each) : 0;
    parallel_for(blocks * (b_tasks + a_tasks), p.threads, [&](int64_t chunk, int) noexcept {
      const int64_t p0 = sums.begin + chunk / (b_tasks + a_tasks) * plan.kc,
                    task = chunk % (b_tasks + a_tasks);
      const int64_t kc = std::min(plan.kc, sums.end - p0);
      if (task < b_tasks) {
        const Range mine = share(b_panels, 1, b_tasks, task);
        return pack_b(p0, kc, columns, mine, packed_b + b_at(p0 - sums.begin, columns));
      }
      const Range rows = share(p.m, mr, a_tasks, task - b_tasks);
      kernels().pack(a + rows.begin * p.a_row + p0 * p.a_col, p.a_row, p.a_col, rows.end - rows.begin, kc, mr,
                     panel(kc, mr), packed_a + a_at(p0 - sums.begin) + rows.begin / mr * panel(kc, mr));
    });
  }

  int64_t panels(Range columns) const { return divide_up(columns.end - columns.begin, kernels().nr); }
};

template <class T>
void run_all(const GemmPlan& plan, const T* a, const T* b, const T* bias, T* c, T* scratch) {
  const GemmProblem& p = plan.problem;
  const auto item = [&](int64_t i) {
    const int64_t y = i / p.batch, z = i % p.batch;
    return Item<T>{plan, a + y * p.a_outer + z * p.a_batch, b + y * p.b_outer + z * p.b_batch, bias,
                   c + y * p.c_outer + z * p.c_batch};
  };
  T* const packed_a = scratch;
  T* const packed_b = scratch + plan.a_elements * (plan.share_a ? 1 : p.threads);
  if (plan.shared) {
    for (int64_t i = 0; i < plan.items(); ++i) item(i).run_shared(packed_b, packed_a);
    return;
  }
  const int64_t parts = plan.row_chunks * plan.col_chunks;
  parallel_for(plan.items() * parts, p.threads, [&](int64_t chunk, int thread) noexcept {
    const Item<T> it = item(chunk / parts);
    const int64_t part = chunk % parts;
    const Range rows = share(p.m, it.kernels().mr, plan.row_chunks, part % plan.row_chunks);
    const Range columns = share(p.n, it.kernels().nr, plan.col_chunks, part / plan.row_chunks);
    switch (plan.path) {
      case GemmPlan::Path::direct: return it.run_direct(rows, columns);
      case GemmPlan::Path::dot: return it.run_dot(rows, packed_b + thread * plan.b_elements);
      case GemmPlan::Path::packed:
        return it.run_cell(rows, columns, packed_b + thread * plan.b_elements,
                           packed_a + thread * plan.a_elements);
    }
  });
}

}  // namespace

void Gemm::run(const void* a, const void* b, const void* bias, void* c, void* scratch) const {
  if (plan_.problem.m == 0 || plan_.problem.n == 0) return;
  if (plan_.swapped) std::swap(a, b);
  const auto run_as = [&]<class T>(T*) {
    run_all<T>(plan_, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<const T*>(bias),
               static_cast<T*>(c), static_cast<T*>(scratch));
  };
  if (plan_.problem.dtype == DType::f32)
    run_as(static_cast<float*>(nullptr));
  else
    run_as(static_cast<double*>(nullptr));
}

std::string highway_target() {
  const int64_t best = hwy::SupportedTargets() & -hwy::SupportedTargets();
  std::string name = hwy::TargetName(best);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char ch) { return std::tolower(ch); });
  return name;
}

std::string Gemm::name() const { return "highway gemm:" + highway_target(); }

}  // namespace plimsoll
