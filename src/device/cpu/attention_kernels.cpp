#include "device/cpu/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "device/aligned.h"
#include "device/cpu/panel_gemm.h"
#include "device/cpu/thread_pool.h"
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
template <class T>
struct Head {
  const AttentionSizes& s;
  const T *q = nullptr, *k = nullptr, *v = nullptr, *bias = nullptr, *dy = nullptr, *y_in = nullptr;
  T *y = nullptr, *lse = nullptr, *dq = nullptr, *dk = nullptr, *dv = nullptr, *dbias = nullptr;
  size_t q_row = 0, v_row = 0;
  T* scratch = nullptr;
};

// Scratch of one thread, in elements, each piece a whole number of cache lines.
struct AttentionPieces {
  int64_t keys_t = 0, keys = 0, values_t = 0, values = 0, queries = 0, dy = 0, scores = 0, dscores = 0;
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
template <class T>
struct ScoreRow {
  T* scores;
  const T* bias;
  bool bias_varies;
  T scale;
  size_t n;

  // body(values, load, store) for every vector of scores * scale + bias; past the end it is no winner of a
  // maximum.
  template <class D, class Body>
  HWY_INLINE void for_each(D d, const Body& body) const {
    constexpr T kLow = -std::numeric_limits<T>::infinity();
    const T past = scale > 0 ? kLow : scale < 0 ? -kLow : T{0};
    const auto s = hn::Set(d, scale), flat = hn::Set(d, bias != nullptr ? bias[0] : T{0});
    vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
      body(hn::MulAdd(load(scores, past), s, bias_varies ? load(bias, kLow) : flat), load, store);
    });
  }
};

template <class T>
ScoreRow<T> score_row(const Head<T>& h, T* scores, int64_t i) {
  const AttentionSizes& s = h.s;
  const T* const bias = h.bias == nullptr ? nullptr : h.bias + i * s.bias_query;
  return {scores, bias, s.bias_key != 0, static_cast<T>(s.scale), visible(s, i)};
}

