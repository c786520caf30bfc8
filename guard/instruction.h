// Which extension of the instruction set an instruction belongs to, as far as its first bytes tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plimsoll::guard {

// "AVX-512", "AVX, AVX2 or FMA", "undefined on purpose (ud2)"; empty if the bytes do not tell, or are not
// x86-64.
std::string instruction_family(const std::vector<uint8_t>& bytes);

// The extensions that matter for numerical libraries and that this processor has, such as "sse4_2 avx avx2
// fma".
std::string cpu_features();

}  // namespace plimsoll::guard
