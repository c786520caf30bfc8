// concatenate: tensors side by side along one axis.
#include "device/cpu/strided_copy.h"
#include "device/kernel.h"
#include "graph/rows.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const Shape& first = call.in[0].shape;
  const int axis = normalize_axis(call.attrs.integer("axis"), first.rank(), "concatenate");
  int64_t size = 0;
  for (const TensorType& t : call.in) {
    require(t.dtype == call.in[0].dtype && t.shape.rank() == first.rank() &&
                t.shape.with(axis, 0) == first.with(axis, 0),
            "concatenate", "expected tensors that differ only along axis ", axis, ", got ", call.in[0],
            " and ", t);
    require(!__builtin_add_overflow(size, t.shape[axis], &size), "concatenate",
            "the result overflows 64 bits");
  }
  return {{call.in[0].dtype, first.with(axis, size)}};
}

void grad(GradContext& g) {
  const int axis = normalize_axis(g.attrs().integer("axis"), g.out().rank(), "concatenate");
  Ints starts(static_cast<size_t>(g.out().rank()), 0);
  Ints limits(g.out().shape().begin(), g.out().shape().end());
  const size_t a = static_cast<size_t>(axis);
  limits[a] = 0;
  for (int i = 0; i < g.inputs(); ++i) {
    starts[a] = limits[a];
    limits[a] += g.in(i).shape()[axis];
    if (g.wants(i)) g.set(i, slice(g.dout(), starts, limits));
  }
}

struct Part {
  StridedCopy copy;
  int64_t at;
};  // bytes from the start of the output
using State = std::vector<Part>;

void run(const State& parts, void* const* args) {
  char* out = static_cast<char*>(args[parts.size()]);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].copy.run(out + parts[i].at, args[i]);
}

Kernel prepare(const KernelQuery& q) {
  const int axis = normalize_axis(q.attrs.integer("axis"), q.out[0].shape.rank(), "concatenate");
  const StridedCopy::Strides to = row_major(q.out[0].shape);
  const size_t size = size_of(q.out[0].dtype);
  State parts;
  int64_t at = 0;
  for (const TensorType& t : q.in) {
    parts.push_back({StridedCopy(t.shape, to, row_major(t.shape), size, q.threads), at});
    at += t.shape[axis] * to[static_cast<size_t>(axis)] * static_cast<int64_t>(size);
  }
  return make_kernel<State, run>("strided copy", std::move(parts));
}

std::vector<OpCase> cases() {
  struct Row {
    std::vector<InputCase> in;
    int64_t axis;
  };
  const Row rows[] = {{{{{3}}}, 0},
                      {{{{3}}, {{4}}}, 0},
                      {{{{2, 3}}, {{2, 1}}, {{2, 0}}}, -1},
                      {{{{5, 2, 3}}, {{1, 2, 3}}}, 0},
                      {{{{2, 3, 1, 5, 4}}, {{2, 2, 1, 5, 4}}}, 1},
                      {{{{64, 32}}, {{64, 100}}}, 1}};
  std::vector<OpCase> list;
  for (const Row& r : rows) list.push_back({r.in, {{"axis", r.axis}}});
  return list;
}

constexpr AttrDef kAttrs[] = {{"axis", AttrKind::integer}};
constexpr KernelDef kKernels[] = {{.name = "strided copy", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "concatenate",
                            .arity = {1, kAnyNumber},
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .kernels = kKernels,
                            .rows = rows_beside_axis,
                            .cases = cases,
                            .dtypes = kAllReal}};

}  // namespace

std::span<const OpDef> ops_concatenate() { return kDefs; }

Tensor concatenate(std::span<const Tensor> parts, int axis) {
  require(!parts.empty(), "concatenate", "expected at least one tensor, got none");
  DType t = parts[0].dtype();
  for (const Tensor& p : parts) t = promote(t, p.dtype());
  std::vector<Tensor> in;
  for (const Tensor& p : parts) in.push_back(cast(p, t));
  return apply(get_op("concatenate"), in, {{"axis", int64_t{axis}}}).front();
}

}  // namespace plimsoll
