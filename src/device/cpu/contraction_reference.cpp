#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

#include "common/half.h"
#include "device/cpu/contraction.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// Offsets of the elements of a tensor as the listed axes step, the last one fastest.
std::vector<int64_t> offsets(const Shape& shape, std::span<const int64_t> axes) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()), 1);
  for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[static_cast<int>(i)];
  std::vector<int64_t> out = {0};
  for (const int64_t axis : axes) {
    std::vector<int64_t> next;
    for (const int64_t base : out) {
      for (int64_t i = 0; i < shape[static_cast<int>(axis)]; ++i)
        next.push_back(base + i * strides[static_cast<size_t>(axis)]);
    }
    out = std::move(next);
  }
  return out;
}

std::vector<int64_t> free_axes(const Shape& shape, std::span<const int64_t> contract,
                               std::span<const int64_t> batch) {
  std::vector<int64_t> out;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    const auto has = [&](std::span<const int64_t> list) {
      return std::find(list.begin(), list.end(), axis) != list.end();
    };
    if (!has(contract) && !has(batch)) out.push_back(axis);
  }
  return out;
}

struct State {
  std::vector<int64_t> a_batch, b_batch, a_free, b_free, a_sum, b_sum;
};

struct Half {
  uint16_t bits;
};
struct BHalf {
  uint16_t bits;
};

// What an element is summed in. Integers wrap, so they are summed without a sign.
template <class T>
auto wide(T x) {
  if constexpr (std::is_same_v<T, Half>)
    return double(f16_to_float(x.bits));
  else if constexpr (std::is_same_v<T, BHalf>)
    return double(bf16_to_float(x.bits));
  else if constexpr (std::is_floating_point_v<T>)
    return double(x);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<uint64_t>(x);
  else
    return std::complex<double>(x);
}
template <class T, class W>
T narrow(W x) {
  if constexpr (std::is_same_v<T, Half>)
    return {float_to_f16(static_cast<float>(x))};
  else if constexpr (std::is_same_v<T, BHalf>)
    return {float_to_bf16(static_cast<float>(x))};
  else if constexpr (std::is_same_v<T, bool>)
    return x != 0;
  else
    return static_cast<T>(x);
}

template <class T>
void run(const State& s, void* const* args) {
  const auto* a = static_cast<const T*>(args[0]);
  const auto* b = static_cast<const T*>(args[1]);
  auto* out = static_cast<T*>(args[2]);
  for (size_t z = 0; z < s.a_batch.size(); ++z) {
    for (const int64_t i : s.a_free) {
      for (const int64_t j : s.b_free) {
        decltype(wide(T{})) sum{};
        for (size_t p = 0; p < s.a_sum.size(); ++p) {
          sum += wide(a[s.a_batch[z] + i + s.a_sum[p]]) * wide(b[s.b_batch[z] + j + s.b_sum[p]]);
        }
        *out++ = narrow<T>(sum);
      }
    }
  }
}

template <class T>
Kernel make(State state) {
  return make_kernel<State, run<T>>("reference", std::move(state));
}

}  // namespace

Kernel prepare_contraction_reference(const KernelQuery& q, const ContractionAxes& axes) {
  const Shape &a = q.in[0].shape, &b = q.in[1].shape;
  State s{offsets(a, axes.a_batch),
          offsets(b, axes.b_batch),
          offsets(a, free_axes(a, axes.a_contract, axes.a_batch)),
          offsets(b, free_axes(b, axes.b_contract, axes.b_batch)),
          offsets(a, axes.a_contract),
          offsets(b, axes.b_contract)};
  switch (q.in[0].dtype) {
    case DType::boolean: return make<bool>(std::move(s));
    case DType::u8: return make<uint8_t>(std::move(s));
    case DType::u16: return make<uint16_t>(std::move(s));
    case DType::u32: return make<uint32_t>(std::move(s));
    case DType::u64: return make<uint64_t>(std::move(s));
    case DType::i8: return make<int8_t>(std::move(s));
    case DType::i16: return make<int16_t>(std::move(s));
    case DType::i32: return make<int32_t>(std::move(s));
    case DType::i64: return make<int64_t>(std::move(s));
    case DType::f16: return make<Half>(std::move(s));
    case DType::bf16: return make<BHalf>(std::move(s));
    case DType::f32: return make<float>(std::move(s));
    case DType::f64: return make<double>(std::move(s));
    case DType::c64: return make<std::complex<float>>(std::move(s));
    case DType::c128: return make<std::complex<double>>(std::move(s));
  }
  fail(ErrorKind::unsupported, "dot_general", "no kernel for ", q.in[0].dtype);
}

}  // namespace plimsoll
