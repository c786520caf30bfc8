#include "device/cpu/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "device/aligned.h"
#include "device/cpu/half_rows.h"
#include "device/cpu/panel_gemm.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/typed.h"
#include "device/cpu/widened.h"
#include "plimsoll/shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/attention_kernels.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/panel_gemm-inl.h"
#include "hwy/cache_control.h"

#ifndef PLIMSOLL_DEVICE_CPU_ATTENTION_ONCE_
#define PLIMSOLL_DEVICE_CPU_ATTENTION_ONCE_
namespace plimsoll {
namespace {

// One (batch, head): pointers to its first element; rows of q and k are q_row apart, those of v and y v_row.
// A bias and its gradient are of the type S that the tensors have, all else is of the type T it is worked on
// in.
template <class T, class S>
struct Head {
  const AttentionSizes& s;
  const T *q = nullptr, *k = nullptr, *v = nullptr, *dy = nullptr, *y_in = nullptr;
  T *y = nullptr, *lse = nullptr, *dq = nullptr, *dk = nullptr, *dv = nullptr;
  const S* bias = nullptr;
  S* dbias = nullptr;
  size_t q_row = 0, v_row = 0;
  T* scratch = nullptr;
};

// Scratch of one thread, in elements, each piece a whole number of cache lines.
struct AttentionPieces {
  int64_t keys_t = 0, keys = 0, values_t = 0, values = 0, queries = 0, dy = 0, scores = 0, dscores = 0;
  int64_t head = 0;  // of halves: the head's rows as f32
  int64_t total = 0;
};

}  // namespace
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

inline size_t z(int64_t n) { return static_cast<size_t>(n); }

// How many keys query i sees.
inline size_t visible(const AttentionSizes& s, int64_t i) {
  return z(s.causal ? std::min(s.keys, i + 1) : s.keys);
}

// Scores of one query as they come from the product, and what makes them the exponents of the softmax.
template <class T, class S>
struct ScoreRow {
  T* scores;
  const S* bias;
  bool bias_varies;
  T scale;
  size_t n;

  // body(values, load, store) for every vector of scores * scale + bias; past the end it is no winner of a
  // maximum.
  template <class D, class Body>
  HWY_INLINE void for_each(D d, const Body& body) const {
    constexpr T kLow = -std::numeric_limits<T>::infinity();
    const T past = scale > 0 ? kLow : scale < 0 ? -kLow : T{0};
    const auto s = hn::Set(d, scale), flat = hn::Set(d, bias != nullptr ? plimsoll::load(bias[0]) : T{0});
    vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
      body(hn::MulAdd(load(scores, past), s, bias_varies ? load(bias, kLow) : flat), load, store);
    });
  }
};

template <class T, class S>
ScoreRow<T, S> score_row(const Head<T, S>& h, T* scores, int64_t i) {
  const AttentionSizes& s = h.s;
  const S* const bias = h.bias == nullptr ? nullptr : h.bias + i * s.bias_query;
  return {scores, bias, s.bias_key != 0, static_cast<T>(s.scale), visible(s, i)};
}

template <class T, class S>
HWY_INLINE T largest(const ScoreRow<T, S>& row) {
  const hn::ScalableTag<T> d;
  auto top = hn::Set(d, -std::numeric_limits<T>::infinity());
  row.for_each(d, [&](auto v, const auto&, const auto&) HWY_ATTR { top = hn::Max(top, v); });
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

// Scores become exp(score - shift); returns the sum.
template <class T, class S>
HWY_INLINE T exp_row(const ScoreRow<T, S>& row, T shift) {
  const hn::ScalableTag<T> d;
  const auto m = hn::Set(d, shift);
  auto total = hn::Zero(d);
  row.for_each(d, [&](auto v, const auto& load, const auto& store) HWY_ATTR {
    store(vm::exp_negative(d, hn::Sub(v, m)), row.scores);
    total = hn::Add(total, load(row.scores, T{0}));  // as stored: nothing past the end
  });
  return hn::GetLane(hn::SumOfLanes(d, total));
}

template <class T>
HWY_INLINE void scale_row(T* x, T scale, size_t n) {
  const hn::ScalableTag<T> d;
  const auto s = hn::Set(d, scale);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Mul(load(x, T{0}), s), x);
  });
}

template <class T>
HWY_INLINE T dot_row(const T* a, const T* b, size_t n) {
  const hn::ScalableTag<T> d;
  auto total = hn::Zero(d);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto&) HWY_ATTR {
    total = hn::MulAdd(load(a, T{0}), load(b, T{0}), total);
  });
  return hn::GetLane(hn::SumOfLanes(d, total));
}

