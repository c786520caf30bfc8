#include "device/cpu/widened.h"

#include <algorithm>
#include <array>
#include <vector>

#include "device/aligned.h"
#include "device/cpu/half_rows.h"
#include "device/cpu/thread_pool.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kChunk = 1 << 14;  // elements a thread takes at a time
constexpr int64_t kSliceBytes =
    2 << 20;  // of widened arguments that one slice should have: they stay in cache
constexpr size_t kMostArgs = 24;

// One argument of the inner kernel.
struct Slot {
  DType type = DType::f32;
  int64_t elements = 0;  // of one index of the sliced axis, or of all if it has none
  bool sliced = false;
  int64_t wide = -1;  // offset of its float32 copy in scratch; -1: it is passed through
  int64_t part = -1;  // offset of one slice's part of a sum; -1: it is none
  bool half() const { return is_half(type); }
};

struct Widened {
  Kernel most, last;  // of the slices but the last, and of that one if it is shorter
  std::vector<Slot> slots;
  size_t inputs = 0;
  int64_t length = 1, each = 1;  // of the axis, of a slice
  int64_t inner_scratch = 0;     // offset
  int threads = 1;
  int64_t held() const { return most.bytes + last.bytes; }
};

template <class F>
void for_chunks(int64_t n, int threads, const F& f) {
  parallel_for(divide_up(n, kChunk), threads, [&](int64_t chunk, int) noexcept {
    f(chunk * kChunk, std::min(n, (chunk + 1) * kChunk) - chunk * kChunk);
  });
}

void widen(DType type, const void* from, int64_t n, float* to, int threads) {
  const auto* halves = static_cast<const uint16_t*>(from);
  for_chunks(n, threads, [&](int64_t at, int64_t some) { widen_row(type, halves + at, some, to + at); });
}

void narrow(const float* from, int64_t n, DType type, void* to, int threads) {
  auto* halves = static_cast<uint16_t*>(to);
  for_chunks(n, threads, [&](int64_t at, int64_t some) { narrow_row(from + at, some, type, halves + at); });
}

template <class T>
void add(const void* from, int64_t n, void* to, int threads) {
  for_chunks(n, threads, [&](int64_t at, int64_t some) {
    const T* const x = static_cast<const T*>(from) + at;
    T* const y = static_cast<T*>(to) + at;
    for (int64_t i = 0; i < some; ++i) y[i] += x[i];
  });
}

// Calls of one run.
struct Run {
  const Widened& w;
  void* const* args;

  std::byte* scratch() const { return static_cast<std::byte*>(args[w.slots.size()]); }
  float* wide(const Slot& s) const { return reinterpret_cast<float*>(scratch() + s.wide); }
  void* place(size_t i, int64_t index) const {
    const Slot& s = w.slots[i];
    return static_cast<std::byte*>(args[i]) + index * s.elements * static_cast<int64_t>(size_of(s.type));
  }
  // Where a sum is kept until it is whole.
  void* total(size_t i) const { return w.slots[i].half() ? wide(w.slots[i]) : args[i]; }

  void* argument(size_t i, int64_t first) const {
    const Slot& s = w.slots[i];
    if (s.part >= 0) return first == 0 ? total(i) : scratch() + s.part;
    if (s.half()) return wide(s);
    return s.sliced ? place(i, first) : args[i];
  }

  void slice(int64_t first, int64_t n) const {
    std::array<void*, kMostArgs + 1> inner{};
    for (size_t i = 0; i < w.slots.size(); ++i) {
      const Slot& s = w.slots[i];
      inner[i] = argument(i, first);
      if (i < w.inputs && s.half() && (s.sliced || first == 0)) {
        const int64_t count = s.sliced ? n * s.elements : s.elements;
        widen(s.type, s.sliced ? place(i, first) : args[i], count, wide(s), w.threads);
      }
    }
    inner[w.slots.size()] = scratch() + w.inner_scratch;
    const Kernel& kernel = n == w.each ? w.most : w.last;
    kernel.run(kernel.state.get(), inner.data());
    for (size_t i = w.inputs; i < w.slots.size(); ++i) {
      const Slot& s = w.slots[i];
      if (s.part >= 0 && first > 0) {
        const bool f64 = s.type == DType::f64;
        (f64 ? add<double> : add<float>)(inner[i], s.elements, total(i), w.threads);
      } else if (s.sliced && s.half()) {
        narrow(wide(s), n * s.elements, s.type, place(i, first), w.threads);
      }
    }
  }
};

