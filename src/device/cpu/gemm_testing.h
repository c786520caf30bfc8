// What the tests of products in float32 and in halves share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "device/cpu/gemm_plan.h"

namespace plimsoll::testing_kernels {

// A (m x k) and B (k x n), dense, either of them transposed.
inline GemmProblem problem(int64_t m, int64_t n, int64_t k, bool a_transposed, bool b_transposed,
                           int64_t batch = 1) {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k, p.batch = batch;
  p.a_row = a_transposed ? 1 : k, p.a_col = a_transposed ? m : 1, p.a_batch = m * k;
  p.b_row = b_transposed ? 1 : n, p.b_col = b_transposed ? k : 1, p.b_batch = k * n;
  p.c_row = n, p.c_batch = m * n;
  return p;
}

// run(scratch) with as much as the product asks for: wild bytes, and none beyond their end changes.
template <class Product, class Run>
void with_scratch(const Product& product, const Run& run) {
  const auto bytes = static_cast<size_t>(product.scratch_bytes());
  std::vector<char> scratch(bytes + 128, 0x55);
  char* const aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  run(aligned);
  for (const char* x = aligned + bytes; x < scratch.data() + scratch.size(); ++x) EXPECT_EQ(*x, 0x55);
}

}  // namespace plimsoll::testing_kernels
