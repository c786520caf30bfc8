#include "device/cpu/optimizer_kernels.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "device/cpu/row_chunks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/optimizer_kernels.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/vector_math-inl.h"

#ifndef PLIMSOLL_DEVICE_CPU_OPTIMIZER_ONCE_
#define PLIMSOLL_DEVICE_CPU_OPTIMIZER_ONCE_
namespace plimsoll {
namespace {

// The scalars of one step in the type of the weight, as Keras rounds them.
template <class T>
struct AdamScalars {
  T one_minus_beta_1, one_minus_beta_2, epsilon, alpha, decay, learning_rate;
};
template <class T>
struct RmspropScalars {
  T rho, one_minus_rho, momentum, epsilon, learning_rate;
};

}  // namespace
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void adam_span(const AdamScalars<T>& s, const T* w, const T* g, const T* m, const T* v, T* w_out, T* m_out,
               T* v_out, size_t n) {
  const hn::ScalableTag<T> d;
  const auto c1 = hn::Set(d, s.one_minus_beta_1), c2 = hn::Set(d, s.one_minus_beta_2);
  const auto epsilon = hn::Set(d, s.epsilon), alpha = hn::Set(d, s.alpha);
  const auto decay = hn::Set(d, s.decay), rate = hn::Set(d, s.learning_rate);
  const bool decays = s.decay != 0;
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto grad = load(g, 0);
    auto weight = load(w, 0);
    auto first = load(m, 0), second = load(v, 0);
    if (decays) weight = hn::Sub(weight, hn::Mul(hn::Mul(weight, decay), rate));
    first = hn::Add(first, hn::Mul(hn::Sub(grad, first), c1));
    second = hn::Add(second, hn::Mul(hn::Sub(hn::Mul(grad, grad), second), c2));
    const auto step = hn::Div(hn::Mul(first, alpha), hn::Add(hn::Sqrt(second), epsilon));
    store(first, m_out);
    store(second, v_out);
    store(hn::Sub(weight, step), w_out);
  });
}

// Whether all bits of a and b are zero; -0.0 counts as something, for a step would turn it into +0.0.
template <class T>
bool all_zero(const T* a, const T* b, size_t n) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const size_t lanes = hn::Lanes(d);
  const auto bits = [&](const T* p) HWY_ATTR { return hn::BitCast(du, hn::LoadU(d, p)); };
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto first = hn::Or(bits(a + i), bits(a + i + lanes)),
               second = hn::Or(bits(b + i), bits(b + i + lanes));
    if (!hn::AllTrue(du, hn::Eq(hn::Or(first, second), hn::Zero(du)))) return false;
  }
  for (; i < n; ++i) {
    using Bits = hwy::MakeUnsigned<T>;
    if (std::bit_cast<Bits>(a[i]) != 0 || std::bit_cast<Bits>(b[i]) != 0) return false;
  }
  return true;
}

template <class T>
void add_span(const T* x, T* sum, size_t n) {
  const hn::ScalableTag<T> d;
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Add(load(sum, 0), load(x, 0)), sum);
  });
}

template <class T>
void sgd_span(T rate, T momentum, bool nesterov, const T* w, const T* g, const T* velocity, T* w_out,
              T* velocity_out, size_t n) {
  const hn::ScalableTag<T> d;
  const auto lr = hn::Set(d, rate), mu = hn::Set(d, momentum);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto step = hn::Mul(load(g, 0), lr);
    const auto weight = load(w, 0);
    if (velocity == nullptr) {
      store(hn::Sub(weight, step), w_out);
      return;
    }
    const auto next = hn::Sub(hn::Mul(load(velocity, 0), mu), step);
    store(next, velocity_out);
    store(hn::Add(weight, nesterov ? hn::Sub(hn::Mul(next, mu), step) : next), w_out);
  });
}

template <class T>
void rmsprop_span(const RmspropScalars<T>& s, const T* w, const T* g, const T* velocity, const T* momentum,
                  T* w_out, T* velocity_out, T* momentum_out, size_t n) {
  const hn::ScalableTag<T> d;
  const auto rho = hn::Set(d, s.rho), rest = hn::Set(d, s.one_minus_rho), mu = hn::Set(d, s.momentum);
  const auto epsilon = hn::Set(d, s.epsilon), lr = hn::Set(d, s.learning_rate);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto grad = load(g, 0);
    const auto weight = load(w, 0);
    const auto next = hn::Add(hn::Mul(rho, load(velocity, 0)), hn::Mul(rest, hn::Mul(grad, grad)));
    // The fill of a partial vector would divide 0 by sqrt(epsilon): harmless.
    auto step = hn::Div(hn::Mul(lr, grad), hn::Sqrt(hn::Add(next, epsilon)));
    store(next, velocity_out);
    if (momentum != nullptr) {
      step = hn::Add(hn::Mul(mu, load(momentum, 0)), step);
      store(step, momentum_out);
    }
    store(hn::Sub(weight, step), w_out);
  });
}