void run(const Widened& w, void* const* args) {
  const Run r{w, args};
  for (int64_t first = 0; first < w.length; first += w.each)
    r.slice(first, std::min(w.each, w.length - first));
  for (size_t i = w.inputs; i < w.slots.size(); ++i) {
    const Slot& s = w.slots[i];
    if (s.half() && !s.sliced) narrow(r.wide(s), s.elements, s.type, args[i], w.threads);
  }
}

bool has(uint32_t bits, size_t i) { return i < 32 && (bits >> i & 1) != 0; }

// The types of one slice of n.
std::vector<TensorType> slice_types(std::span<const TensorType> types, uint32_t sliced, int64_t n) {
  std::vector<TensorType> slice(types.begin(), types.end());
  for (size_t i = 0; i < slice.size(); ++i) {
    if (is_half(slice[i].dtype)) slice[i].dtype = DType::f32;
    if (has(sliced, i)) slice[i].shape = slice[i].shape.with(0, n);
  }
  return slice;
}

// Slices that fill kSliceBytes, and of equal length where the axis allows it: each length is a kernel.
int64_t slice_length(const KernelQuery& q, const Slices& s) {
  int64_t bytes = 1;
  const auto count = [&](std::span<const TensorType> types, uint32_t sliced) {
    for (size_t i = 0; i < types.size(); ++i) {
      if (has(sliced, i) && is_half(types[i].dtype)) bytes += 4 * types[i].shape.elements() / s.length;
    }
  };
  count(q.in, s.in);
  count(q.out, s.out);
  const int64_t most = std::clamp<int64_t>(kSliceBytes / bytes, 1, s.length);
  for (int64_t each = most; 2 * each > most; --each) {
    if (s.length % each == 0) return each;
  }
  return most;
}

Kernel prepare_slice(const KernelQuery& q, Prepare prepare, const Slices& s, int64_t n) {
  const std::vector<TensorType> in = slice_types(q.in, s.in, n), out = slice_types(q.out, s.out, n);
  return prepare(KernelQuery{in, out, q.attrs, q.threads, q.compiler, q.steady});
}

// Gives the arguments their places in scratch, whose size it returns.
int64_t lay_out(Widened& w, const KernelQuery& q, const Slices& s) {
  int64_t scratch = 0;
  const auto add = [&](const TensorType& t, bool sliced, bool sum) {
    Slot slot{t.dtype, t.shape.elements(), sliced};
    if (sliced) slot.elements /= s.length;
    const int64_t elements = slot.elements * (sliced ? w.each : 1);
    if (slot.half()) slot.wide = scratch, scratch += aligned(4 * elements);
    if (sum && w.each < w.length) {
      slot.part = scratch;
      scratch += aligned(elements * std::max<int64_t>(4, static_cast<int64_t>(size_of(t.dtype))));
    }
    w.slots.push_back(slot);
  };
  for (size_t i = 0; i < q.in.size(); ++i) add(q.in[i], has(s.in, i), false);
  for (size_t i = 0; i < q.out.size(); ++i) add(q.out[i], has(s.out, i), !has(s.out, i));
  return scratch;
}

}  // namespace

bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

bool needs_widening(const KernelQuery& q) {
  const auto half = [](const TensorType& t) { return is_half(t.dtype); };
  return std::ranges::any_of(q.in, half) || std::ranges::any_of(q.out, half);
}

Kernel prepare_widened(const KernelQuery& q, Prepare prepare, const Slices& slices) {
  if (!needs_widening(q)) return prepare(q);
  if (q.in.size() + q.out.size() > kMostArgs) fail(ErrorKind::unsupported, "widened", "too many arguments");
  const Slices s = slices.length > 0 ? slices : Slices{};
  Widened w;
  w.length = s.length;
  w.each = slice_length(q, s);
  w.most = prepare_slice(q, prepare, s, w.each);
  const int64_t rest = w.length % w.each;
  if (rest > 0) w.last = prepare_slice(q, prepare, s, rest);
  w.inputs = q.in.size();
  w.threads = q.threads;
  w.inner_scratch = lay_out(w, q, s);
  const int64_t bytes = w.inner_scratch + std::max(w.most.scratch, w.last.scratch);
  const int64_t kept = w.most.kept + w.last.kept;
  std::string name = w.most.name + " in float32";
  Kernel k = make_kernel<Widened, run>(std::move(name), std::move(w), bytes);
  k.kept = kept;
  return k;
}

Kernel native_or_widened(const KernelQuery& q, Prepare prepare, const Slices& slices) {
  try {
    return prepare(q);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::unsupported || !needs_widening(q)) throw;
  }
  return prepare_widened(q, prepare, slices);
}

}  // namespace plimsoll
