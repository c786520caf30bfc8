// dot_general(a, b): sums of products over pairs of axes, as in XLA. Axes of the result: batch, then
// the free axes of a, then those of b, each in their order. matmul() is written with it.
#include <algorithm>

#include "device/cpu/contraction.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "graph/rows.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/complex.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// The axes of one operand by what happens to them, none negative.
struct Axes {
  Ints contract, batch, free;

  Axes(int rank, const Ints& contract_axes, const Ints& batch_axes) {
    std::vector<bool> used(static_cast<size_t>(rank));
    const auto take = [&](const Ints& from, Ints& to) {
      for (const int64_t axis : from) {
        const int i = normalize_axis(axis, rank, "dot_general");
        require(!used[static_cast<size_t>(i)], "dot_general", "expected each axis once, got axis ", axis,
                " twice");
        used[static_cast<size_t>(i)] = true;
        to.push_back(i);
      }
    };
    take(contract_axes, contract);
    take(batch_axes, batch);
    for (int i = 0; i < rank; ++i) {
      if (!used[static_cast<size_t>(i)]) free.push_back(i);
    }
  }
};

struct BothAxes {
  Axes a, b;
  BothAxes(const Shape& a_shape, const Shape& b_shape, const Attrs& attrs)
      : a(a_shape.rank(), attrs.ints("a_contract"), attrs.ints("a_batch")),
        b(b_shape.rank(), attrs.ints("b_contract"), attrs.ints("b_batch")) {}
  ContractionAxes view() const { return {a.contract, b.contract, a.batch, b.batch}; }
};

void require_pairs(const Ints& a, const Ints& b, std::string_view what, const OpCall& call) {
  require(a.size() == b.size(), "dot_general", "expected as many ", what, " axes of a as of b, got ",
          a.size(), " and ", b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t x = call.in[0].shape[static_cast<int>(a[i])], y = call.in[1].shape[static_cast<int>(b[i])];
    require(x == y, "dot_general", "expected ", what, " axes of equal size, got ", x, " and ", y, " in ",
            call.in[0], " and ", call.in[1]);
  }
}

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &a = call.in[0], &b = call.in[1];
  require(a.dtype == b.dtype, "dot_general", "expected one dtype, got ", a.dtype, " and ", b.dtype);
  const BothAxes axes(a.shape, b.shape, call.attrs);
  require_pairs(axes.a.contract, axes.b.contract, "contracted", call);
  require_pairs(axes.a.batch, axes.b.batch, "batch", call);
  Ints sizes;
  for (const int64_t axis : axes.a.batch) sizes.push_back(a.shape[static_cast<int>(axis)]);
  for (const int64_t axis : axes.a.free) sizes.push_back(a.shape[static_cast<int>(axis)]);
  for (const int64_t axis : axes.b.free) sizes.push_back(b.shape[static_cast<int>(axis)]);
  require(sizes.size() <= Shape::kMaxRank, "dot_general", "expected a result of rank ", Shape::kMaxRank,
          " at most, got ", sizes.size(), " from ", a, " and ", b);
  return {{a.dtype, Shape(sizes)}};
}

Ints range(int64_t begin, size_t count) {
  Ints out(count);
  for (size_t i = 0; i < count; ++i) out[i] = begin + static_cast<int64_t>(i);
  return out;
}

Ints joined(const Ints& a, const Ints& b, const Ints& c) {
  Ints out = a;
  out.insert(out.end(), b.begin(), b.end());
  out.insert(out.end(), c.begin(), c.end());
  return out;
}

// x with its present axis i put at place order[i].
Tensor put_back(const Tensor& x, const Ints& order) {
  Ints permutation(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    permutation[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return std::is_sorted(permutation.begin(), permutation.end()) ? x : transpose(x, permutation);
}

// The axes of x that are contracted with those of `other`, in the order of other's axes: so the result
// of a dot_general in which they are free axes of `other` has them.
Ints contracted_in_order_of(const Axes& other, const Axes& x) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < x.contract.size(); ++i) pairs.emplace_back(other.contract[i], x.contract[i]);
  std::sort(pairs.begin(), pairs.end());
  Ints out;
  for (const auto& [theirs, mine] : pairs) out.push_back(mine);
  return out;
}

Tensor gradient_of_a(const Axes& a, const Axes& b, const Tensor& dout, const Tensor& b_value) {
  const auto b_first = static_cast<int64_t>(a.batch.size() + a.free.size());
  const Tensor g =
      dot_general(dout, b_value, range(b_first, b.free.size()), b.free, range(0, a.batch.size()), b.batch);
  return put_back(g, joined(a.batch, a.free, contracted_in_order_of(b, a)));
}

