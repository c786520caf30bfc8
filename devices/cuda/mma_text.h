// Functions that kernels with tensor cores begin with, as text: products of fragments, bytes that other
// blocks have written, barriers of blocks. Defined once per module, however many kernels begin with them.
#pragma once

#include <string_view>

namespace plimsoll::cuda {

std::string_view mma_functions();

}  // namespace plimsoll::cuda