// Probabilities are exp(score - shift) * factor.
template <class T>
struct Normal {
  T shift, factor = 1;
};

// By the log-sum-exp, unless that is so large that the sum is lost in its rounding: of a query that sees no
// key, where a mask has added -1e9 or the like to all scores, it is their maximum.
template <class T, class S>
HWY_INLINE Normal<T> normal_of(const ScoreRow<T, S>& row, T lse) {
  if (std::abs(lse) < T{kLargestLse}) return {lse};
  const hn::ScalableTag<T> d;
  const T top = largest(row);
  const auto shift = hn::Set(d, top);
  auto total = hn::Zero(d);
  const auto past = hn::Set(d, -std::numeric_limits<T>::infinity());
  size_t at = 0;
  row.for_each(d, [&](auto v, const auto&, const auto&) HWY_ATTR {
    const auto valid = hn::FirstN(d, row.n - at);
    total = hn::Add(total, vm::exp_negative(d, hn::IfThenElse(valid, hn::Sub(v, shift), past)));
    at += hn::Lanes(d);
  });
  return {top, 1 / hn::GetLane(hn::SumOfLanes(d, total))};
}

// Scores become the probabilities p, and dscores p * (dscores - mean) * scale; without the scale also into
// dbias, if there is one.
template <class T, class S>
HWY_INLINE void score_gradient(const ScoreRow<T, S>& row, T* dscores, S* dbias, Normal<T> normal, T mean) {
  const hn::ScalableTag<T> d;
  const auto m = hn::Set(d, mean), s = hn::Set(d, row.scale), shift = hn::Set(d, normal.shift),
             factor = hn::Set(d, normal.factor);
  row.for_each(d, [&](auto v, const auto& load, const auto& store) HWY_ATTR {
    const auto p = hn::Mul(vm::exp_negative(d, hn::Sub(v, shift)), factor);
    const auto g = hn::Mul(p, hn::Sub(load(dscores, T{0}), m));
    store(p, row.scores);
    if (dbias != nullptr) store(g, dbias);
    store(hn::Mul(g, s), dscores);
  });
}

// Asks for rows that are needed soon. A head's rows are short and far apart, which no hardware sees coming.
// All of these are inlined by force: GCC takes a call of a function that does nothing else for one without
// effect.
template <class T>
HWY_INLINE void fetch_rows(const T* x, size_t rows, size_t stride, size_t n) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < n; i += 64 / sizeof(T)) hwy::Prefetch(x + r * stride + i);
  }
}

// What the block of queries from `first` on reads: q and, in the backward pass, dy and y.
template <class T, class S>
HWY_INLINE void fetch_block(const Head<T, S>& h, int64_t first) {
  const size_t rows = z(std::clamp<int64_t>(h.s.queries - first, 0, h.s.block()));
  if (rows == 0) return;
  fetch_rows(h.q + z(first) * h.q_row, rows, h.q_row, z(h.s.width));
  if (h.dy == nullptr) return;
  fetch_rows(h.dy + z(first) * h.v_row, rows, h.v_row, z(h.s.value_width));
  fetch_rows(h.y_in + z(first) * h.v_row, rows, h.v_row, z(h.s.value_width));
}

template <class T, class S>
HWY_INLINE void fetch_head(const Head<T, S>& h) {
  fetch_rows(h.k, z(h.s.keys), h.q_row, z(h.s.width));
  fetch_rows(h.v, z(h.s.keys), h.v_row, z(h.s.value_width));
  fetch_block(h, 0);
}

template <class T, class S>
void forward_head(const Head<T, S>& h, const AttentionPieces& at) {
  const AttentionSizes& s = h.s;
  const size_t keys = z(s.keys), width = z(s.width), values = z(s.value_width);
  T* const keys_t = h.scratch + at.keys_t;
  T* const packed_v = h.scratch + at.values;
  T* const scores = h.scratch + at.scores;
  fetch_head(h);
  panel::pack<T>(h.k, 1, h.q_row, width, keys, keys_t);
  panel::pack<T>(h.v, h.v_row, 1, keys, values, packed_v);
  for (int64_t first = 0; first < s.queries; first += s.block()) {
    const int64_t end = std::min(s.queries, first + s.block());
    const size_t rows = z(end - first), seen = visible(s, end - 1);
    fetch_block(h, end);
    panel::multiply<T>({h.q + z(first) * h.q_row, h.q_row, 1}, keys_t, width, rows, seen, width, scores, keys,
                       false);
    T sums[64];  // block() is at most that
    for (size_t r = 0; r < rows; ++r) {
      const int64_t i = first + static_cast<int64_t>(r);
      const size_t n = visible(s, i);
      T* const row = scores + r * keys;
      const ScoreRow<T, S> exponents = score_row(h, row, i);
      const T top = largest(exponents);
      sums[r] = exp_row(exponents, top);
      std::fill(row + n, row + seen, T{0});
      h.lse[i] = top + std::log(sums[r]);
    }
    T* const out = h.y + z(first) * h.v_row;
    panel::multiply<T>({scores, keys, 1}, packed_v, keys, rows, values, seen, out, h.v_row, false);
    for (size_t r = 0; r < rows; ++r) scale_row(out + r * h.v_row, 1 / sums[r], values);
  }
}

