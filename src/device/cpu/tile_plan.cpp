#include "device/cpu/tile_plan.h"

#include <algorithm>
#include <cstring>

#include "device/aligned.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kChunk = 65536;  // elements one thread takes at a time
// Registers of one thread: half of a common L1, the rest is for the arguments.
constexpr int64_t kTileBytes = 16 << 10;
constexpr int64_t kWide = 256;      // accumulators side by side where rows are short
constexpr int64_t kColumns = 1024;  // at most, of those that one thread folds from the first row to the last
constexpr int64_t kBlocks = 32;     // of columns are enough for any number of threads

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }
size_t register_size(DType t) { return is_half(t) ? 4 : size_of(t); }

template <size_t kSize>
void copy_tile(const void* const* in, void* out, size_t n, const double*) {
  std::memmove(out, in[0], n * kSize);
}
TileFn copy_function(size_t size) {
  return size == 1 ? copy_tile<1> : size == 2 ? copy_tile<2> : size == 4 ? copy_tile<4> : copy_tile<8>;
}

}  // namespace

// Builds the plan in steps: shape (axes, tile size, chunks), then registers, loads and calls.
struct TilePlanner {
  const TileProgram& program;
  TileSpace space;
  TilePlan plan;
  std::vector<bool> linear;  // per read: the argument itself, element by element
  int64_t period = 1;        // tiles and chunks begin at multiples of this
  size_t value_bytes = 1;

  // Registers.
  std::vector<int> slot_of;   // per value
  std::vector<int> last_use;  // per value, in numbers of calls
  std::vector<int> free_slots;
  int slots = 0;

  explicit TilePlanner(const TileProgram& p) : program(p), space(p) {}

  int new_slot() {
    if (slots == kTileSlots) fail(ErrorKind::unsupported, "tile", "too many values in one kernel");
    return slots++;
  }
  int new_register() {
    const int slot = new_slot();
    plan.registers.push_back(static_cast<uint16_t>(slot));
    return slot;
  }

  // Axes that every reader and every fold walks as one are one.
  void shape() {
    plan.total = program.space().elements();
    plan.rank = space.rank;
    plan.dims = space.sizes;
    plan.inner = plan.dims[last()];
    for (size_t r = 0; r < program.reads().size(); ++r)
      linear.push_back(program.reads()[r].argument >= 0 && space.is_dense(space.reads[r]));
  }

  size_t last() const { return static_cast<size_t>(plan.rank - 1); }

  // Whether all folds keep axis `d` (stride not 0), or all drop it.
  bool all_keep(size_t d) const {
    return std::all_of(space.folds.begin(), space.folds.end(),
                       [&](const TileStrides& s) { return s[d] != 0; });
  }
  bool all_drop(size_t d) const {
    return std::all_of(space.folds.begin(), space.folds.end(),
                       [&](const TileStrides& s) { return s[d] == 0; });
  }

  void choose_tile(int64_t most) {
    plan.tile = std::min(most, plan.total);
    plan.in_rows = plan.inner > plan.tile;
    period = 1;
    if (plan.in_rows || plan.rank == 1) return;
    for (int d = plan.rank - 1; d >= 0; --d) {
      const int64_t size = plan.dims[static_cast<size_t>(d)];
      if (period * size > plan.tile) break;
      period *= size;
    }
    plan.tile = plan.tile / period * period;
  }