#define PLIMSOLL_OPTIMIZER_ENTRY(T, S)                                                                       \
  void adam_##S(const AdamScalars<T>& s, const T* w, const T* g, const T* m, const T* v, T* w_out, T* m_out, \
                T* v_out, size_t n) {                                                                        \
    adam_span<T>(s, w, g, m, v, w_out, m_out, v_out, n);                                                     \
  }                                                                                                          \
  bool all_zero_##S(const T* a, const T* b, size_t n) { return all_zero<T>(a, b, n); }                       \
  void add_##S(const T* x, T* sum, size_t n) { add_span<T>(x, sum, n); }                                     \
  void sgd_##S(T rate, T mu, bool nesterov, const T* w, const T* g, const T* vel, T* w_out, T* vel_out,      \
               size_t n) {                                                                                   \
    sgd_span<T>(rate, mu, nesterov, w, g, vel, w_out, vel_out, n);                                           \
  }                                                                                                          \
  void rmsprop_##S(const RmspropScalars<T>& s, const T* w, const T* g, const T* vel, const T* mom, T* w_out, \
                   T* vel_out, T* mom_out, size_t n) {                                                       \
    rmsprop_span<T>(s, w, g, vel, mom, w_out, vel_out, mom_out, n);                                          \
  }
PLIMSOLL_OPTIMIZER_ENTRY(float, f32)
PLIMSOLL_OPTIMIZER_ENTRY(double, f64)
#undef PLIMSOLL_OPTIMIZER_ENTRY

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "device/cpu/index_reader.h"

