#include <algorithm>
#include <cstring>

#include "device/aligned.h"
#include "device/cpu/row_chunks.h"
#include "device/cpu/tile_plan.h"

namespace plimsoll {
namespace {

using Index = std::array<int64_t, Shape::kMaxRank>;

// Indices of the element at `at`, in the collapsed space.
Index position(const TilePlan& p, int64_t at) {
  Index index{};
  for (int d = p.rank - 1; d > 0; --d) {
    const int64_t size = p.dims[static_cast<size_t>(d)];
    index[static_cast<size_t>(d)] = at % size;
    at /= size;
  }
  index[0] = at;
  return index;
}

// On to the first element of the next row.
void next_row(const TilePlan& p, Index& index) {
  size_t d = static_cast<size_t>(p.rank - 1);
  index[d] = 0;
  while (d > 0) {
    --d;
    if (++index[d] < p.dims[d]) return;
    if (d > 0) index[d] = 0;
  }
}

int64_t offset(const TilePlan& p, const TileStrides& strides, const Index& index) {
  int64_t sum = 0;
  for (int d = 0; d < p.rank; ++d) sum += strides[static_cast<size_t>(d)] * index[static_cast<size_t>(d)];
  return sum;
}

template <class T>
void gather_as(const TilePlan& p, const TilePlan::Load& load, const void* from, Index index, int64_t n,
               void* to) {
  const T* base = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  const size_t last = static_cast<size_t>(p.rank - 1);
  const int64_t step = load.strides[last];
  while (n > 0) {
    const T* row = base + offset(p, load.strides, index);
    const int64_t run = std::min(n, p.inner - index[last]);
    if (step == 0) {
      std::fill_n(out, run, *row);
    } else if (step == 1 && run >= 16) {
      std::memcpy(out, row, static_cast<size_t>(run) * sizeof(T));
    } else {
      for (int64_t i = 0; i < run; ++i) out[i] = row[i * step];
    }
    out += run;
    n -= run;
    if (n > 0) next_row(p, index);
  }
}

void gather(const TilePlan& p, const TilePlan::Load& load, const void* from, const Index& index, int64_t n,
            void* to) {
  switch (load.size) {
    case 1: return gather_as<uint8_t>(p, load, from, index, n, to);
    case 2: return gather_as<uint16_t>(p, load, from, index, n, to);
    case 4: return gather_as<uint32_t>(p, load, from, index, n, to);
    default: return gather_as<uint64_t>(p, load, from, index, n, to);
  }
}

void fill(size_t size, const void* from, int64_t n, void* to) {
  switch (size) {
    case 1: std::fill_n(static_cast<uint8_t*>(to), n, *static_cast<const uint8_t*>(from)); return;
    case 2: std::fill_n(static_cast<uint16_t*>(to), n, *static_cast<const uint16_t*>(from)); return;
    case 4: std::fill_n(static_cast<uint32_t*>(to), n, *static_cast<const uint32_t*>(from)); return;
    default: std::fill_n(static_cast<uint64_t*>(to), n, *static_cast<const uint64_t*>(from)); return;
  }
}

// One thread's work on one chunk.
class ChunkRun {
 public:
  ChunkRun(const TilePlan& plan, void* const* args, int64_t chunk, int thread)
      : p_(plan), args_(args), chunk_(chunk) {
    if (p_.shared_bytes + p_.thread_bytes > 0) {
      shared_ = static_cast<char*>(args[p_.scratch_argument]);
      mine_ = shared_ + p_.shared_bytes + p_.thread_bytes * thread;
    }
    char* next = mine_;
    for (const uint16_t slot : p_.registers) {
      slots_[slot] = next;
      next += p_.register_bytes;
    }
  }

  void linear() {
    const int64_t begin = chunk_ * p_.chunk;
    const int64_t end = std::min(p_.total, begin + p_.chunk);
    load_once(std::min(p_.tile, end - begin));
    if (!p_.folds.empty()) start_folds(p_.unit ? begin / p_.unit : 0);
    for (int64_t at = begin; at < end;) {
      int64_t n = std::min(p_.tile, end - at);
      if (p_.in_rows) n = std::min(n, p_.inner - at % p_.inner);
      tile(at, n);
      at += n;
    }
    if (!p_.folds.empty()) finish_folds();
  }

