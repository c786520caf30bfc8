#include "device/cpu/optimizer_kernels.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "device/cpu/row_chunks.h"
#include "device/cpu/typed.h"

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
  T one_minus_beta_1, one_minus_beta_2, epsilon, alpha, decay, learning_rate, scale;
};
template <class T>
struct SgdScalars {
  T learning_rate, momentum, scale;
  bool nesterov;
};
template <class T>
struct RmspropScalars {
  T rho, one_minus_rho, momentum, epsilon, learning_rate, scale;
};

template <class S, class G, class T = typename Loaded<S>::type>
struct UpdateFunctions {
  void (*adam)(const AdamScalars<T>&, const S*, const G*, const S*, const S*, S*, S*, S*, size_t);
  void (*adam_sum)(const AdamScalars<T>&, const S*, const T*, const S*, const S*, S*, S*, S*, size_t);
  bool (*all_zero)(const S*, const S*, size_t);
  void (*add)(const G*, T*, size_t);
  void (*sgd)(const SgdScalars<T>&, const S*, const G*, const S*, S*, S*, size_t);
  void (*rmsprop)(const RmspropScalars<T>&, const S*, const G*, const S*, const S*, S*, S*, S*, size_t);
};

}  // namespace
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Weights and slots of type S, gradients of type G, arithmetic in T.
template <class S, class G, class T>
void adam_span(const AdamScalars<T>& s, const S* w, const G* g, const S* m, const S* v, S* w_out, S* m_out,
               S* v_out, size_t n) {
  const hn::ScalableTag<T> d;
  const auto c1 = hn::Set(d, s.one_minus_beta_1), c2 = hn::Set(d, s.one_minus_beta_2);
  const auto epsilon = hn::Set(d, s.epsilon), alpha = hn::Set(d, s.alpha);
  const auto decay = hn::Set(d, s.decay), rate = hn::Set(d, s.learning_rate);
  const auto scale = hn::Set(d, s.scale);
  const bool decays = s.decay != 0, scaled = s.scale != 1;
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto grad = scaled ? hn::Div(load(g, 0), scale) : load(g, 0);
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
template <class S>
bool all_zero(const S* a, const S* b, size_t n) {
  using Bits = hwy::UnsignedFromSize<sizeof(S)>;
  const hn::ScalableTag<Bits> du;
  const size_t lanes = hn::Lanes(du);
  const auto bits = [&](const S* p) HWY_ATTR { return hn::LoadU(du, reinterpret_cast<const Bits*>(p)); };
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto first = hn::Or(bits(a + i), bits(a + i + lanes)),
               second = hn::Or(bits(b + i), bits(b + i + lanes));
    if (!hn::AllTrue(du, hn::Eq(hn::Or(first, second), hn::Zero(du)))) return false;
  }
  for (; i < n; ++i) {
    if (std::bit_cast<Bits>(a[i]) != 0 || std::bit_cast<Bits>(b[i]) != 0) return false;
  }
  return true;
}

template <class G, class T>
void add_span(const G* x, T* sum, size_t n) {
  const hn::ScalableTag<T> d;
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Add(load(sum, 0), load(x, 0)), sum);
  });
}

template <class S, class G, class T>
void sgd_span(const SgdScalars<T>& s, const S* w, const G* g, const S* velocity, S* w_out, S* velocity_out,
              size_t n) {
  const hn::ScalableTag<T> d;
  const auto lr = hn::Set(d, s.learning_rate), mu = hn::Set(d, s.momentum), scale = hn::Set(d, s.scale);
  const bool scaled = s.scale != 1;
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto grad = scaled ? hn::Div(load(g, 0), scale) : load(g, 0);
    const auto step = hn::Mul(grad, lr);
    const auto weight = load(w, 0);
    if (velocity == nullptr) {
      store(hn::Sub(weight, step), w_out);
      return;
    }
    const auto next = hn::Sub(hn::Mul(load(velocity, 0), mu), step);
    store(next, velocity_out);
    store(hn::Add(weight, s.nesterov ? hn::Sub(hn::Mul(next, mu), step) : next), w_out);
  });
}

