// OpDef: everything the engine knows about one op, stated in one file of src/ops/. Ops are found by name
// through find_op(); the list is made by CMake from the file names (cmake/file_list.cmake), so a new file is
// the only edit. Nothing outside src/ops/ asks for an op's name except passes that match patterns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/tile.h"
#include "plimsoll/attrs.h"
#include "plimsoll/graph.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

struct KernelDef;   // device/kernel.h
class GradContext;  // graph/grad.h
struct RowQuery;    // graph/rows.h
struct RowSplit;
struct RowPart;

struct AttrDef {
  std::string_view name;
  AttrKind kind = AttrKind::integer;
  // (optional) The default in the graph's text form: "-1", "[1, 1]", "\"valid\"". Without it the attribute
  // must be given, except for kinds tensor and graph.
  std::optional<std::string_view> fallback = std::nullopt;
};

// One use of an op, as its functions see it.
struct OpCall {
  const OpDef& op;
  std::span<const TensorType> in;
  const Attrs& attrs;
};

// What a run of the node costs, for the planner and for choosing the number of threads.
struct Cost {
  double flops = 0;
  double bytes = 0;  // read and written
};

// What a test needs to make one input: its shape and the range its elements are drawn from.
struct InputCase {
  Shape shape;
  double low = -2.0;
  double high = 2.0;
  std::optional<DType> dtype = std::nullopt;  // fixed, e.g. indices; else it is swept
};
struct OpCase {
  std::vector<InputCase> in;
  Attrs attrs;
  bool differentiable = true;  // check the gradient of this case
};

// How many inputs an op takes: `least` to `most`.
struct Arity {
  int least = 1;
  int most = 1;
};
inline constexpr int kAnyNumber = 1 << 20;

struct OpDef {
  std::string_view name;
  Arity arity = {};
  std::span<const AttrDef> attrs = {};
  // Types of the outputs. Throws Error{invalid_argument} naming op, expected and got.
  std::vector<TensorType> (*infer)(const OpCall& call) = nullptr;
  // (optional) Adds the gradients of the inputs as nodes; without it the op passes no gradient on.
  void (*grad)(GradContext& g) = nullptr;
  // (optional) The op written in other ops: the oracle for its kernels, and how it runs where no kernel
  // fits. Takes symbolic inputs, returns the outputs.
  std::vector<Tensor> (*decompose)(std::span<const Tensor> in, const Attrs& attrs) = nullptr;
  // (optional) Element-wise ops only: the tile for these types, or an empty one if it has none. An op with
  // tiles needs no kernel and can be fused.
  Tile (*tile)(std::span<const TensorType> in, const TensorType& out, const Attrs& attrs) = nullptr;
  // (optional) CPU kernels, fastest first; the first that fits is taken. The last is the reference.
  std::span<const KernelDef> kernels = {};
  // (optional) Default: one flop per element of the output, every input and output touched once.
  Cost (*cost)(const OpCall& call, std::span<const TensorType> out) = nullptr;
  // (optional) Inputs (as a bit mask) whose bytes output `out` may take over if they die here. Element-wise
  // ops get this without asking.
  uint64_t (*in_place)(const OpCall& call, int out) = nullptr;
  // The output is the bytes of input 0 under another type (reshape, bitcast): it runs nothing.
  bool alias = false;
  // Has an effect or a result that must not be shared or folded (random bits without a key, say).
  bool pure = true;
  // (optional) How rows of a batch pass through it (graph/rows.h), so that it can run on some of them at a
  // time. Element-wise ops get this without asking; of any other without it, a result may depend on all rows.
  std::optional<RowSplit> (*rows)(const RowQuery& query) = nullptr;
  // (optional) What runs on rows [first, first + count), where that is not the same op and attributes.
  RowPart (*row_part)(const OpCall& whole, const RowSplit& split, int64_t first, int64_t count) = nullptr;
  // Test cases, and the dtypes the inputs without a fixed dtype are swept over.
  std::vector<OpCase> (*cases)() = nullptr;
  std::span<const DType> dtypes = {};
  // (optional) Named tolerance of the op in f32, relative to the largest element, with the reason beside it.
  double tolerance = 2e-6;
};

// All ops, in order of their files.
std::span<const OpDef* const> all_ops();
const OpDef* find_op(std::string_view name);  // nullptr if there is none
const OpDef& get_op(std::string_view name);   // throws Error{unsupported}

// Checks arity and attributes, fills in defaults. Throws Error{invalid_argument}.
Attrs complete_attrs(const OpDef& op, Attrs attrs);
// complete_attrs + arity + infer.
std::vector<TensorType> infer_types(const OpDef& op, std::span<const TensorType> in, const Attrs& attrs);
Cost cost_of(const OpCall& call, std::span<const TensorType> out);

// Applies an op to tensors: adds a node if any is symbolic, else runs it now (exec/eager.cpp).
std::vector<Tensor> apply(const OpDef& op, std::span<const Tensor> in, Attrs attrs = {});
Tensor apply1(const OpDef& op, std::initializer_list<Tensor> in, Attrs attrs = {});
// Defined by exec: all operands concrete.
std::vector<Tensor> apply_eager(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs);

// The outputs of `body` on these tensors: its nodes applied one by one. Requires: a sub-graph (no variables),
// one tensor of the right type per input.
std::vector<Tensor> inline_graph(const Graph& body, std::span<const Tensor> inputs);

// Lists of dtypes that many ops share.
inline constexpr std::array kFloats = {DType::f16, DType::bf16, DType::f32, DType::f64};
inline constexpr std::array kFloats32Up = {DType::f32, DType::f64};
inline constexpr std::array kNumbers = {DType::u8,  DType::u16,  DType::u32, DType::u64,
                                        DType::i8,  DType::i16,  DType::i32, DType::i64,
                                        DType::f16, DType::bf16, DType::f32, DType::f64};
inline constexpr std::array kAllReal = {DType::boolean, DType::u8,  DType::u16, DType::u32, DType::u64,
                                        DType::i8,      DType::i16, DType::i32, DType::i64, DType::f16,
                                        DType::bf16,    DType::f32, DType::f64};

}  // namespace plimsoll
