#include "device/cpu/widened.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/half.h"
#include "device/aligned.h"
#include "device/cpu/thread_pool.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kChunk = 1 << 14;  // elements a thread takes at a time
constexpr size_t kMostArgs = 24;

// One argument of the inner kernel.
struct Slot {
  DType type = DType::f32;
  int64_t elements = 0;
  int64_t offset = -1;  // of its float32 copy in scratch; -1: it is passed through
};

struct Widened {
  Kernel inner;
  std::vector<Slot> slots;
  size_t inputs = 0;
  int64_t inner_scratch = 0;  // offset
  int threads = 1;
};

void widen(const Slot& slot, const void* from, float* to, int threads) {
  const auto* halves = static_cast<const uint16_t*>(from);
  parallel_for(divide_up(slot.elements, kChunk), threads, [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(slot.elements, (chunk + 1) * kChunk);
    if (slot.type == DType::bf16) {
      for (int64_t i = chunk * kChunk; i < end; ++i) to[i] = bf16_to_float(halves[i]);
    } else {
      for (int64_t i = chunk * kChunk; i < end; ++i) to[i] = f16_to_float(halves[i]);
    }
  });
}

void narrow(const Slot& slot, const float* from, void* to, int threads) {
  auto* halves = static_cast<uint16_t*>(to);
  parallel_for(divide_up(slot.elements, kChunk), threads, [&](int64_t chunk, int) noexcept {
    const int64_t end = std::min(slot.elements, (chunk + 1) * kChunk);
    if (slot.type == DType::bf16) {
      for (int64_t i = chunk * kChunk; i < end; ++i) halves[i] = float_to_bf16(from[i]);
    } else {
      for (int64_t i = chunk * kChunk; i < end; ++i) halves[i] = float_to_f16(from[i]);
    }
  });
}

void run(const Widened& w, void* const* args) {
  auto* scratch = static_cast<std::byte*>(args[w.slots.size()]);
  std::array<void*, kMostArgs + 1> inner{};
  for (size_t i = 0; i < w.slots.size(); ++i) {
    const Slot& slot = w.slots[i];
    inner[i] = slot.offset < 0 ? args[i] : scratch + slot.offset;
    if (slot.offset >= 0 && i < w.inputs) widen(slot, args[i], static_cast<float*>(inner[i]), w.threads);
  }
  inner[w.slots.size()] = scratch + w.inner_scratch;
  w.inner.run(w.inner.state.get(), inner.data());
  for (size_t i = w.inputs; i < w.slots.size(); ++i) {
    if (w.slots[i].offset >= 0) narrow(w.slots[i], static_cast<const float*>(inner[i]), args[i], w.threads);
  }
}

std::vector<TensorType> widened(std::span<const TensorType> types) {
  std::vector<TensorType> wide(types.begin(), types.end());
  for (TensorType& t : wide) t.dtype = is_half(t.dtype) ? DType::f32 : t.dtype;
  return wide;
}

}  // namespace

bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

bool needs_widening(const KernelQuery& q) {
  const auto half = [](const TensorType& t) { return is_half(t.dtype); };
  return std::ranges::any_of(q.in, half) || std::ranges::any_of(q.out, half);
}

Kernel prepare_widened(const KernelQuery& q, Prepare prepare) {
  if (!needs_widening(q)) return prepare(q);
  if (q.in.size() + q.out.size() > kMostArgs) fail(ErrorKind::unsupported, "widened", "too many arguments");
  const std::vector<TensorType> in = widened(q.in), out = widened(q.out);
  Widened w;
  w.inner = prepare(KernelQuery{in, out, q.attrs, q.threads, q.compiler, q.steady});
  w.inputs = in.size();
  w.threads = q.threads;
  int64_t scratch = 0;
  for (const auto& types : {q.in, q.out}) {
    for (const TensorType& t : types) {
      Slot slot{t.dtype, t.shape.elements(), -1};
      if (is_half(t.dtype)) {
        slot.offset = scratch;
        scratch += aligned(byte_size(DType::f32, t.shape));
      }
      w.slots.push_back(slot);
    }
  }
  w.inner_scratch = scratch;
  const int64_t bytes = scratch + w.inner.scratch;
  std::string name = w.inner.name + " in float32";
  return make_kernel<Widened, run>(std::move(name), std::move(w), bytes);
}

}  // namespace plimsoll