// With a first, so that (K, N) comes out of (M, K) and (M, N) in its own order.
Tensor gradient_of_b(const Axes& a, const Axes& b, const Tensor& dout, const Tensor& a_value) {
  const auto a_first = static_cast<int64_t>(a.batch.size());
  const Tensor g =
      dot_general(a_value, dout, a.free, range(a_first, a.free.size()), a.batch, range(0, a.batch.size()));
  return put_back(g, joined(b.batch, contracted_in_order_of(a, b), b.free));
}

void grad(GradContext& g) {
  const BothAxes axes(g.in(0).shape(), g.in(1).shape(), g.attrs());
  if (g.wants(0)) g.set(0, gradient_of_a(axes.a, axes.b, g.dout(), g.in(1)));
  if (g.wants(1)) g.set(1, gradient_of_b(axes.a, axes.b, g.dout(), g.in(0)));
}

Kernel prepare_highway(const KernelQuery& q) {
  const BothAxes axes(q.in[0].shape, q.in[1].shape, q.attrs);
  return prepare_contraction(q, axes.view(), {});
}
bool fits_highway(const KernelQuery& q) { return is_float(q.in[0].dtype); }

Kernel prepare_reference(const KernelQuery& q) {
  const BothAxes axes(q.in[0].shape, q.in[1].shape, q.attrs);
  return prepare_contraction_reference(q, axes.view());
}

bool fits_onednn(const KernelQuery& q) {
  const BothAxes axes(q.in[0].shape, q.in[1].shape, q.attrs);
  return contraction_fits_onednn(q, axes.view());
}
Kernel prepare_onednn(const KernelQuery& q) {
  const BothAxes axes(q.in[0].shape, q.in[1].shape, q.attrs);
  return prepare_contraction_onednn(q, axes.view(), false, Activation::linear);
}

constexpr KernelDef kKernels[] = {
    {.name = "onednn", .fits = fits_onednn, .prepare = prepare_onednn},
    {.name = "highway", .fits = fits_highway, .prepare = prepare_highway},
    {.name = "reference", .prepare = prepare_reference},
};

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  const Axes a(call.in[0].shape.rank(), call.attrs.ints("a_contract"), call.attrs.ints("a_batch"));
  double sums = 1;
  for (const int64_t axis : a.contract) sums *= static_cast<double>(call.in[0].shape[static_cast<int>(axis)]);
  const auto elements = [](const TensorType& t) { return static_cast<double>(t.shape.elements()); };
  return {.flops = 2 * sums * elements(out[0]),
          .bytes = static_cast<double>(size_of(out[0].dtype)) *
                   (elements(call.in[0]) + elements(call.in[1]) + elements(out[0]))};
}

// Batch axes stay rows, contracted ones are summed over, free ones are rows of one operand and the result.
std::optional<RowSplit> rows(const RowQuery& q) {
  const BothAxes axes(q.call.in[0].shape, q.call.in[1].shape, q.call.attrs);
  const size_t batch = axes.a.batch.size(), free = axes.a.free.size();
  const auto place = [](const Ints& list, int axis) {
    return static_cast<size_t>(std::find(list.begin(), list.end(), axis) - list.begin());
  };
  const auto at = [&](int64_t axis) { return Rows{static_cast<int>(axis), q.rows.per}; };
  const auto of_result = [&](size_t to) -> RowSplit {
    const Rows out = at(static_cast<int64_t>(to));
    if (to < batch) return {{at(axes.a.batch[to]), at(axes.b.batch[to])}, {out}};
    if (to < batch + free) return {{at(axes.a.free[to - batch]), {}}, {out}};
    return {{{}, at(axes.b.free[to - batch - free])}, {out}};
  };
  if (!q.is_input()) return of_result(static_cast<size_t>(q.rows.axis));
  const Axes& own = q.given == 0 ? axes.a : axes.b;
  if (const size_t i = place(own.contract, q.rows.axis); i < own.contract.size())
    return RowSplit{{at(axes.a.contract[i]), at(axes.b.contract[i])}, {{Rows::kSummed}}};
  if (const size_t i = place(own.batch, q.rows.axis); i < batch) return of_result(i);
  return of_result(batch + (q.given == 0 ? 0 : free) + place(own.free, q.rows.axis));
}

OpCase one_case(Shape a, Shape b, Ints a_contract, Ints b_contract, Ints a_batch = {}, Ints b_batch = {}) {
  return {.in = {{.shape = a}, {.shape = b}},
          .attrs = {{"a_contract", a_contract},
                    {"b_contract", b_contract},
                    {"a_batch", a_batch},
                    {"b_batch", b_batch}}};
}

