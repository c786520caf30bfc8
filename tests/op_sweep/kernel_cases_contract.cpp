// Matrix products: every path of the GEMM (dot, direct, packed, shared, in halves) in every layout.
#include <string>

#include "op_sweep/kernel_cases.h"

namespace plimsoll::testing {
namespace {

const std::vector<DType> kAll = {DType::f32, DType::f64, DType::bf16, DType::f16};

void add_dot(KernelCases& cases, const Shape& a, const Shape& b, Ints a_contract, Ints b_contract,
             Ints a_batch = {}, Ints b_batch = {}, const std::vector<DType>& dtypes = {DType::f32}) {
  cases.add(
      {{a}, {b}},
      {{"a_contract", a_contract}, {"b_contract", b_contract}, {"a_batch", a_batch}, {"b_batch", b_batch}},
      dtypes);
}

// (m, k) x (k, n) with either operand, both or none transposed.
void add_layouts(KernelCases& cases, int64_t m, int64_t n, int64_t k,
                 const std::vector<DType>& dtypes = {DType::f32}) {
  add_dot(cases, {m, k}, {k, n}, {1}, {0}, {}, {}, dtypes);
  add_dot(cases, {k, m}, {k, n}, {0}, {0}, {}, {}, dtypes);
  add_dot(cases, {m, k}, {n, k}, {1}, {1}, {}, {}, dtypes);
  add_dot(cases, {k, m}, {n, k}, {0}, {1}, {}, {}, dtypes);
}

void add_batches(KernelCases& cases) {
  add_dot(cases, {6, 50, 64}, {6, 64, 70}, {2}, {1}, {0}, {0}, kAll);
  add_dot(cases, {3, 40, 20}, {3, 30, 20}, {2}, {2}, {0}, {0});
  add_dot(cases, {2, 33, 4, 16}, {2, 35, 4, 16}, {3}, {3}, {0, 2}, {0, 2});  // scores of attention
  add_dot(cases, {2, 4, 33, 35}, {2, 35, 4, 16}, {3}, {1}, {0, 1}, {0, 2});  // and its values
  add_dot(cases, {7, 130, 90}, {90, 110}, {2}, {0});
  add_dot(cases, {7, 30, 90}, {7, 30, 110}, {0, 1}, {0, 1});  // the gradient of a kernel
  // Axes that cannot be read as one: an operand, or both, are copied.
  add_dot(cases, {5, 16, 7, 18}, {7, 90, 5}, {0, 2}, {2, 0});
  add_dot(cases, {6, 5, 14, 7}, {7, 9, 14, 11}, {2, 3}, {2, 0});
  add_dot(cases, {20, 3, 12}, {12, 25, 3, 20}, {0, 2}, {3, 0}, {1}, {2});
}

void add_dense(KernelCases& cases) {
  for (const char* activation : {"linear", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu"}) {
    const Attrs attrs{{"activation", std::string(activation)}};
    cases.add({{{150, 300}}, {{300, 140}}, {{140}}}, attrs, kAll);
    cases.add({{{4, 37}}, {{37, 24}}, {{24}}}, attrs);
    cases.add({{{130, 200}}, {{200, 1}}, {{1}}}, attrs);
    cases.add({{{1, 400}}, {{400, 500}}, {{500}}}, attrs);
  }
  cases.add({{{4, 30, 64}}, {{64, 500}}, {{500}}}, {{"activation", std::string("relu")}});
}

}  // namespace

void add_contractions(KernelCases& cases) {
  if (cases.is("dense")) add_dense(cases);
  if (!cases.is("dot_general")) return;
  add_layouts(cases, 37, 24, 70, kAll);  // small enough to be read as it lies
  add_layouts(cases, 150, 130, 401, kAll);
  add_layouts(cases, 100, 100, 1200);  // two threads share the packing
  add_layouts(cases, 301, 400, 64);
  add_layouts(cases, 48, 1100, 400);
  add_layouts(cases, 64, 48, 2048, {DType::f32, DType::f64});  // in halves
  add_layouts(cases, 33, 17, 4098);
  add_layouts(cases, 1, 700, 500);
  add_layouts(cases, 3, 640, 1000);
  add_layouts(cases, 500, 1, 300, {DType::f32, DType::f64});
  add_dot(cases, {3000}, {3000}, {0}, {0});
  add_dot(cases, {300}, {300, 200}, {0}, {0});
  add_dot(cases, {200, 300}, {300}, {1}, {0});
  add_dot(cases, {60}, {70}, {}, {});
  add_batches(cases);
}

}  // namespace plimsoll::testing