template <class T>
void clear_rows(T* x, size_t rows, size_t stride, size_t n) {
  for (size_t r = 0; r < rows; ++r) std::memset(x + r * stride, 0, n * sizeof(T));
}

// The probabilities and the gradients by the scores of one block of queries.
template <class T, class S>
void block_gradients(const Head<T, S>& h, const AttentionPieces& at, int64_t first, size_t rows,
                     size_t seen) {
  const AttentionSizes& s = h.s;
  const size_t keys = z(s.keys), width = z(s.width), values = z(s.value_width);
  T* const scores = h.scratch + at.scores;
  T* const dscores = h.scratch + at.dscores;
  const T* const q = h.q + z(first) * h.q_row;
  const T* const dy = h.dy + z(first) * h.v_row;
  panel::multiply<T>({q, h.q_row, 1}, h.scratch + at.keys_t, width, rows, seen, width, scores, keys, false);
  panel::multiply<T>({dy, h.v_row, 1}, h.scratch + at.values_t, values, rows, seen, values, dscores, keys,
                     false);
  for (size_t r = 0; r < rows; ++r) {
    const int64_t i = first + static_cast<int64_t>(r);
    const size_t n = visible(s, i);
    T *const p = scores + r * keys, *const dp = dscores + r * keys;
    S* const dbias = h.dbias == nullptr ? nullptr : h.dbias + z(i) * keys;
    const T mean = dot_row(dy + r * h.v_row, h.y_in + z(i) * h.v_row, values);
    const ScoreRow<T, S> row = score_row(h, p, i);
    score_gradient(row, dp, dbias, normal_of(row, h.lse[i]), mean);
    std::fill(p + n, p + seen, T{0});
    std::fill(dp + n, dp + seen, T{0});
    if (dbias != nullptr) std::fill(dbias + n, dbias + keys, S{});
  }
}

template <class T, class S>
void backward_head(const Head<T, S>& h, const AttentionPieces& at) {
  const AttentionSizes& s = h.s;
  const size_t keys = z(s.keys), width = z(s.width), values = z(s.value_width);
  T* const packed_k = h.scratch + at.keys;
  T* const packed_q = h.scratch + at.queries;
  T* const packed_dy = h.scratch + at.dy;
  fetch_head(h);
  panel::pack<T>(h.k, 1, h.q_row, width, keys, h.scratch + at.keys_t);
  panel::pack<T>(h.k, h.q_row, 1, keys, width, packed_k);
  panel::pack<T>(h.v, 1, h.v_row, values, keys, h.scratch + at.values_t);
  // The first block of queries writes what it sees of dk and dv, the others add to it.
  const size_t first_seen = s.queries == 0 ? 0 : visible(s, std::min(s.queries, s.block()) - 1);
  clear_rows(h.dk + first_seen * h.q_row, keys - first_seen, h.q_row, width);
  clear_rows(h.dv + first_seen * h.v_row, keys - first_seen, h.v_row, values);
  for (int64_t first = 0; first < s.queries; first += s.block()) {
    const int64_t end = std::min(s.queries, first + s.block());
    const size_t rows = z(end - first), seen = visible(s, end - 1);
    fetch_block(h, end);
    block_gradients(h, at, first, rows, seen);
    const T* const p = h.scratch + at.scores;
    const T* const dp = h.scratch + at.dscores;
    panel::pack<T>(h.q + z(first) * h.q_row, h.q_row, 1, rows, width, packed_q);
    panel::pack<T>(h.dy + z(first) * h.v_row, h.v_row, 1, rows, values, packed_dy);
    panel::multiply<T>({dp, keys, 1}, packed_k, keys, rows, width, seen, h.dq + z(first) * h.q_row, h.q_row,
                       false);
    panel::multiply<T>({dp, 1, keys}, packed_q, rows, seen, width, rows, h.dk, h.q_row, first > 0);
    panel::multiply<T>({p, 1, keys}, packed_dy, rows, seen, values, rows, h.dv, h.v_row, first > 0);
  }
}

