// iota: 0, 1, 2, ... along one axis.
#include "common/half.h"
#include "device/kernel.h"
#include "graph/rows.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

struct State {
  int64_t outer, size, inner;
};

template <class T>
T number(int64_t i) {
  return static_cast<T>(i);
}
struct F16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};
template <>
F16 number<F16>(int64_t i) {
  return {float_to_f16(static_cast<float>(i))};
}
template <>
Bf16 number<Bf16>(int64_t i) {
  return {float_to_bf16(static_cast<float>(i))};
}

template <class T>
void run(const State& s, void* const* args) {
  T* out = static_cast<T*>(args[0]);
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.size; ++i) {
      out = std::fill_n(out, s.inner, number<T>(i));
    }
  }
}

template <class T>
Kernel kernel_of(const State& s) {
  return make_kernel<State, run<T>>("iota", s);
}

std::vector<TensorType> infer(const OpCall& call) {
  const Shape shape{std::span<const int64_t>(call.attrs.ints("shape"))};
  normalize_axis(call.attrs.integer("axis"), shape.rank(), "iota");
  const DType t = call.attrs.dtype("dtype");
  require(t != DType::boolean && !is_complex(t), "iota", "expected a dtype of numbers, got ", t);
  return {{t, shape}};
}

Kernel prepare(const KernelQuery& q) {
  const Shape& shape = q.out[0].shape;
  const int axis = normalize_axis(q.attrs.integer("axis"), shape.rank(), "iota");
  State s{1, shape[axis], 1};
  for (int i = 0; i < axis; ++i) s.outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) s.inner *= shape[i];
  switch (q.out[0].dtype) {
    case DType::u8:
    case DType::i8: return kernel_of<uint8_t>(s);
    case DType::u16:
    case DType::i16: return kernel_of<uint16_t>(s);
    case DType::u32:
    case DType::i32: return kernel_of<uint32_t>(s);
    case DType::u64:
    case DType::i64: return kernel_of<uint64_t>(s);
    case DType::f16: return kernel_of<F16>(s);
    case DType::bf16: return kernel_of<Bf16>(s);
    case DType::f32: return kernel_of<float>(s);
    default: return kernel_of<double>(s);
  }
}

std::optional<RowSplit> rows(const RowQuery& q) {
  const int axis = normalize_axis(q.call.attrs.integer("axis"), q.out[0].shape.rank(), "iota");
  return q.rows.axis == axis ? std::nullopt : std::optional(RowSplit{{}, {q.rows}});
}
RowPart row_part(const OpCall& whole, const RowSplit& split, int64_t, int64_t count) {
  return with_shape_attr("shape", whole, split, count);
}

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const DType t : kNumbers) {
    list.push_back({{}, {{"dtype", t}, {"shape", Ints{3, 5, 2}}, {"axis", int64_t{1}}}, false});
  }
  list.push_back({{}, {{"dtype", DType::f32}, {"shape", Ints{0, 4}}, {"axis", int64_t{-1}}}, false});
  list.push_back({{}, {{"dtype", DType::i32}, {"shape", Ints{1031}}, {"axis", int64_t{0}}}, false});
  return list;
}

constexpr AttrDef kAttrs[] = {
    {"axis", AttrKind::integer}, {"dtype", AttrKind::dtype}, {"shape", AttrKind::ints}};
constexpr KernelDef kKernels[] = {{.name = "plain", .prepare = prepare}};
constexpr OpDef kDefs[] = {{.name = "iota",
                            .arity = {0, 0},
                            .attrs = kAttrs,
                            .infer = infer,
                            .kernels = kKernels,
                            .rows = rows,
                            .row_part = row_part,
                            .cases = cases}};

}  // namespace

std::span<const OpDef> ops_iota() { return kDefs; }

Tensor iota(DType dtype, const Shape& shape, int axis) {
  return apply(get_op("iota"), {},
               {{"dtype", dtype}, {"shape", Ints(shape.begin(), shape.end())}, {"axis", int64_t{axis}}})
      .front();
}

}  // namespace plimsoll
