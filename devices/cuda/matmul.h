// Products of row-major matrices by cuBLASLt: out = act(a b + bias + addend), for each of a batch.
#pragma once

#include <optional>

#include "build.h"

namespace plimsoll::cuda {

struct Matmul {
  DType dtype = DType::f32;
  std::optional<DType> out_dtype = std::nullopt;  // float32 of halves; otherwise that of the operands
  int64_t batch = 1, m = 1, n = 1, k = 1;
  Ref a, b, out, bias;        // a (batch, m, k), b (batch, k, n), out (batch, m, n), bias (n)
  Ref addend;                 // as out; may lie there if there is a place for trials
  std::optional<Ref> trial;   // where results of algorithms go that are only timed; else to out
  bool a_transposed = false;  // a is (batch, k, m)
  bool b_transposed = false;  // b is (batch, n, k)
  bool has_bias = false, relu = false, has_addend = false;
};
// Chooses an algorithm and asks for its workspace as scratch of the node. Throws Error{unsupported} if there
// is none.
void add_matmul(Build& b, const Matmul& product);

}  // namespace plimsoll::cuda