std::vector<OpCase> cases() {
  return {
      one_case({5, 7}, {7, 3}, {1}, {0}),
      one_case({7, 5}, {7, 3}, {0}, {0}),
      one_case({5, 7}, {3, 7}, {-1}, {-1}),
      one_case({7, 5}, {3, 7}, {0}, {1}),
      one_case({1, 1}, {1, 1}, {1}, {0}),
      one_case({4, 0}, {0, 3}, {1}, {0}),
      one_case({0, 4}, {4, 3}, {1}, {0}),
      one_case({6}, {6}, {0}, {0}),
      one_case({6}, {6, 4}, {0}, {0}),
      one_case({3}, {2}, {}, {}),
      one_case({2, 5, 7}, {2, 7, 3}, {2}, {1}, {0}, {0}),
      one_case({2, 5, 3, 4}, {2, 6, 3, 4}, {3}, {3}, {0, 2}, {0, 2}),  // attention's q . k
      one_case({2, 3, 5, 6}, {2, 6, 3, 4}, {3}, {1}, {0, 1}, {0, 2}),  // and its p . v
      one_case({2, 3, 4}, {3, 4, 5}, {1, 2}, {0, 1}),
      one_case({2, 3, 4}, {4, 3, 5}, {1, 2}, {1, 0}),
      one_case({4, 2, 3}, {5, 3, 4}, {0, 2}, {2, 1}),
      one_case({3, 2, 4, 2}, {2, 4, 3, 5}, {2, 0}, {1, 2}, {1}, {0}),
      one_case({37, 29}, {29, 41}, {1}, {0}),
      one_case({1, 67}, {67, 33}, {1}, {0}),
      one_case({33, 67}, {67, 1}, {1}, {0}),
  };
}

constexpr AttrDef kAttrs[] = {
    {"a_contract", AttrKind::ints},
    {"b_contract", AttrKind::ints},
    {"a_batch", AttrKind::ints, "[]"},
    {"b_batch", AttrKind::ints, "[]"},
};

}  // namespace

std::span<const OpDef> ops_dot_general() {
  static const OpDef defs[] = {
      {.name = "dot_general",
       .arity = {2, 2},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad,
       .kernels = kKernels,
       .cost = cost,
       .rows = rows,
       .cases = cases,
       .dtypes = kNumbers,
       .tolerance = 1e-5},  // sums of up to 67 products, in another order than the oracle's
  };
  return defs;
}

Tensor dot_general(const Tensor& a, const Tensor& b, const Ints& a_contract, const Ints& b_contract,
                   const Ints& a_batch, const Ints& b_batch) {
  if (is_complex(a.dtype()) && a.dtype() == b.dtype()) {
    const auto product = [&](const Tensor& x, const Tensor& y) {
      return dot_general(x, y, a_contract, b_contract, a_batch, b_batch);
    };
    const Tensor ar = real(a), ai = imag(a), br = real(b), bi = imag(b);
    return complex(product(ar, br) - product(ai, bi), product(ar, bi) + product(ai, br));
  }
  return apply1(
      get_op("dot_general"), {a, b},
      {{"a_contract", a_contract}, {"b_contract", b_contract}, {"a_batch", a_batch}, {"b_batch", b_batch}});
}

namespace {

Tensor with_leading(const Tensor& x, const Shape& lead) {
  Ints sizes(lead.begin(), lead.end());
  sizes.insert(sizes.end(), x.shape().end() - 2, x.shape().end());
  return broadcast_to(x, Shape(sizes));
}

Shape leading(const Tensor& x) { return Shape(x.shape().sizes().first(static_cast<size_t>(x.rank() - 2))); }

// Both of rank 2 or more.
Tensor matmul_matrices(const Tensor& a, const Tensor& b) {
  require(a.dim(-1) == b.dim(-2), "matmul",
          "expected the last axis of a to be as long as the one before the last of b, got ", a.shape(),
          " and ", b.shape());
  if (b.rank() == 2) return dot_general(a, b, {a.rank() - 1}, {0});
  const Shape lead = broadcast(leading(a), leading(b), "matmul");
  const Tensor x = leading(a) == lead ? a : with_leading(a, lead);
  const Tensor y = leading(b) == lead ? b : with_leading(b, lead);
  const int rank = lead.rank();
  const Ints batch = range(0, static_cast<size_t>(rank));
  return dot_general(x, y, {rank + 1}, {rank}, batch, batch);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  require(a.rank() > 0 && b.rank() > 0, "matmul", "expected tensors with at least one axis, got ", a.shape(),
          " and ", b.shape());
  const DType dtype = promote(a.dtype(), b.dtype());
  Tensor x = a.dtype() == dtype ? a : cast(a, dtype), y = b.dtype() == dtype ? b : cast(b, dtype);
  if (a.rank() == 1 && b.rank() == 1) {
    require(a.dim(0) == b.dim(0), "matmul", "expected vectors of equal length, got ", a.shape(), " and ",
            b.shape());
    return dot_general(x, y, {0}, {0});
  }
  if (a.rank() == 1) return squeeze(matmul_matrices(expand_dims(x, 0), y), -2);
  if (b.rank() == 1) return squeeze(matmul_matrices(x, expand_dims(y, 1)), -1);
  return matmul_matrices(x, y);
}

}  // namespace plimsoll