  void choose_chunks() {
    if (program.folds().empty()) return cut(period);
    int prefix_rank = 0;
    int64_t prefix = 1;
    while (prefix_rank < plan.rank && all_keep(static_cast<size_t>(prefix_rank))) {
      prefix *= plan.dims[static_cast<size_t>(prefix_rank++)];
    }
    plan.unit = plan.total / prefix;
    if (prefix >= 16 || plan.unit <= 2 * kChunk) return cut(std::max(plan.unit, period));
    int64_t elements = 0;
    for (const auto& f : program.folds()) elements = std::max(elements, f.elements);
    // The partial results must stay small beside what is folded.
    const int64_t copies = std::clamp<int64_t>(plan.total / (8 * elements), 1, 256);
    bool columns = plan.inner >= 1024 && prefix_rank < plan.rank - 1 && all_keep(last());
    for (size_t d = static_cast<size_t>(prefix_rank); columns && d < last(); ++d) columns = all_drop(d);
    if (columns && prefix * column_blocks() >= std::min(copies, kBlocks)) return cut_columns(prefix);
    plan.partial = true;
    const int64_t least = std::max(kChunk, divide_up(plan.total, copies));
    cut(period, least);
  }

  void cut(int64_t base, int64_t size = kChunk) {
    if (plan.in_rows && !plan.unit) base = plan.tile;
    plan.chunk = base * std::max<int64_t>(1, size / base);
    if (plan.chunk < size && plan.partial) plan.chunk = round_up(size, base);
    plan.chunks = divide_up(plan.total, plan.chunk);
  }

  void cut_columns(int64_t prefix) {
    plan.columns = plan.in_rows = true;
    period = 1;
    plan.chunks = prefix * column_blocks();
    plan.tile = std::min(plan.tile, kColumns);
  }

  int64_t column_blocks() const { return divide_up(plan.inner, std::min(plan.tile, kColumns)); }

  void lifetimes() {
    last_use.assign(program.values().size(), -1);
    for (size_t c = 0; c < program.calls().size(); ++c) {
      for (const int v : program.calls()[c].operands) last_use[static_cast<size_t>(v)] = static_cast<int>(c);
    }
    for (const auto& f : program.folds()) last_use[static_cast<size_t>(f.value)] = INT32_MAX;
    for (const auto& v : program.values()) value_bytes = std::max(value_bytes, register_size(v.dtype));
  }

  void add_call(std::vector<TilePlan::Call>& list, TileFn fn, int from, int to) {
    list.push_back({fn, {}, 1, {static_cast<uint16_t>(from)}, static_cast<uint16_t>(to)});
  }

  int moving_slot(int argument, size_t size) {
    const int slot = new_slot();
    plan.moving.push_back({static_cast<uint16_t>(slot), static_cast<uint16_t>(size), argument});
    return slot;
  }

  int64_t repeat_of(const TileStrides& strides) const {
    int64_t repeat = 1, size = 1;
    for (int d = plan.rank - 1; d >= 0; --d) {
      size *= plan.dims[static_cast<size_t>(d)];
      if (strides[static_cast<size_t>(d)] != 0) repeat = size;
    }
    return repeat;
  }

  TilePlan::LoadKind kind_of_load(const TileStrides& strides) const {
    if (plan.in_rows) {
      const int64_t inner = strides[last()];
      return inner == 1   ? TilePlan::LoadKind::row
             : inner == 0 ? TilePlan::LoadKind::fill
                          : TilePlan::LoadKind::gather;
    }
    return plan.tile % repeat_of(strides) == 0 ? TilePlan::LoadKind::once : TilePlan::LoadKind::gather;
  }

  void load(size_t index, size_t value) {
    const TileProgram::Read& read = program.reads()[index];
    const size_t size = size_of(read.dtype);
    bool once = false;
    int slot;
    if (linear[index]) {
      slot = moving_slot(read.argument, size);
    } else {
      const TilePlan::LoadKind kind = kind_of_load(space.reads[index]);
      once = kind == TilePlan::LoadKind::once;
      slot = kind == TilePlan::LoadKind::row ? new_slot() : new_register();
      plan.positioned = plan.positioned || !once;
      if (read.constant) plan.keep_alive.push_back(read.constant);
      (once ? plan.once : plan.loads)
          .push_back({kind, static_cast<uint16_t>(slot), static_cast<uint16_t>(size), read.argument,
                      read.constant.get(), space.reads[index], repeat_of(space.reads[index])});
    }
    if (is_half(read.dtype)) {
      const int wide = new_register();
      add_call(once ? plan.once_calls : plan.calls, half_functions(read.dtype).widen, slot, wide);
      slot = wide;
    }
    slot_of[value] = slot;
  }