template <class S, class G, class T>
void rmsprop_span(const RmspropScalars<T>& s, const S* w, const G* g, const S* velocity, const S* momentum,
                  S* w_out, S* velocity_out, S* momentum_out, size_t n) {
  const hn::ScalableTag<T> d;
  const auto rho = hn::Set(d, s.rho), rest = hn::Set(d, s.one_minus_rho), mu = hn::Set(d, s.momentum);
  const auto epsilon = hn::Set(d, s.epsilon), lr = hn::Set(d, s.learning_rate), scale = hn::Set(d, s.scale);
  const bool scaled = s.scale != 1;
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto grad = scaled ? hn::Div(load(g, 0), scale) : load(g, 0);
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

// A table of functions per pair of types; adam_sum takes gradients that have been summed.
template <class S, class G>
struct Functions {
  using T = typename Loaded<S>::type;
  static void adam(const AdamScalars<T>& s, const S* w, const G* g, const S* m, const S* v, S* w_out,
                   S* m_out, S* v_out, size_t n) {
    adam_span(s, w, g, m, v, w_out, m_out, v_out, n);
  }
  static void adam_sum(const AdamScalars<T>& s, const S* w, const T* g, const S* m, const S* v, S* w_out,
                       S* m_out, S* v_out, size_t n) {
    adam_span(s, w, g, m, v, w_out, m_out, v_out, n);
  }
  static const UpdateFunctions<S, G>* table() {
    static constexpr UpdateFunctions<S, G> functions = {
        adam, adam_sum, all_zero<S>, add_span<G, T>, sgd_span<S, G, T>, rmsprop_span<S, G, T>};
    return &functions;
  }
};

#define PLIMSOLL_OPTIMIZER_ENTRY(S, G, NAME) \
  const UpdateFunctions<S, G>* table_##NAME() { return Functions<S, G>::table(); }
PLIMSOLL_OPTIMIZER_ENTRY(float, float, f32)
PLIMSOLL_OPTIMIZER_ENTRY(double, double, f64)
PLIMSOLL_OPTIMIZER_ENTRY(float, HalfBits, f32_f16)
PLIMSOLL_OPTIMIZER_ENTRY(float, BrainBits, f32_bf16)
PLIMSOLL_OPTIMIZER_ENTRY(HalfBits, HalfBits, f16)
PLIMSOLL_OPTIMIZER_ENTRY(BrainBits, BrainBits, bf16)
#undef PLIMSOLL_OPTIMIZER_ENTRY

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "device/cpu/row_lists.h"

namespace plimsoll {
namespace {

HWY_EXPORT(table_f32);
HWY_EXPORT(table_f64);
HWY_EXPORT(table_f32_f16);
HWY_EXPORT(table_f32_bf16);
HWY_EXPORT(table_f16);
HWY_EXPORT(table_bf16);

// f(functions) with those of the chosen target.
template <class F>
void with_types(UpdateTypes types, const F& f) {
  if (types.weight == DType::f64) return f(*HWY_DYNAMIC_DISPATCH(table_f64)());
  if (types.weight == DType::f16) return f(*HWY_DYNAMIC_DISPATCH(table_f16)());
  if (types.weight == DType::bf16) return f(*HWY_DYNAMIC_DISPATCH(table_bf16)());
  if (types.grad == DType::f16) return f(*HWY_DYNAMIC_DISPATCH(table_f32_f16)());
  if (types.grad == DType::bf16) return f(*HWY_DYNAMIC_DISPATCH(table_f32_bf16)());
  f(*HWY_DYNAMIC_DISPATCH(table_f32)());
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
  s.scale = static_cast<T>(a.scale);
  return s;
}

template <class S, class G, class T>
void adam_rows(const UpdateFunctions<S, G, T>& f, const AdamRule& rule, const AdamArgs& a,
               const RowGradient& g, void* scratch, int threads) {
  if (g.rows == 0 || g.width == 0) return;
  const RowLists o{static_cast<int64_t*>(scratch), static_cast<int64_t*>(scratch) + g.rows};
  T* const sums = reinterpret_cast<T*>(o.next + g.count);
  find_rows(g.index_dtype, g.indices, g.count, g.rows, o);
  const AdamScalars<T> s = adam_scalars<T>(rule, a);
  const bool zero_stays = s.decay == 0 && s.epsilon > 0 && std::isfinite(s.alpha);
  const size_t n = static_cast<size_t>(g.width), bytes = n * sizeof(S);
  auto row = [&](int64_t r, T* sum) {
    const int64_t i = r * g.width;
    const S *w = at<S>(a.w, i), *m = at<S>(a.m, i), *v = at<S>(a.v, i);
    if (o.head[r] < 0 && zero_stays && f.all_zero(m, v, n)) {
      if (a.w_out != a.w) std::memcpy(at<S>(a.w_out, i), w, bytes);
      if (a.m_out != a.m) std::memcpy(at<S>(a.m_out, i), m, bytes);
      if (a.v_out != a.v) std::memcpy(at<S>(a.v_out, i), v, bytes);
      return;
    }
    std::memset(sum, 0, n * sizeof(T));
    for (int64_t k = o.head[r]; k >= 0; k = o.next[k]) f.add(at<G>(a.grad, k * g.width), sum, n);
    f.adam_sum(s, w, sum, m, v, at<S>(a.w_out, i), at<S>(a.m_out, i), at<S>(a.v_out, i), n);
  };
  const int64_t each = std::max<int64_t>(1, kChunkElements / g.width);
  auto chunk = [&](int64_t c, int thread) noexcept {
    for (int64_t r = c * each; r < std::min(g.rows, (c + 1) * each); ++r) row(r, sums + thread * g.width);
  };
  parallel_for((g.rows - 1) / each + 1, threads, chunk);
}

}  // namespace

void adam_step(UpdateTypes types, const AdamRule& rule, const AdamArgs& a, int64_t n, int threads) {
  with_types(types, [&]<class S, class G, class T>(const UpdateFunctions<S, G, T>& f) {
    const AdamScalars<T> s = adam_scalars<T>(rule, a);
    parallel_rows(n, 1, threads, [&](int64_t b, int64_t e) {
      f.adam(s, at<S>(a.w, b), at<G>(a.grad, b), at<S>(a.m, b), at<S>(a.v, b), at<S>(a.w_out, b),
             at<S>(a.m_out, b), at<S>(a.v_out, b), static_cast<size_t>(e - b));
    });
  });
}

int64_t adam_rows_scratch(DType weight, const RowGradient& g, int threads) {
  const int64_t lists = checked_mul(g.rows + g.count, int64_t{sizeof(int64_t)}, "adam_update_rows");
  const int64_t size = weight == DType::f64 ? 8 : 4;
  return lists + checked_mul(g.width * size, threads, "adam_update_rows");
}

void adam_rows_step(UpdateTypes types, const AdamRule& rule, const AdamArgs& a, const RowGradient& g,
                    void* scratch, int threads) {
  with_types(types, [&](const auto& f) { adam_rows(f, rule, a, g, scratch, threads); });
}

void sgd_step(UpdateTypes types, double momentum, bool nesterov, const SgdArgs& a, int64_t n, int threads) {
  with_types(types, [&]<class S, class G, class T>(const UpdateFunctions<S, G, T>& f) {
    const SgdScalars<T> s{static_cast<T>(a.learning_rate), static_cast<T>(momentum), static_cast<T>(a.scale),
                          nesterov};
    parallel_rows(n, 1, threads, [&](int64_t b, int64_t e) {
      f.sgd(s, at<S>(a.w, b), at<G>(a.grad, b), at<S>(a.velocity, b), at<S>(a.w_out, b),
            at<S>(a.velocity_out, b), static_cast<size_t>(e - b));
    });
  });
}

void rmsprop_step(UpdateTypes types, double rho, double momentum, double epsilon, const RmspropArgs& a,
                  int64_t n, int threads) {
  with_types(types, [&]<class S, class G, class T>(const UpdateFunctions<S, G, T>& f) {
    const RmspropScalars<T> s{
        static_cast<T>(rho),     static_cast<T>(1 - rho),         static_cast<T>(momentum),
        static_cast<T>(epsilon), static_cast<T>(a.learning_rate), static_cast<T>(a.scale)};
    parallel_rows(n, 1, threads, [&](int64_t b, int64_t e) {
      f.rmsprop(s, at<S>(a.w, b), at<G>(a.grad, b), at<S>(a.velocity, b), at<S>(a.momentum, b),
                at<S>(a.w_out, b), at<S>(a.velocity_out, b), at<S>(a.momentum_out, b),
                static_cast<size_t>(e - b));
    });
  });
}

}  // namespace plimsoll
#endif  // HWY_ONCE
