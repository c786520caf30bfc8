#pragma once

#include <cstddef>
#include <cstdint>

namespace plimsoll::python {

// The CRC-32C (Castagnoli) of `size` bytes, which TFRecord files carry for each record.
uint32_t crc32c(const void* bytes, size_t size);

}  // namespace plimsoll::python