  int take_register() {
    if (free_slots.empty()) return new_register();
    const int slot = free_slots.back();
    free_slots.pop_back();
    return slot;
  }

  // The output argument that value is written to while it is made, or -1.
  int direct_output(size_t value) const {
    if (is_half(program.values()[value].dtype)) return -1;
    for (const auto& w : program.writes()) {
      if (static_cast<size_t>(w.value) == value) return w.argument;
    }
    return -1;
  }

  void call(size_t index, size_t value) {
    const TileProgram::Call& call = program.calls()[index];
    TilePlan::Call out{call.tile.fn, call.tile.params, static_cast<uint16_t>(call.operands.size()), {}, 0};
    for (size_t i = 0; i < call.operands.size(); ++i) {
      out.in[i] = static_cast<uint16_t>(slot_of[static_cast<size_t>(call.operands[i])]);
    }
    const DType dtype = program.values()[value].dtype;
    const int direct = direct_output(value);
    const int slot = direct >= 0 ? moving_slot(direct, size_of(dtype)) : take_register();
    out.out = static_cast<uint16_t>(slot);
    plan.calls.push_back(out);
    slot_of[value] = slot;
    if (is_half(dtype) && last_use[value] > static_cast<int>(index)) {
      add_call(plan.calls, half_functions(dtype).round, slot, slot);
    }
    write_copies(value, direct);
    release(call.operands, index);
    if (last_use[value] < 0 && direct < 0) free_slots.push_back(slot);
  }

  void write_copies(size_t value, int direct) {
    const DType dtype = program.values()[value].dtype;
    const TileFn fn = is_half(dtype) ? half_functions(dtype).narrow : copy_function(size_of(dtype));
    for (const auto& w : program.writes()) {
      if (static_cast<size_t>(w.value) != value || w.argument == direct) continue;
      add_call(plan.calls, fn, slot_of[value], moving_slot(w.argument, size_of(dtype)));
    }
  }

