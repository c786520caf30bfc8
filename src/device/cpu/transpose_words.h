// The inner part of a transposed copy of 32-bit elements.
#pragma once

#include <cstdint>

namespace plimsoll {

// to[i * to_pitch + j] = from[j * from_pitch + i] for i < height, j < width.
void transpose_words(const uint32_t* from, int64_t from_pitch, uint32_t* to, int64_t to_pitch, int64_t height,
                     int64_t width);

}  // namespace plimsoll