#define PLIMSOLL_ATTENTION_ENTRY(T, S, NAME)                                                   \
  void forward_##NAME(const Head<T, S>& h, const AttentionPieces& at) { forward_head(h, at); } \
  void backward_##NAME(const Head<T, S>& h, const AttentionPieces& at) { backward_head(h, at); }
PLIMSOLL_ATTENTION_ENTRY(float, float, f32)
PLIMSOLL_ATTENTION_ENTRY(double, double, f64)
PLIMSOLL_ATTENTION_ENTRY(float, HalfBits, f16)
PLIMSOLL_ATTENTION_ENTRY(float, BrainBits, bf16)
#undef PLIMSOLL_ATTENTION_ENTRY

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

#define PLIMSOLL_ATTENTION_DISPATCH(T, S, NAME)                                                            \
  HWY_EXPORT(forward_##NAME);                                                                              \
  HWY_EXPORT(backward_##NAME);                                                                             \
  void run_head(const Head<T, S>& h, const AttentionPieces& at, bool backward) {                           \
    backward ? HWY_DYNAMIC_DISPATCH(backward_##NAME)(h, at) : HWY_DYNAMIC_DISPATCH(forward_##NAME)(h, at); \
  }
PLIMSOLL_ATTENTION_DISPATCH(float, float, f32)
PLIMSOLL_ATTENTION_DISPATCH(double, double, f64)
PLIMSOLL_ATTENTION_DISPATCH(float, HalfBits, f16)
PLIMSOLL_ATTENTION_DISPATCH(float, BrainBits, bf16)
#undef PLIMSOLL_ATTENTION_DISPATCH

// One head's part of a tensor (batch, time, heads, width).
struct HeadRows {
  int64_t first, rows, width, stride;  // elements
};
HeadRows head_rows(const AttentionSizes& s, int64_t index, int64_t time, int64_t width) {
  const int64_t b = index / s.heads, head = index % s.heads;
  return {(b * time * s.heads + head) * width, time, width, s.heads * width};
}

// Elements of the heads' rows as f32: q, k, v and y, and in the backward pass dy and three gradients.
int64_t wide_elements(const AttentionSizes& s, bool backward) {
  const int64_t q = s.queries * s.width, k = s.keys * s.width, v = s.keys * s.value_width,
                y = s.queries * s.value_width;
  return q + k + v + y + (backward ? y + q + k + v : 0);
}

// Gives out the tensors of a head: where they lie, or, of halves, dense and as f32.
template <class T, class S>
struct HeadReader {
  const AttentionSizes& s;
  int64_t index;
  T* wide;

  const T* read(const void* x, int64_t time, int64_t width) {
    const HeadRows h = head_rows(s, index, time, width);
    const S* const from = static_cast<const S*>(x) + h.first;
    if constexpr (!kIsHalf<S>) {
      return from;
    } else {
      T* const to = std::exchange(wide, wide + h.rows * h.width);
      for (int64_t r = 0; r < h.rows; ++r) widen_row(s.dtype, from + r * h.stride, h.width, to + r * h.width);
      return to;
    }
  }
  T* place(void* x, int64_t time, int64_t width) {
    const HeadRows h = head_rows(s, index, time, width);
    if constexpr (!kIsHalf<S>)
      return static_cast<S*>(x) + h.first;
    else
      return std::exchange(wide, wide + h.rows * h.width);
  }
  void write(const T* from, void* x, int64_t time, int64_t width) const {
    if constexpr (kIsHalf<S>) {
      const HeadRows h = head_rows(s, index, time, width);
      S* const to = static_cast<S*>(x) + h.first;
      for (int64_t r = 0; r < h.rows; ++r)
        narrow_row(from + r * h.width, h.width, s.dtype, to + r * h.stride);
    }
  }
  size_t stride(int64_t width) const { return static_cast<size_t>(kIsHalf<S> ? width : s.heads * width); }
};

AttentionPieces pieces(const AttentionSizes& s, bool backward) {
  AttentionPieces p;
  const auto take = [&](int64_t elements) {
    const int64_t at = p.total;
    p.total += round_up(elements, kAlign);
    return at;
  };
  const int64_t scores = checked_mul(s.block(), s.keys, "attention");
  p.keys_t = take(packed_elements(s.dtype, s.width, s.keys));
  p.scores = take(scores);
  if (backward) {
    p.keys = take(packed_elements(s.dtype, s.keys, s.width));
    p.values_t = take(packed_elements(s.dtype, s.value_width, s.keys));
    p.queries = take(packed_elements(s.dtype, s.block(), s.width));
    p.dy = take(packed_elements(s.dtype, s.block(), s.value_width));
    p.dscores = take(scores);
  } else {
    p.values = take(packed_elements(s.dtype, s.keys, s.value_width));
  }
  if (is_half(s.dtype)) p.head = take(wide_elements(s, backward));
  return p;
}

int64_t scratch_bytes(const AttentionSizes& s, bool backward) {
  const int64_t size = s.dtype == DType::f64 ? 8 : 4;
  return checked_mul(pieces(s, backward).total * size, s.threads, "attention");
}

// What both passes read, for item reader.index of batch x heads, with its own piece of scratch.
template <class T, class S>
Head<T, S> head_of(HeadReader<T, S>& reader, const void* q, const void* k, const void* v, const void* bias,
                   T* scratch) {
  const AttentionSizes& s = reader.s;
  Head<T, S> h{s};
  h.q = reader.read(q, s.queries, s.width);
  h.k = reader.read(k, s.keys, s.width);
  h.v = reader.read(v, s.keys, s.value_width);
  if (s.bias) {
    h.bias = static_cast<const S*>(bias) + reader.index / s.heads * s.bias_batch +
             reader.index % s.heads * s.bias_head;
  }
  h.q_row = reader.stride(s.width);
  h.v_row = reader.stride(s.value_width);
  h.scratch = scratch;
  return h;
}

template <class S, class T = typename Loaded<S>::type>
void forward(const AttentionSizes& s, const AttentionForward& a, void* scratch) {
  const AttentionPieces at = pieces(s, false);
  auto one = [&](int64_t i, int thread) noexcept {
    T* const piece = static_cast<T*>(scratch) + thread * at.total;
    HeadReader<T, S> reader{s, i, piece + at.head};
    Head<T, S> h = head_of(reader, a.q, a.k, a.v, a.bias, piece);
    h.y = reader.place(a.y, s.queries, s.value_width);
    h.lse = static_cast<T*>(a.lse) + i * s.queries;
    run_head(h, at, false);
    reader.write(h.y, a.y, s.queries, s.value_width);
  };
  parallel_for(s.batch * s.heads, s.threads, one);
}

template <class S, class T = typename Loaded<S>::type>
void backward(const AttentionSizes& s, const AttentionBackward& a, void* scratch) {
  const AttentionPieces at = pieces(s, true);
  auto one = [&](int64_t i, int thread) noexcept {
    T* const piece = static_cast<T*>(scratch) + thread * at.total;
    HeadReader<T, S> reader{s, i, piece + at.head};
    Head<T, S> h = head_of(reader, a.q, a.k, a.v, a.bias, piece);
    h.lse = static_cast<T*>(const_cast<void*>(a.lse)) + i * s.queries;
    h.y_in = reader.read(a.y, s.queries, s.value_width);
    h.dy = reader.read(a.dy, s.queries, s.value_width);
    h.dq = reader.place(a.dq, s.queries, s.width);
    h.dk = reader.place(a.dk, s.keys, s.width);
    h.dv = reader.place(a.dv, s.keys, s.value_width);
    if (a.dbias != nullptr) h.dbias = static_cast<S*>(a.dbias) + i * s.queries * s.keys;
    run_head(h, at, true);
    reader.write(h.dq, a.dq, s.queries, s.width);
    reader.write(h.dk, a.dk, s.keys, s.width);
    reader.write(h.dv, a.dv, s.keys, s.value_width);
  };
  parallel_for(s.batch * s.heads, s.threads, one);
}

}  // namespace

// Multiples of the 6 rows of a tile; 16K scores fill half an L2 cache together with the operands.
int64_t AttentionSizes::block() const {
  const int64_t rows = 16384 / std::max<int64_t>(1, keys) / 6 * 6;
  return std::clamp<int64_t>(rows, 6, 48);
}

int64_t attention_forward_scratch(const AttentionSizes& s) { return scratch_bytes(s, false); }
int64_t attention_backward_scratch(const AttentionSizes& s) { return scratch_bytes(s, true); }

void attention_forward(const AttentionSizes& s, const AttentionForward& a, void* scratch) {
  with_float(s.dtype, "attention", [&]<class S>(S) { forward<S>(s, a, scratch); });
}

void attention_backward(const AttentionSizes& s, const AttentionBackward& a, void* scratch) {
  with_float(s.dtype, "attention", [&]<class S>(S) { backward<S>(s, a, scratch); });
}

}  // namespace plimsoll
#endif  // HWY_ONCE