namespace plimsoll {
namespace {

HWY_EXPORT(adam_f32);
HWY_EXPORT(adam_f64);
HWY_EXPORT(all_zero_f32);
HWY_EXPORT(all_zero_f64);
HWY_EXPORT(add_f32);
HWY_EXPORT(add_f64);
HWY_EXPORT(sgd_f32);
HWY_EXPORT(sgd_f64);
HWY_EXPORT(rmsprop_f32);
HWY_EXPORT(rmsprop_f64);

template <class T>
struct Table;
template <>
struct Table<float> {
  static auto adam() { return HWY_DYNAMIC_DISPATCH(adam_f32); }
  static auto all_zero() { return HWY_DYNAMIC_DISPATCH(all_zero_f32); }
  static auto add() { return HWY_DYNAMIC_DISPATCH(add_f32); }
  static auto sgd() { return HWY_DYNAMIC_DISPATCH(sgd_f32); }
  static auto rmsprop() { return HWY_DYNAMIC_DISPATCH(rmsprop_f32); }
};
template <>
struct Table<double> {
  static auto adam() { return HWY_DYNAMIC_DISPATCH(adam_f64); }
  static auto all_zero() { return HWY_DYNAMIC_DISPATCH(all_zero_f64); }
  static auto add() { return HWY_DYNAMIC_DISPATCH(add_f64); }
  static auto sgd() { return HWY_DYNAMIC_DISPATCH(sgd_f64); }
  static auto rmsprop() { return HWY_DYNAMIC_DISPATCH(rmsprop_f64); }
};

template <class F>
void with_type(DType dtype, const F& f) {
  dtype == DType::f64 ? f(double{}) : f(float{});
}

template <class T>
const T* at(const void* p, int64_t i) {
  return p == nullptr ? nullptr : static_cast<const T*>(p) + i;
}
template <class T>
T* at(void* p, int64_t i) {
  return p == nullptr ? nullptr : static_cast<T*>(p) + i;
}

template <class T>
AdamScalars<T> adam_scalars(const AdamRule& rule, const AdamArgs& a) {
  AdamScalars<T> s;
  const T t = static_cast<T>(a.step + 1);
  const T power_1 = std::pow(static_cast<T>(rule.beta_1), t),
          power_2 = std::pow(static_cast<T>(rule.beta_2), t);
  s.learning_rate = static_cast<T>(a.learning_rate);
  s.alpha = s.learning_rate * std::sqrt(1 - power_2) / (1 - power_1);
  s.one_minus_beta_1 = static_cast<T>(1 - rule.beta_1);
  s.one_minus_beta_2 = static_cast<T>(1 - rule.beta_2);
  s.epsilon = static_cast<T>(rule.epsilon);
  s.decay = static_cast<T>(rule.weight_decay);
  return s;
}

// The occurrences of each row, in order: head[row] is the first, next[i] the one after i; -1 ends.
struct Occurrences {
  int64_t* head;
  int64_t* next;
};
void find_occurrences(const RowGradient& g, const Occurrences& o) {
  std::memset(o.head, 0xFF, static_cast<size_t>(g.rows) * sizeof(int64_t));
  for (int64_t i = g.count - 1; i >= 0; --i) {
    int64_t& head = o.head[wrap_index(read_index(g.index_dtype, g.indices, i), g.rows)];
    o.next[i] = head;
    head = i;
  }
}

template <class T>
void adam_rows(const AdamRule& rule, const AdamArgs& a, const RowGradient& g, void* scratch, int threads) {
  if (g.rows == 0 || g.width == 0) return;
  const Occurrences o{static_cast<int64_t*>(scratch), static_cast<int64_t*>(scratch) + g.rows};
  T* const sums = reinterpret_cast<T*>(o.next + g.count);
  find_occurrences(g, o);
  const AdamScalars<T> s = adam_scalars<T>(rule, a);
  const bool zero_stays = s.decay == 0 && s.epsilon > 0 && std::isfinite(s.alpha);
  const auto adam = Table<T>::adam();
  const auto all_zero = Table<T>::all_zero();
  const auto add = Table<T>::add();
  const size_t n = static_cast<size_t>(g.width), bytes = n * sizeof(T);
  auto row = [&](int64_t r, T* sum) {
    const int64_t i = r * g.width;
    const T *w = at<T>(a.w, i), *m = at<T>(a.m, i), *v = at<T>(a.v, i);
    if (o.head[r] < 0 && zero_stays && all_zero(m, v, n)) {
      if (a.w_out != a.w) std::memcpy(at<T>(a.w_out, i), w, bytes);
      if (a.m_out != a.m) std::memcpy(at<T>(a.m_out, i), m, bytes);
      if (a.v_out != a.v) std::memcpy(at<T>(a.v_out, i), v, bytes);
      return;
    }
    std::memset(sum, 0, bytes);
    for (int64_t k = o.head[r]; k >= 0; k = o.next[k]) add(at<T>(a.grad, k * g.width), sum, n);
    adam(s, w, sum, m, v, at<T>(a.w_out, i), at<T>(a.m_out, i), at<T>(a.v_out, i), n);
  };
  const int64_t each = std::max<int64_t>(1, kChunkElements / g.width);
  auto chunk = [&](int64_t c, int thread) noexcept {
    for (int64_t r = c * each; r < std::min(g.rows, (c + 1) * each); ++r) row(r, sums + thread * g.width);
  };
  parallel_for((g.rows - 1) / each + 1, threads, chunk);
}

}  // namespace

void adam_step(DType dtype, const AdamRule& rule, const AdamArgs& a, int64_t n, int threads) {
  with_type(dtype, [&]<class T>(T) {
    const AdamScalars<T> s = adam_scalars<T>(rule, a);
    const auto run = Table<T>::adam();
    parallel_rows(n, 1, threads, [&](int64_t b, int64_t e) {
      run(s, at<T>(a.w, b), at<T>(a.grad, b), at<T>(a.m, b), at<T>(a.v, b), at<T>(a.w_out, b),
          at<T>(a.m_out, b), at<T>(a.v_out, b), static_cast<size_t>(e - b));
    });
  });
}

int64_t adam_rows_scratch(DType dtype, const RowGradient& g, int threads) {
  const int64_t lists = checked_mul(g.rows + g.count, int64_t{sizeof(int64_t)}, "adam_update_rows");
  const int64_t sums =
      checked_mul(g.width * static_cast<int64_t>(size_of(dtype)), threads, "adam_update_rows");
  return lists + sums;
}

void adam_rows_step(DType dtype, const AdamRule& rule, const AdamArgs& a, const RowGradient& g, void* scratch,
                    int threads) {
  with_type(dtype, [&]<class T>(T) { adam_rows<T>(rule, a, g, scratch, threads); });
}

void sgd_step(DType dtype, double momentum, bool nesterov, const SgdArgs& a, int64_t n, int threads) {
  with_type(dtype, [&]<class T>(T) {
    const auto run = Table<T>::sgd();
    const T rate = static_cast<T>(a.learning_rate), mu = static_cast<T>(momentum);
    parallel_rows(n, 1, threads, [&](int64_t b, int64_t e) {
      run(rate, mu, nesterov, at<T>(a.w, b), at<T>(a.grad, b), at<T>(a.velocity, b), at<T>(a.w_out, b),
          at<T>(a.velocity_out, b), static_cast<size_t>(e - b));
    });
  });
}

void rmsprop_step(DType dtype, double rho, double momentum, double epsilon, const RmspropArgs& a, int64_t n,
                  int threads) {
  with_type(dtype, [&]<class T>(T) {
    const auto run = Table<T>::rmsprop();
    const RmspropScalars<T> s{static_cast<T>(rho), static_cast<T>(1 - rho), static_cast<T>(momentum),
                              static_cast<T>(epsilon), static_cast<T>(a.learning_rate)};
    parallel_rows(n, 1, threads, [&](int64_t b, int64_t e) {
      run(s, at<T>(a.w, b), at<T>(a.grad, b), at<T>(a.velocity, b), at<T>(a.momentum, b), at<T>(a.w_out, b),
          at<T>(a.velocity_out, b), at<T>(a.momentum_out, b), static_cast<size_t>(e - b));
    });
  });
}

}  // namespace plimsoll
#endif  // HWY_ONCE
