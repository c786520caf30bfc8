// A fuzz target is one file fuzz_<name>.cpp that defines the first two. With clang libFuzzer drives it (make
// fuzz), with other compilers driver.cpp does, by a fixed sequence of mutations. Real files to start from lie
// in corpus/fuzz_<name>/ (corpus/make.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Well-formed inputs to start from.
std::vector<std::string> seeds();
// The input changed as its format would have it (mutate_json.cpp); empty: there is no such change.
std::string mutate(const std::string& input, uint32_t seed);
// Must return 0 and neither crash, hang nor leak, whatever the bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
