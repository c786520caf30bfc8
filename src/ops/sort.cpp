// sort(keys, others...): all operands in the stable, ascending order of the first along one axis. NaNs come
// last. argsort sorts the places along with the keys.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "device/aligned.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "graph/rows.h"
#include "ops/axis_rows.h"
#include "ops/sort_keys.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const Shape& x = call.in[0].shape;
  const int axis = normalize_axis(call.attrs.integer("axis"), x.rank(), "sort");
  require(!is_complex(call.in[0].dtype), "sort", "expected real keys, got ", call.in[0]);
  require(x[axis] <= INT32_MAX, "sort", "expected at most ", INT32_MAX, " elements along the axis, got ",
          x[axis]);
  for (const TensorType& t : call.in) {
    require(t.shape == x, "sort", "expected operands of one shape, got ", call.in[0], " and ", t);
  }
  return {call.in.begin(), call.in.end()};
}

struct State {
  AxisRows axis;
  std::vector<size_t> sizes;  // of an element of each operand
  int64_t row_bytes;          // of a thread's scratch
  int threads;
};

void move_row(const AxisRows& axis, size_t size, int64_t base, const void* from, void* to, int64_t i,
              uint32_t place) {
  std::memcpy(static_cast<char*>(to) + static_cast<size_t>(base + i * axis.inner) * size,
              static_cast<const char*>(from) + static_cast<size_t>(base + place * axis.inner) * size, size);
}

template <class T>
void run(const State& s, void* const* args) {
  const T* keys = static_cast<const T*>(args[0]);
  const size_t operands = s.sizes.size();
  char* scratch = static_cast<char*>(args[2 * operands]);
  each_row(s.axis.rows(), 8 * s.axis.size, s.threads, [&](int64_t row, int thread) noexcept {
    auto* const order = reinterpret_cast<KeyOf<T>*>(scratch + thread * s.row_bytes);
    const int64_t base = s.axis.first(row);
    for (int64_t i = 0; i < s.axis.size; ++i) {
      order[i] = KeyOf<T>::make(ordered(load(keys[base + i * s.axis.inner])), static_cast<uint32_t>(i));
    }
    std::sort(order, order + s.axis.size);
    for (size_t k = 0; k < operands; ++k) {
      for (int64_t i = 0; i < s.axis.size; ++i)
        move_row(s.axis, s.sizes[k], base, args[k], args[operands + k], i, place_of(order[i]));
    }
  });
}

Kernel prepare(const KernelQuery& q) {
  const int axis = normalize_axis(q.attrs.integer("axis"), q.in[0].shape.rank(), "sort");
  State s{AxisRows(q.in[0].shape, axis), {}, 0, std::max(q.threads, 1)};
  for (const TensorType& t : q.in) s.sizes.push_back(size_of(t.dtype));
  return with_type(q.in[0].dtype, "sort", [&](auto t) {
    s.row_bytes = aligned(s.axis.size * static_cast<int64_t>(sizeof(KeyOf<decltype(t)>)));
    const int64_t scratch = s.row_bytes * s.threads;
    return make_kernel<State, run<decltype(t)>>("rows", s, scratch);
  });
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  const Shape& x = call.in[0].shape;
  const int axis = normalize_axis(call.attrs.integer("axis"), x.rank(), "sort");
  Cost c;
  c.flops = 4.0 * static_cast<double>(x.elements()) * std::log2(static_cast<double>(x[axis]) + 2);
  for (const TensorType& t : out) c.bytes += 2.0 * static_cast<double>(byte_size(t.dtype, t.shape));
  return c;
}

// Sorted by where each element came from, the gradients are back in their places.
void grad(GradContext& g) {
  const int axis = normalize_axis(g.attrs().integer("axis"), g.in(0).rank(), "sort");
  std::vector<Tensor> operands = {argsort(g.in(0), axis)};
  std::vector<int> which;
  for (int i = 0; i < g.inputs(); ++i) {
    if (!g.wants(i) || !g.has_dout(i)) continue;
    operands.push_back(g.dout(i));
    which.push_back(i);
  }
  if (which.empty()) return;
  const std::vector<Tensor> back = sort(operands, axis);
  for (size_t k = 0; k < which.size(); ++k) g.set(which[k], back[k + 1]);
}

std::vector<OpCase> cases() {
  const auto with = [](const Shape& s, DType t) { return InputCase{s, -50, 50, t}; };
  return {
      {{{{23}}}, {{"axis", int64_t{0}}}},
      {{{{5, 3, 2}}, with({5, 3, 2}, DType::i32)}, {{"axis", int64_t{1}}}},
      {{{{4, 6}, -3, 3}, with({4, 6}, DType::f64), with({4, 6}, DType::u8)}, {{"axis", int64_t{0}}}, false},
      {{{{7, 1}}}, {{"axis", int64_t{-1}}}},
      {{{{2, 1031}}}, {{"axis", int64_t{1}}}, false},
      {{{{0, 3}}}, {{"axis", int64_t{1}}}}};
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::integer, "-1"}};
constexpr KernelDef kKernels[] = {{.name = "reference", .prepare = prepare}};

}  // namespace

std::vector<Tensor> sort(std::span<const Tensor> operands, int axis) {
  return apply(get_op("sort"), operands, {{"axis", int64_t{axis}}});
}

Tensor sort(const Tensor& x, int axis) { return sort(std::span(&x, 1), axis)[0]; }

Tensor argsort(const Tensor& x, int axis) {
  const int at = normalize_axis(axis, x.rank(), "argsort");
  return sort(std::array{x, iota(DType::i32, x.shape(), at)}, at)[1];
}

std::span<const OpDef> ops_sort() {
  static constexpr OpDef defs[] = {{.name = "sort",
                                    .arity = {1, kAnyNumber},
                                    .attrs = kAttrs,
                                    .infer = infer,
                                    .grad = grad,
                                    .kernels = kKernels,
                                    .cost = cost,
                                    .rows = rows_beside_axis,
                                    .cases = cases,
                                    .dtypes = kAllReal}};
  return defs;
}

}  // namespace plimsoll
