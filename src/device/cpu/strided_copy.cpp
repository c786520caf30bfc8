#include "device/cpu/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/aligned.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/transpose_words.h"

namespace plimsoll {
namespace {

constexpr int64_t kBlock = 32;               // rows and columns of a block: source and target fit L1 together
constexpr int64_t kParallelBytes = 1 << 18;  // less is done here, without waking anybody

// 16 bytes, moved as one.
struct alignas(16) Wide {
  uint64_t half[2];
};

}  // namespace

StridedCopy::Strides row_major(const Shape& shape) {
  StridedCopy::Strides strides{};
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = stride;
    stride *= shape[i];
  }
  return strides;
}

StridedCopy::StridedCopy(const Shape& box, const Strides& to, const Strides& from, size_t size, int threads)
    : size_(size), total_(box.elements()) {
  for (int i = 0; i < box.rank(); ++i) {
    const size_t axis = static_cast<size_t>(i);
    if (box[i] == 1) continue;
    const size_t last = static_cast<size_t>(rank_) - 1;
    if (rank_ > 0 && to_[last] == to[axis] * box[i] && from_[last] == from[axis] * box[i]) {
      dims_[last] *= box[i];
    } else {
      dims_[last + 1] = box[i];
      ++rank_;
    }
    to_[static_cast<size_t>(rank_) - 1] = to[axis];
    from_[static_cast<size_t>(rank_) - 1] = from[axis];
  }
  if (rank_ == 0) {
    rank_ = 1;
    dims_[0] = 1;
    to_[0] = from_[0] = 1;
  }
  threads_ = total_ * static_cast<int64_t>(size) < kParallelBytes ? 1 : threads;
  choose();
}

void StridedCopy::choose() {
  const size_t last = static_cast<size_t>(rank_) - 1;
  if (from_[last] == 1 || to_[last] != 1 || dims_[last] < 8) return;
  for (int d = 0; d < rank_ - 1; ++d) {
    if (from_[static_cast<size_t>(d)] == 1 && dims_[static_cast<size_t>(d)] >= 8) across_ = d;
  }
}

template <class T>
void StridedCopy::rows(int64_t begin, int64_t end, T* to, const T* from) const {
  const size_t last = static_cast<size_t>(rank_) - 1;
  const int64_t n = dims_[last], to_step = to_[last], from_step = from_[last];
  for (int64_t row = begin; row < end; ++row) {
    T* t = to;
    const T* f = from;
    int64_t rest = row;
    for (size_t d = last; d-- > 0;) {
      const int64_t index = rest % dims_[d];
      rest /= dims_[d];
      t += index * to_[d];
      f += index * from_[d];
    }
    if (to_step == 1 && from_step == 1) {
      std::memcpy(t, f, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) t[i * to_step] = f[i * from_step];
    }
  }
}

// A plane is the last axis (dense in the target) by the axis across_ (dense in the source); its rows are
// taken in strips.
template <class T>
void StridedCopy::planes(int64_t begin, int64_t end, T* to, const T* from) const {
  const size_t last = static_cast<size_t>(rank_) - 1, across = static_cast<size_t>(across_);
  const int64_t strips = divide_up(dims_[across], kBlock);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t first = item % strips * kBlock;
    T* t = to + first * to_[across];
    const T* f = from + first;
    int64_t rest = item / strips;
    for (size_t d = last; d-- > 0;) {
      if (d == across) continue;
      const int64_t index = rest % dims_[d];
      rest /= dims_[d];
      t += index * to_[d];
      f += index * from_[d];
    }
    const int64_t height = std::min(kBlock, dims_[across] - first), step = from_[last], pitch = to_[across];
    if constexpr (sizeof(T) == 4) {
      transpose_words(f, step, t, pitch, height, dims_[last]);
      continue;
    }
    for (int64_t column = 0; column < dims_[last]; column += kBlock) {
      const int64_t width = std::min(kBlock, dims_[last] - column);
      for (int64_t i = 0; i < height; ++i) {
        T* target = t + i * pitch + column;
        const T* source = f + i + column * step;
        for (int64_t j = 0; j < width; ++j) target[j] = source[j * step];
      }
    }
  }
}

template <class T>
void StridedCopy::run_as(T* to, const T* from) const {
  const int64_t across = across_ < 0 ? 1 : dims_[static_cast<size_t>(across_)];
  const int64_t inner = dims_[static_cast<size_t>(rank_) - 1];
  const int64_t items = across_ < 0 ? total_ / inner : total_ / inner / across * divide_up(across, kBlock);
  const int64_t per_item = std::max<int64_t>(1, total_ / std::max<int64_t>(1, items));
  const int64_t chunk = std::max<int64_t>(1, (1 << 16) / per_item);
  const auto body = [&](int64_t c, int) noexcept {
    const int64_t begin = c * chunk, end = std::min(items, begin + chunk);
    across_ < 0 ? rows(begin, end, to, from) : planes(begin, end, to, from);
  };
  parallel_for(divide_up(items, chunk), threads_, body);
}

void StridedCopy::run(void* to, const void* from) const {
  if (total_ == 0) return;
  switch (size_) {
    case 1: return run_as(static_cast<uint8_t*>(to), static_cast<const uint8_t*>(from));
    case 2: return run_as(static_cast<uint16_t*>(to), static_cast<const uint16_t*>(from));
    case 4: return run_as(static_cast<uint32_t*>(to), static_cast<const uint32_t*>(from));
    case 8: return run_as(static_cast<uint64_t*>(to), static_cast<const uint64_t*>(from));
    default: return run_as(static_cast<Wide*>(to), static_cast<const Wide*>(from));
  }
}

}  // namespace plimsoll
