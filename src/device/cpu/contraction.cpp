#include "device/cpu/contraction.h"

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "device/aligned.h"
#include "device/cpu/gemm.h"
#include "device/cpu/half_gemm.h"
#include "device/cpu/strided_copy.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/widened.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// An axis of the loop nest: its size and its stride in a, b and c (0: not in it).
struct Loop {
  int64_t size, a, b, c;
};

// Puts `inner` into `outer` if stepping through both is stepping through one. Axes of size 1 vanish.
bool merge(Loop& outer, const Loop& inner) {
  if (inner.size == 1) return true;
  if (outer.size == 1) {
    outer = inner;
    return true;
  }
  const int64_t s = inner.size;
  if (outer.a != inner.a * s || outer.b != inner.b * s || outer.c != inner.c * s) return false;
  outer = {outer.size * s, inner.a, inner.b, inner.c};
  return true;
}

void append(std::vector<Loop>& loops, const Loop& loop) {
  if (loops.empty() || !merge(loops.back(), loop)) loops.push_back(loop);
}

// One operand's axes in memory, with what each is.
struct Operand {
  std::vector<int64_t> sizes, strides;
  std::vector<int64_t> contract, batch, free;  // axes

  Operand(const Shape& shape, std::span<const int64_t> contract_axes, std::span<const int64_t> batch_axes)
      : sizes(shape.begin(), shape.end()),
        strides(sizes.size(), 1),
        contract(contract_axes.begin(), contract_axes.end()),
        batch(batch_axes.begin(), batch_axes.end()) {
    for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    for (int64_t axis = 0; axis < shape.rank(); ++axis) {
      const auto has = [&](const auto& list) {
        return std::find(list.begin(), list.end(), axis) != list.end();
      };
      if (!has(contract) && !has(batch)) free.push_back(axis);
    }
  }
  int64_t size(int64_t axis) const { return sizes[static_cast<size_t>(axis)]; }
  int64_t stride(int64_t axis) const { return strides[static_cast<size_t>(axis)]; }

  // As a dense copy with axes in the order batch, free, contract lies.
  Operand copied() const {
    Operand out = *this;
    int64_t stride = 1;
    for (const std::vector<int64_t>* axes : {&contract, &free, &batch}) {
      for (size_t i = axes->size(); i-- > 0;) {
        out.strides[static_cast<size_t>((*axes)[i])] = stride;
        stride *= std::max<int64_t>(1, size((*axes)[i]));
      }
    }
    return out;
  }
};

Loop take_last(std::vector<Loop>& loops) {
  if (loops.empty()) return {1, 0, 0, 0};
  const Loop last = loops.back();
  loops.pop_back();
  return last;
}

int64_t product(const Operand& x, const std::vector<int64_t>& axes) {
  int64_t n = 1;
  for (const int64_t axis : axes) n *= x.size(axis);
  return n;
}

// The loops over `axes` of the result, whose last one steps by `step` in c, as few as can be. Strides
// in a and b are those of the axes in the operands that are given.
std::vector<Loop> result_loops(const Operand* a, const std::vector<int64_t>& a_axes, const Operand* b,
                               const std::vector<int64_t>& b_axes, int64_t step) {
  std::vector<Loop> loops;
  for (size_t i = std::max(a_axes.size(), b_axes.size()); i-- > 0;) {
    const int64_t size = a ? a->size(a_axes[i]) : b->size(b_axes[i]);
    loops.push_back({size, a ? a->stride(a_axes[i]) : 0, b ? b->stride(b_axes[i]) : 0, step});
    step *= size;
  }
  std::vector<Loop> merged;
  for (size_t i = loops.size(); i-- > 0;) append(merged, loops[i]);
  return merged;
}

// Pairs of contracted axes may be taken in any order: in that of a, they are most likely to be one loop.
std::vector<Loop> sum_loops(const Operand& a, const Operand& b) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < a.contract.size(); ++i) {
    loops.push_back({a.size(a.contract[i]), a.stride(a.contract[i]), b.stride(b.contract[i]), 0});
  }
  std::sort(loops.begin(), loops.end(), [](const Loop& x, const Loop& y) { return x.a > y.a; });
  std::vector<Loop> merged;
  for (const Loop& loop : loops) append(merged, loop);
  return merged;
}

// The Gemm that reads the operands where they lie, if there is one: one loop each over rows, columns
// and sums, and what is left in the two levels of its batch.
std::optional<GemmProblem> as_gemm(const Operand& a, const Operand& b) {
  const int64_t rows = product(a, a.free), columns = product(b, b.free);
  std::vector<Loop> levels = result_loops(&a, a.batch, &b, b.batch, rows * columns);
  std::vector<Loop> row = result_loops(&a, a.free, nullptr, {}, columns);
  std::vector<Loop> column = result_loops(nullptr, {}, &b, b.free, 1);
  std::vector<Loop> sum = sum_loops(a, b);
  const Loop m = take_last(row), n = take_last(column), k = take_last(sum);
  for (const Loop& loop : row) append(levels, loop);
  for (const Loop& loop : column) append(levels, loop);
  std::erase_if(levels, [](const Loop& loop) { return loop.size == 1; });
  if (!sum.empty() || levels.size() > 2) return std::nullopt;

  GemmProblem p;
  p.m = m.size, p.n = n.size, p.k = k.size;
  p.a_row = m.a, p.a_col = k.a;
  p.b_row = k.b, p.b_col = n.size > 1 ? n.b : 1;
  p.c_row = m.size > 1 ? m.c : n.size;
  const Loop inner = take_last(levels), outer = take_last(levels);
  p.batch = inner.size, p.a_batch = inner.a, p.b_batch = inner.b, p.c_batch = inner.c;
  p.outer = outer.size, p.a_outer = outer.a, p.b_outer = outer.b, p.c_outer = outer.c;
  return p;
}