  // Registers of values made by calls go back when they are read for the last time.
  void release(const std::vector<int>& operands, size_t index) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const size_t v = static_cast<size_t>(operands[i]);
      const bool again = std::find(operands.begin(), operands.begin() + static_cast<int64_t>(i),
                                   operands[i]) != operands.begin() + static_cast<int64_t>(i);
      if (again || last_use[v] != static_cast<int>(index) || program.values()[v].call < 0) continue;
      if (direct_output(v) < 0) free_slots.push_back(slot_of[v]);
    }
  }

  void give_registers() {
    slot_of.assign(program.values().size(), -1);
    for (size_t v = 0; v < program.values().size(); ++v) {
      const TileProgram::Value& value = program.values()[v];
      if (value.read >= 0) {
        load(static_cast<size_t>(value.read), v);
        write_copies(v, -1);
      } else {
        call(static_cast<size_t>(value.call), v);
      }
    }
  }

  void drop_registers() {
    plan.moving.clear();
    plan.registers.clear();
    plan.once.clear();
    plan.loads.clear();
    plan.once_calls.clear();
    plan.calls.clear();
    plan.keep_alive.clear();
    plan.positioned = false;
    free_slots.clear();
    slots = 0;
  }

  void place_folds() {
    const int64_t prefix = plan.unit ? plan.total / plan.unit : 1;
    if (program.folds().size() > kTileFolds)
      fail(ErrorKind::unsupported, "tile", "too many folds in one kernel");
    for (size_t i = 0; i < program.folds().size(); ++i) {
      const TileProgram::FoldTo& f = program.folds()[i];
      const DType dtype = program.dtype_of(f.value);
      TilePlan::FoldStep step{};
      step.fns = fold_functions(f.kind, dtype);
      if (!step.fns.run) fail(ErrorKind::unsupported, "tile", "no such fold of ", dtype);
      step.slot = static_cast<uint16_t>(slot_of[static_cast<size_t>(f.value)]);
      step.argument = f.argument;
      step.dtype = dtype;
      step.strides = space.folds[i];
      step.elements = f.elements;
      if (is_half(dtype)) step.narrow = half_functions(dtype).narrow;
      const int64_t acc = static_cast<int64_t>(step.fns.acc_size);
      if (plan.columns) {
        step.window = plan.tile;
      } else {
        step.window = plan.partial ? f.elements : f.elements / prefix * (plan.chunk / plan.unit);
      }
      step.window = std::min(step.window, f.elements);  // a chunk may be longer than all there is
      if (side_by_side(step.strides)) step.wide = plan.inner * (kWide / plan.inner);
      step.scratch = plan.thread_bytes;
      plan.thread_bytes += aligned(step.wide * acc);
      if (plan.partial) {
        step.shared = plan.shared_bytes;
        plan.shared_bytes += aligned(plan.chunks * f.elements * acc);
      } else {
        plan.thread_bytes += aligned(step.window * acc);
      }
      plan.folds.push_back(step);
    }
    plan.positioned = plan.positioned || !plan.folds.empty();
  }

  // Folds over all axes but a short last one: some rows are added up side by side, and folded to one at the
  // end.
  bool side_by_side(const TileStrides& strides) const {
    if (plan.in_rows || plan.rank < 2 || plan.inner * 2 > kWide || strides[last()] != 1) return false;
    for (size_t d = 0; d < last(); ++d) {
      if (strides[d] != 0) return false;
    }
    return true;
  }

  void make(int arguments, int threads) {
    plan.scratch_argument = arguments;
    shape();
    if (plan.total > 0) {
      lifetimes();
      // How many registers there are tells how long a tile may be, and that may change the loads.
      choose_tile(1024);
      give_registers();
      const int64_t live = static_cast<int64_t>(plan.registers.size());
      const int64_t most =
          kTileBytes / std::max<int64_t>(1, live * static_cast<int64_t>(value_bytes)) / 64 * 64;
      drop_registers();
      const int64_t longest = live > 0 || !program.folds().empty() ? 2048 : kChunk / 2;
      choose_tile(std::clamp<int64_t>(live == 0 ? longest : most, 256, longest));
      choose_chunks();
      give_registers();
      plan.register_bytes = aligned(std::min(plan.tile, plan.total) * static_cast<int64_t>(value_bytes));
      plan.thread_bytes = plan.register_bytes * static_cast<int64_t>(plan.registers.size());
      const double work = static_cast<double>(plan.total) * static_cast<double>(1 + plan.calls.size());
      plan.threads = work < 200e3 ? 1 : static_cast<int>(std::min<int64_t>(threads, plan.chunks));
    }
    place_empty_or_folds();
  }

  void place_empty_or_folds() {
    if (plan.total > 0) return place_folds();
    for (const auto& f : program.folds()) {  // only the identity is left to write
      const DType dtype = program.dtype_of(f.value);
      TilePlan::FoldStep step{};
      step.fns = fold_functions(f.kind, dtype);
      step.argument = f.argument;
      step.dtype = dtype;
      step.elements = f.elements;
      if (is_half(dtype)) step.narrow = half_functions(dtype).narrow;
      plan.folds.push_back(step);
    }
  }
};

TilePlan plan_tiles(const TileProgram& program, int arguments, int threads) {
  TilePlanner planner(program);
  planner.make(arguments, threads);
  return std::move(planner.plan);
}

Kernel TileProgram::build(std::string name, int arguments, int threads) const {
  TilePlan plan = plan_tiles(*this, arguments, std::max(1, threads));
  const int64_t scratch = plan.shared_bytes + plan.thread_bytes * plan.threads;
  return make_kernel<TilePlan, run_tiles>(std::move(name), std::move(plan), scratch);
}

}  // namespace plimsoll