  void columns() {
    const int64_t blocks = (p_.inner + p_.tile - 1) / p_.tile;
    const int64_t unit = chunk_ / blocks;
    const int64_t column = chunk_ % blocks * p_.tile;
    const int64_t n = std::min(p_.tile, p_.inner - column);
    const int64_t begin = unit * p_.unit + column;
    const Index first = position(p_, begin);
    for (size_t f = 0; f < p_.folds.size(); ++f) {
      const TilePlan::FoldStep& fold = p_.folds[f];
      window_start_[f] = offset(p_, fold.strides, first);
      window_size_[f] = n;
      fold.fns.start(window(f), static_cast<size_t>(n));
    }
    for (int64_t at = begin; at < (unit + 1) * p_.unit; at += p_.inner) tile(at, n);
    finish_folds();
  }

 private:
  const void* base(const TilePlan::Load& load) const {
    return load.argument >= 0 ? args_[load.argument] : load.constant;
  }

  void execute(const TilePlan::Call& call, int64_t n) {
    const void* in[kTileOperands];
    for (uint16_t i = 0; i < call.count; ++i) in[i] = slots_[call.in[i]];
    call.fn(in, slots_[call.out], static_cast<size_t>(n), call.params.data());
  }

  void load_once(int64_t n) {
    for (const TilePlan::Load& load : p_.once) {
      char* to = slots_[load.slot];
      if (load.repeat == 1) {
        fill(load.size, base(load), n, to);
        continue;
      }
      int64_t done = std::min(n, load.repeat);
      gather(p_, load, base(load), Index{}, done, to);
      for (int64_t some; done < n; done += some) {  // twice as much every time
        some = std::min(done, n - done);
        std::memcpy(to + done * load.size, to, static_cast<size_t>(some * load.size));
      }
    }
    for (const TilePlan::Call& call : p_.once_calls) execute(call, n);
  }

  void load(const TilePlan::Load& load, size_t which, const Index& index, int64_t n) {
    if (load.kind == TilePlan::LoadKind::gather)
      return gather(p_, load, base(load), index, n, slots_[load.slot]);
    const char* from = static_cast<const char*>(base(load)) + offset(p_, load.strides, index) * load.size;
    if (load.kind == TilePlan::LoadKind::row) {
      slots_[load.slot] = const_cast<char*>(from);
    } else if (which >= kRemembered || from != filled_[which]) {
      if (which < kRemembered) filled_[which] = from;
      fill(load.size, from, std::min(p_.tile, p_.inner), slots_[load.slot]);
    }
  }

  void tile(int64_t at, int64_t n) {
    for (const TilePlan::Moving& m : p_.moving) {
      slots_[m.slot] = static_cast<char*>(args_[m.argument]) + at * m.size;
    }
    if (!p_.positioned) {
      for (const TilePlan::Call& call : p_.calls) execute(call, n);
      return;
    }
    const Index index = position(p_, at);
    for (size_t i = 0; i < p_.loads.size(); ++i) load(p_.loads[i], i, index, n);
    for (const TilePlan::Call& call : p_.calls) execute(call, n);
    for (size_t f = 0; f < p_.folds.size(); ++f) fold(f, index, n);
  }

  char* wide(size_t f) const { return mine_ + p_.folds[f].scratch; }
  char* window(size_t f) const {
    const TilePlan::FoldStep& fold = p_.folds[f];
    const int64_t size = static_cast<int64_t>(fold.fns.acc_size);
    if (p_.partial) return shared_ + fold.shared + chunk_ * fold.elements * size;
    return wide(f) + aligned(fold.wide * size);
  }

  void start_folds(int64_t unit) {
    for (size_t f = 0; f < p_.folds.size(); ++f) {
      const TilePlan::FoldStep& fold = p_.folds[f];
      const int64_t per_unit = p_.partial ? fold.elements : fold.elements / (p_.total / p_.unit);
      window_start_[f] = p_.partial ? 0 : unit * per_unit;
      window_size_[f] = std::min(fold.window, fold.elements - window_start_[f]);
      fold.fns.start(window(f), static_cast<size_t>(window_size_[f]));
      if (fold.wide) fold.fns.start(wide(f), static_cast<size_t>(fold.wide));
    }
  }