// A long sum, as over the rows of a batch in the gradient of a weight, is taken in two halves, products of
// their own, which are added at the end. So each thread packs only what it uses, and reads the rows that it
// had in the kernels before. Depends on the problem alone, as the order of sums has to.
constexpr int64_t kLongSum = 2048;
constexpr int64_t kMostAdded = 1 << 20;  // elements

bool in_halves(const GemmProblem& p) {
  const bool plain = p.batch * p.outer == 1 && !p.bias && !p.relu && !p.post;
  return plain && p.k >= kLongSum && p.k % 2 == 0 && p.m * p.n <= kMostAdded;
}

GemmProblem half_of(GemmProblem p) {
  p.k /= 2;
  p.batch = 2;
  p.a_batch = p.k * p.a_col;
  p.b_batch = p.k * p.b_row;
  p.c_row = p.n;
  p.c_batch = p.m * p.n;
  return p;
}

struct State {
  std::variant<Gemm, HalfGemm> gemm;
  DType dtype;
  int64_t added = 0;          // elements of the result that are a sum of two halves; 0: it comes as it is
  int64_t halves_offset = 0;  // of the halves in scratch; the Gemm's own begins at 0
  std::optional<StridedCopy> copy_a = {}, copy_b = {};
  int64_t a_offset = 0, b_offset = 0;  // of the copies in scratch
  int bias = -1, out = 2;              // indices of arguments; bias -1: none
};

template <class T>
void add_halves(const State& s, const void* halves, void* out) {
  const T* const x = static_cast<const T*>(halves);
  const int threads = std::visit([](const auto& gemm) { return gemm.threads(); }, s.gemm);
  parallel_for(threads, threads, [&](int64_t chunk, int) noexcept {
    const int64_t begin = s.added * chunk / threads, end = s.added * (chunk + 1) / threads;
    for (int64_t i = begin; i < end; ++i) static_cast<T*>(out)[i] = x[i] + x[s.added + i];
  });
}

void run(const State& s, void* const* args) {
  auto* const scratch = static_cast<char*>(args[s.out + 1]);
  const auto operand = [&](int i, const std::optional<StridedCopy>& copy, int64_t offset) -> const void* {
    if (!copy) return args[i];
    copy->run(scratch + offset, args[i]);
    return scratch + offset;
  };
  const void* const a = operand(0, s.copy_a, s.a_offset);
  const void* const b = operand(1, s.copy_b, s.b_offset);
  void* const halves = scratch + s.halves_offset;
  const void* const bias = s.bias < 0 ? nullptr : args[s.bias];
  void* const out = s.added > 0 ? halves : args[s.out];
  std::visit([&](const auto& gemm) { gemm.run(a, b, bias, out, scratch); }, s.gemm);
  if (s.added == 0) return;
  s.dtype == DType::f32 ? add_halves<float>(s, halves, args[s.out])
                        : add_halves<double>(s, halves, args[s.out]);
}

}  // namespace

Kernel prepare_contraction(const KernelQuery& q, const ContractionAxes& axes,
                           const ContractionEpilogue& epilogue) {
  const Operand a(q.in[0].shape, axes.a_contract, axes.a_batch),
      b(q.in[1].shape, axes.b_contract, axes.b_batch);
  bool copy_a = false, copy_b = false;
  std::optional<GemmProblem> p = as_gemm(a, b);
  if (!p && (p = as_gemm(a, b.copied()))) copy_b = true;
  if (!p && (p = as_gemm(a.copied(), b))) copy_a = true;
  if (!p && (p = as_gemm(a.copied(), b.copied()))) copy_a = copy_b = true;
  if (!p)
    fail(ErrorKind::unsupported, "dot_general", "no kernel for ", q.in[0].shape, " and ", q.in[1].shape);
  p->dtype = q.in[0].dtype;
  p->threads = available_threads(q.threads);
  p->bias = epilogue.bias;
  p->relu = epilogue.relu;
  p->post = epilogue.post;
  std::copy_n(epilogue.post_params, 4, p->post_params);

  const bool half = is_half(p->dtype), halved = !half && in_halves(*p);
  const auto product = [&]() -> std::variant<Gemm, HalfGemm> {
    if (half) return HalfGemm(*p, {p->dtype, p->dtype, p->dtype, p->dtype});
    return Gemm(halved ? half_of(*p) : *p);
  };
  State s{product(), p->dtype};
  if (epilogue.bias) s.bias = 2, s.out = 3;
  int64_t scratch = aligned(std::visit([](const auto& gemm) { return gemm.scratch_bytes(); }, s.gemm));
  if (halved) {
    s.added = p->m * p->n;
    s.halves_offset = scratch;
    scratch += aligned(2 * s.added * static_cast<int64_t>(size_of(p->dtype)));
  }
  const auto add_copy = [&](const Operand& x, std::optional<StridedCopy>& copy, int64_t& offset) {
    StridedCopy::Strides from{}, to{};
    std::copy(x.strides.begin(), x.strides.end(), from.begin());
    const Operand dense = x.copied();
    std::copy(dense.strides.begin(), dense.strides.end(), to.begin());
    const Shape box(x.sizes);
    copy.emplace(box, to, from, size_of(p->dtype), p->threads);
    offset = scratch;
    scratch += aligned(byte_size(p->dtype, box));
  };
  if (copy_a) add_copy(a, s.copy_a, s.a_offset);
  if (copy_b) add_copy(b, s.copy_b, s.b_offset);
  return make_kernel<State, run>(std::visit([](const auto& gemm) { return gemm.name(); }, s.gemm), s,
                                 scratch);
}

}  // namespace plimsoll
