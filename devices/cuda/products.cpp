// dot_general and dense. Floats go to cuBLASLt, with operands whose axes are not in an order it takes copied
// first; integers have a kernel of their own.
#include <algorithm>
#include <numeric>

#include "matmul.h"
#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

// The axes of one operand by what happens to them.
struct Axes {
  std::vector<size_t> batch, free, contract;

  Axes(const Node& node, const Type& t, std::string_view contracted, std::string_view batched) {
    std::vector<bool> used(t.sizes.size(), false);
    for (const int64_t axis : node.ints(batched)) used[batch.emplace_back(axis_of(axis, t.rank()))] = true;
    for (const int64_t axis : node.ints(contracted))
      used[contract.emplace_back(axis_of(axis, t.rank()))] = true;
    for (size_t i = 0; i < used.size(); ++i)
      if (!used[i]) free.push_back(i);
  }
};

int64_t size_of_axes(const Type& t, const std::vector<size_t>& axes) {
  int64_t n = 1;
  for (const size_t axis : axes) n *= t.sizes[axis];
  return n;
}

std::vector<size_t> joined(std::initializer_list<const std::vector<size_t>*> lists) {
  std::vector<size_t> all;
  for (const auto* const list : lists) all.insert(all.end(), list->begin(), list->end());
  return all;
}

// Whether the axes, in this order, are those of the tensor as it lies; axes of size 1 lie anywhere.
bool lies_as(const Type& t, const std::vector<size_t>& order) {
  size_t last = 0;
  bool first = true;
  for (const size_t axis : order) {
    if (t.sizes[axis] == 1) continue;
    if (!first && axis < last) return false;
    last = axis;
    first = false;
  }
  return true;
}

void copy_permuted(Build& b, const Type& t, const std::vector<size_t>& order, Ref from, Ref to) {
  const Sizes own = row_major(t.sizes);
  Sizes sizes, strides;
  for (const size_t axis : order) {
    sizes.push_back(t.sizes[axis]);
    strides.push_back(own[axis]);
  }
  b.each(parameters({moved(t.dtype), moved(t.dtype)}, 1), t.count(),
         concat(coordinates(sizes, "at", "index"), "arg1[at] = arg0[", position(0, strides), "];\n"),
         {from, to});
}

// An operand as matrices (batch, free, contract) or, transposed, (batch, contract, free).
struct Operand {
  Ref bytes;
  bool transposed = false;
};
Operand matrices(Build& b, size_t input, const Axes& axes) {
  const Type t = b.node.in(input);
  const std::vector<size_t> straight = joined({&axes.batch, &axes.free, &axes.contract});
  if (lies_as(t, straight)) return {b.in(input), false};
  if (lies_as(t, joined({&axes.batch, &axes.contract, &axes.free}))) return {b.in(input), true};
  const Operand copied{b.scratch(t.bytes()), false};
  copy_permuted(b, t, straight, b.in(input), copied.bytes);
  return copied;
}

void dot_of_integers(Build& b, const Axes& in_a, const Axes& in_b) {
  const Type a = b.node.in(0), c = b.node.in(1), out = b.node.out(0);
  const int64_t m = size_of_axes(a, in_a.free), n = size_of_axes(c, in_b.free),
                k = size_of_axes(a, in_a.contract);
  const Operand x = matrices(b, 0, in_a), y = matrices(b, 1, in_b);
  b.each(parameters({stored(a.dtype), stored(a.dtype), stored(a.dtype)}, 2), out.count(),
         concat("const int64_t j = at % ", n, ", i = at / ", n, " % ", m, ", z = at / ", m * n,
                ";\nuint64_t sum = 0;\n", "for (int64_t k = 0; k < ", k, "; ++k) sum += (uint64_t)arg0[z * ",
                m * k, " + ", x.transposed ? concat("k * ", m, " + i") : concat("i * ", k, " + k"),
                "] * (uint64_t)arg1[z * ", n * k, " + ",
                y.transposed ? concat("k * ", n, " + j") : concat("j * ", k, " + k"), "];\narg2[at] = (",
                stored(out.dtype), ")", out.dtype == DType::boolean ? "(sum != 0)" : "sum", ";\n"),
         {x.bytes, y.bytes, b.out(0)});
}

void dot_general(Build& b) {
  const Type a = b.node.in(0), c = b.node.in(1), out = b.node.out(0);
  const Axes in_a(b.node, a, "a_contract", "a_batch"), in_b(b.node, c, "b_contract", "b_batch");
  if (out.count() == 0) return;
  if (a.count() == 0) return b.zero(b.out(0), out.bytes());
  if (!is_float(a.dtype)) return dot_of_integers(b, in_a, in_b);
  const Operand x = matrices(b, 0, in_a), y = matrices(b, 1, in_b);
  Matmul product;
  product.dtype = a.dtype;
  product.batch = size_of_axes(a, in_a.batch);
  product.m = size_of_axes(a, in_a.free);
  product.n = size_of_axes(c, in_b.free);
  product.k = size_of_axes(a, in_a.contract);
  product.a = x.bytes;
  product.b = y.bytes;
  product.a_transposed = x.transposed;
  product.b_transposed = !y.transposed;
  product.out = b.out(0);
  add_matmul(b, product);
}

bool knows_dense(const Node& node) {
  const std::string_view activation = node.string("activation");
  return (activation == "linear" || activation == "relu") && is_float(node.in(0).dtype) &&
         node.in(0).dtype != DType::f64 && node.out(0).count() > 0 && node.in(0).count() > 0;
}

void dense(Build& b) {
  const Type x = b.node.in(0), kernel = b.node.in(1);
  Matmul product;
  product.dtype = x.dtype;
  product.k = kernel.sizes[0];
  product.n = kernel.sizes[1];
  product.m = x.count() / product.k;
  product.a = b.in(0);
  product.b = b.in(1);
  product.out = b.out(0);
  product.bias = b.in(2);
  product.has_bias = true;
  product.relu = b.node.string("activation") == "relu";
  add_matmul(b, product);
}

}  // namespace

std::span<const Op> product_ops() {
  static const Op ops[] = {
      {.name = "dot_general", .lower = dot_general},
      {.name = "dense", .lower = dense, .knows = knows_dense},
  };
  return ops;
}

}  // namespace plimsoll::cuda