  void fold(size_t f, Index index, int64_t n) {
    const TilePlan::FoldStep& fold = p_.folds[f];
    const char* from = slots_[fold.slot];
    const size_t last = static_cast<size_t>(p_.rank - 1);
    const size_t size = register_size(fold.dtype);
    if (fold.wide) {
      for (int64_t i = 0; i < n; i += fold.wide) {
        fold.fns.columns(from + static_cast<size_t>(i) * size,
                         static_cast<size_t>(std::min(n - i, fold.wide)), wide(f));
      }
      return;
    }
    while (n > 0) {
      const int64_t run = std::min(n, p_.inner - index[last]);
      const int64_t to = offset(p_, fold.strides, index) - window_start_[f];
      char* acc = window(f) + to * static_cast<int64_t>(fold.fns.acc_size);
      (fold.strides[last] == 0 ? fold.fns.run : fold.fns.columns)(from, static_cast<size_t>(run), acc);
      from += static_cast<size_t>(run) * size;
      n -= run;
      if (n > 0) next_row(p_, index);
    }
  }

  void finish_folds() {
    for (size_t f = 0; f < p_.folds.size(); ++f) {
      const TilePlan::FoldStep& fold = p_.folds[f];
      const size_t acc = fold.fns.acc_size;
      for (int64_t i = 0; i < fold.wide; i += p_.inner) {
        fold.fns.merge(wide(f) + static_cast<size_t>(i) * acc, static_cast<size_t>(p_.inner), window(f));
      }
      if (!p_.partial) finish_fold(fold, window(f), window_start_[f], window_size_[f], args_);
    }
  }

  static size_t register_size(DType t) { return t == DType::f16 || t == DType::bf16 ? 4 : size_of(t); }

 public:
  // Accumulators to elements [start, start + n) of the output.
  static void finish_fold(const TilePlan::FoldStep& fold, const char* acc, int64_t start, int64_t n,
                          void* const* args) {
    char* out = static_cast<char*>(args[fold.argument]) + start * static_cast<int64_t>(size_of(fold.dtype));
    if (!fold.narrow) return fold.fns.finish(acc, static_cast<size_t>(n), out);
    float rounded[256];
    for (int64_t i = 0; i < n; i += 256) {
      const size_t some = static_cast<size_t>(std::min<int64_t>(256, n - i));
      fold.fns.finish(acc + static_cast<size_t>(i) * fold.fns.acc_size, some, rounded);
      const void* in[] = {rounded};
      fold.narrow(in, out + i * 2, some, nullptr);
    }
  }

 private:
  static constexpr size_t kRemembered = 16;
  const TilePlan& p_;
  void* const* args_;
  int64_t chunk_;
  char* shared_ = nullptr;
  char* mine_ = nullptr;
  const char* filled_[kRemembered] = {};
  int64_t window_start_[kTileFolds];
  int64_t window_size_[kTileFolds];
  char* slots_[kTileSlots];
};

// Element by element the chunks are merged in their order, whoever does it.
void combine_partials(const TilePlan& p, void* const* args) {
  for (const TilePlan::FoldStep& fold : p.folds) {
    char* const first = static_cast<char*>(args[p.scratch_argument]) + fold.shared;
    const auto size = static_cast<int64_t>(fold.fns.acc_size);
    parallel_rows(fold.elements, p.chunks, p.threads, [&](int64_t begin, int64_t end) {
      for (int64_t c = 1; c < p.chunks; ++c) {
        fold.fns.merge(first + (c * fold.elements + begin) * size, static_cast<size_t>(end - begin),
                       first + begin * size);
      }
      ChunkRun::finish_fold(fold, first + begin * size, begin, end - begin, args);
    });
  }
}

void write_identities(const TilePlan& p, void* const* args) {
  alignas(64) char acc[8];
  for (const TilePlan::FoldStep& fold : p.folds) {
    fold.fns.start(acc, 1);
    for (int64_t i = 0; i < fold.elements; ++i) ChunkRun::finish_fold(fold, acc, i, 1, args);
  }
}

}  // namespace

void run_tiles(const TilePlan& plan, void* const* args) {
  if (plan.total == 0) return write_identities(plan, args);
  const auto chunk = [&](int64_t c, int thread) noexcept {
    ChunkRun run(plan, args, c, thread);
    plan.columns ? run.columns() : run.linear();
  };
  if (plan.chunks == 1) {
    chunk(0, 0);
  } else {
    parallel_for(plan.chunks, plan.threads, chunk);
  }
  if (plan.partial) combine_partials(plan, args);
}

}  // namespace plimsoll