template <class T>
HWY_INLINE T largest(const ScoreRow<T>& row) {
  const hn::ScalableTag<T> d;
  auto top = hn::Set(d, -std::numeric_limits<T>::infinity());
  row.for_each(d, [&](auto v, const auto&, const auto&) HWY_ATTR { top = hn::Max(top, v); });
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

// Scores become exp(score - shift); returns the sum.
template <class T>
HWY_INLINE T exp_row(const ScoreRow<T>& row, T shift) {
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

// Scores become the probabilities p = exp(score - lse), and dscores p * (dscores - mean) * scale; without the
// scale also into dbias, if there is one.
template <class T>
HWY_INLINE void score_gradient(const ScoreRow<T>& row, T* dscores, T* dbias, T lse, T mean) {
  const hn::ScalableTag<T> d;
  const auto m = hn::Set(d, mean), s = hn::Set(d, row.scale), shift = hn::Set(d, lse);
  row.for_each(d, [&](auto v, const auto& load, const auto& store) HWY_ATTR {
    const auto p = vm::exp_negative(d, hn::Sub(v, shift));
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
template <class T>
HWY_INLINE void fetch_block(const Head<T>& h, int64_t first) {
  const size_t rows = z(std::clamp<int64_t>(h.s.queries - first, 0, h.s.block()));
  if (rows == 0) return;
  fetch_rows(h.q + z(first) * h.q_row, rows, h.q_row, z(h.s.width));
  if (h.dy == nullptr) return;
  fetch_rows(h.dy + z(first) * h.v_row, rows, h.v_row, z(h.s.value_width));
  fetch_rows(h.y_in + z(first) * h.v_row, rows, h.v_row, z(h.s.value_width));
}

template <class T>
HWY_INLINE void fetch_head(const Head<T>& h) {
  fetch_rows(h.k, z(h.s.keys), h.q_row, z(h.s.width));
  fetch_rows(h.v, z(h.s.keys), h.v_row, z(h.s.value_width));
  fetch_block(h, 0);
}

template <class T>
void forward_head(const Head<T>& h, const AttentionPieces& at) {
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
      const ScoreRow<T> exponents = score_row(h, row, i);
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
template <class T>
void block_gradients(const Head<T>& h, const AttentionPieces& at, int64_t first, size_t rows, size_t seen) {
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
    T* const dbias = h.dbias == nullptr ? nullptr : h.dbias + z(i) * keys;
    const T mean = dot_row(dy + r * h.v_row, h.y_in + z(i) * h.v_row, values);
    score_gradient(score_row(h, p, i), dp, dbias, h.lse[i], mean);
    std::fill(p + n, p + seen, T{0});
    std::fill(dp + n, dp + seen, T{0});
    if (dbias != nullptr) std::fill(dbias + n, dbias + keys, T{0});
  }
}

template <class T>
void backward_head(const Head<T>& h, const AttentionPieces& at) {
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

void forward_f32(const Head<float>& h, const AttentionPieces& at) { forward_head(h, at); }
void forward_f64(const Head<double>& h, const AttentionPieces& at) { forward_head(h, at); }
void backward_f32(const Head<float>& h, const AttentionPieces& at) { backward_head(h, at); }
void backward_f64(const Head<double>& h, const AttentionPieces& at) { backward_head(h, at); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);
HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);

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
  return p;
}

int64_t scratch_bytes(const AttentionSizes& s, bool backward) {
  const int64_t size = static_cast<int64_t>(size_of(s.dtype));
  return checked_mul(pieces(s, backward).total * size, s.threads, "attention");
}

// What both passes read, for item `index` of batch x heads; the scratch of `thread`.
template <class T>
Head<T> head_of(const AttentionSizes& s, int64_t index, const void* q, const void* k, const void* v,
                const void* bias, void* scratch, int64_t piece, int thread) {
  const int64_t b = index / s.heads, head = index % s.heads;
  const auto at = [&](const void* p, int64_t time, int64_t width) {
    return static_cast<const T*>(p) + (b * time * s.heads + head) * width;
  };
  Head<T> h{s};
  h.q = at(q, s.queries, s.width);
  h.k = at(k, s.keys, s.width);
  h.v = at(v, s.keys, s.value_width);
  if (s.bias) h.bias = static_cast<const T*>(bias) + b * s.bias_batch + head * s.bias_head;
  h.q_row = static_cast<size_t>(s.heads * s.width);
  h.v_row = static_cast<size_t>(s.heads * s.value_width);
  h.scratch = static_cast<T*>(scratch) + thread * piece;
  return h;
}

void run_head(const Head<float>& h, const AttentionPieces& at, bool backward) {
  backward ? HWY_DYNAMIC_DISPATCH(backward_f32)(h, at) : HWY_DYNAMIC_DISPATCH(forward_f32)(h, at);
}
void run_head(const Head<double>& h, const AttentionPieces& at, bool backward) {
  backward ? HWY_DYNAMIC_DISPATCH(backward_f64)(h, at) : HWY_DYNAMIC_DISPATCH(forward_f64)(h, at);
}

template <class T>
void forward(const AttentionSizes& s, const AttentionForward& a, void* scratch) {
  const AttentionPieces at = pieces(s, false);
  auto one = [&](int64_t i, int thread) noexcept {
    Head<T> h = head_of<T>(s, i, a.q, a.k, a.v, a.bias, scratch, at.total, thread);
    h.y = static_cast<T*>(a.y) + (i / s.heads * s.queries * s.heads + i % s.heads) * s.value_width;
    h.lse = static_cast<T*>(a.lse) + i * s.queries;
    run_head(h, at, false);
  };
  parallel_for(s.batch * s.heads, s.threads, one);
}

template <class T>
void backward(const AttentionSizes& s, const AttentionBackward& a, void* scratch) {
  const AttentionPieces at = pieces(s, true);
  auto one = [&](int64_t i, int thread) noexcept {
    Head<T> h = head_of<T>(s, i, a.q, a.k, a.v, a.bias, scratch, at.total, thread);
    const int64_t b = i / s.heads, head = i % s.heads;
    const int64_t queries = b * s.queries * s.heads + head, keys = b * s.keys * s.heads + head;
    h.lse = static_cast<T*>(const_cast<void*>(a.lse)) + i * s.queries;
    h.y_in = static_cast<const T*>(a.y) + queries * s.value_width;
    h.dy = static_cast<const T*>(a.dy) + queries * s.value_width;
    h.dq = static_cast<T*>(a.dq) + queries * s.width;
    h.dk = static_cast<T*>(a.dk) + keys * s.width;
    h.dv = static_cast<T*>(a.dv) + keys * s.value_width;
    if (a.dbias != nullptr) h.dbias = static_cast<T*>(a.dbias) + i * s.queries * s.keys;
    run_head(h, at, true);
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
  s.dtype == DType::f64 ? forward<double>(s, a, scratch) : forward<float>(s, a, scratch);
}

void attention_backward(const AttentionSizes& s, const AttentionBackward& a, void* scratch) {
  s.dtype == DType::f64 ? backward<double>(s, a, scratch) : backward<float>(s, a, scratch);
}

}  // namespace plimsoll
#endif  // HWY_ONCE
