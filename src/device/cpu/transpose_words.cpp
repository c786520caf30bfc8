#include "device/cpu/highway.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/transpose_words.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/cpu/transpose_words.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void One(const uint32_t* from, int64_t from_pitch, uint32_t* to, int64_t to_pitch, int64_t i,
                    int64_t end_i, int64_t j, int64_t end_j) {
  for (int64_t a = i; a < end_i; ++a) {
    for (int64_t b = j; b < end_j; ++b) to[a * to_pitch + b] = from[b * from_pitch + a];
  }
}

#if HWY_TARGET != HWY_SCALAR
// Four by four elements in registers.
HWY_INLINE void Four(const uint32_t* from, int64_t from_pitch, uint32_t* to, int64_t to_pitch) {
  const hn::Full128<uint32_t> d;
  const hn::Full128<uint64_t> d64;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_pitch);
  const auto r2 = hn::LoadU(d, from + 2 * from_pitch), r3 = hn::LoadU(d, from + 3 * from_pitch);
  const auto a = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1)),
             b = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
  const auto c = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1)),
             e = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, a, b)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, a, b)), d, to + to_pitch);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, c, e)), d, to + 2 * to_pitch);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, c, e)), d, to + 3 * to_pitch);
}
#endif
}  // namespace

// Eight rows of the source at a time: their lines stay in one set of the cache even if the pitch is a power
// of two.
void Transpose(const uint32_t* from, int64_t from_pitch, uint32_t* to, int64_t to_pitch, int64_t height,
               int64_t width) {
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; j + 8 <= width; j += 8) {
    int64_t i = 0;
    for (; i + 4 <= height; i += 4) {
      Four(from + j * from_pitch + i, from_pitch, to + i * to_pitch + j, to_pitch);
      Four(from + (j + 4) * from_pitch + i, from_pitch, to + i * to_pitch + j + 4, to_pitch);
    }
    One(from, from_pitch, to, to_pitch, i, height, j, j + 8);
  }
#endif
  One(from, from_pitch, to, to_pitch, 0, height, j, width);
}

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
HWY_EXPORT(Transpose);

void transpose_words(const uint32_t* from, int64_t from_pitch, uint32_t* to, int64_t to_pitch, int64_t height,
                     int64_t width) {
  HWY_DYNAMIC_DISPATCH(Transpose)(from, from_pitch, to, to_pitch, height, width);
}

}  // namespace plimsoll
#endif
