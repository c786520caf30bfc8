// dynamic_slice(x, starts) and dynamic_update_slice(x, update, starts): a window whose place is known only
// when it runs. Starts are clamped so that the window lies inside.
#include <algorithm>
#include <array>
#include <cstring>

#include "device/cpu/index_reader.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

void check_window(std::string_view op, const TensorType& x, const Shape& window, const TensorType& starts) {
  require(is_integer(starts.dtype) && starts.shape == Shape{x.shape.rank()}, op, "expected ", x.shape.rank(),
          " integer starts, got ", starts);
  require(window.rank() == x.shape.rank(), op, "expected a window of rank ", x.shape.rank(), ", got ",
          window);
  for (int i = 0; i < window.rank(); ++i) {
    require(window[i] <= x.shape[i], op, "expected a window inside ", x.shape, ", got ", window);
  }
}

std::vector<TensorType> infer_slice(const OpCall& call) {
  const Shape window(call.attrs.ints("sizes"));
  check_window("dynamic_slice", call.in[0], window, call.in[1]);
  return {{call.in[0].dtype, window}};
}

std::vector<TensorType> infer_update(const OpCall& call) {
  require(call.in[0].dtype == call.in[1].dtype, "dynamic_update_slice", "expected an update of ",
          call.in[0].dtype, ", got ", call.in[1]);
  check_window("dynamic_update_slice", call.in[0], call.in[1].shape, call.in[2]);
  return {call.in[0]};
}

struct State {
  Shape x, window;
  DType index_type;
  int64_t element;
  int64_t bytes;  // of x
};

// Calls row(offset in x, offset in the window, bytes) for each run of the window that is contiguous in x.
template <class F>
void each_row(const State& s, const void* starts, const F& row) {
  const int rank = s.x.rank();
  if (s.window.elements() == 0) return;
  std::array<int64_t, Shape::kMaxRank> start{}, at{};
  for (int i = 0; i < rank; ++i) {
    const int64_t wanted = read_index(s.index_type, starts, i);
    start[static_cast<size_t>(i)] = std::clamp<int64_t>(wanted, 0, s.x[i] - s.window[i]);
  }
  const int64_t run = rank ? s.window[rank - 1] * s.element : s.element;
  for (int64_t r = 0; r * run < s.window.elements() * s.element; ++r) {
    int64_t offset = 0;
    for (int i = 0; i < rank; ++i)
      offset = offset * s.x[i] + start[static_cast<size_t>(i)] + at[static_cast<size_t>(i)];
    row(offset * s.element, r * run, static_cast<size_t>(run));
    for (int i = rank - 2; i >= 0 && ++at[static_cast<size_t>(i)] == s.window[i]; --i)
      at[static_cast<size_t>(i)] = 0;
  }
}

void run_slice(const State& s, void* const* args) {
  each_row(s, args[1], [&](int64_t from, int64_t to, size_t bytes) {
    std::memcpy(static_cast<char*>(args[2]) + to, static_cast<const char*>(args[0]) + from, bytes);
  });
}

void run_update(const State& s, void* const* args) {
  if (args[0] != args[3]) std::memcpy(args[3], args[0], static_cast<size_t>(s.bytes));
  each_row(s, args[2], [&](int64_t to, int64_t from, size_t bytes) {
    std::memcpy(static_cast<char*>(args[3]) + to, static_cast<const char*>(args[1]) + from, bytes);
  });
}

Kernel prepare_slice(const KernelQuery& q) {
  const State s{q.in[0].shape, q.out[0].shape, q.in[1].dtype, static_cast<int64_t>(size_of(q.in[0].dtype)),
                0};
  return make_kernel<State, run_slice>("rows", s);
}

Kernel prepare_update(const KernelQuery& q) {
  const State s{q.in[0].shape, q.in[1].shape, q.in[2].dtype, static_cast<int64_t>(size_of(q.in[0].dtype)),
                byte_size(q.in[0].dtype, q.in[0].shape)};
  return make_kernel<State, run_update>("rows", s);
}

Tensor zeros(const Tensor& like, const Shape& shape) {
  return broadcast_to(like.graph().constant(scalar_like(like, 0)), shape);
}

void grad_slice(GradContext& g) {
  g.set(0, dynamic_update_slice(zeros(g.dout(), g.in(0).shape()), g.dout(), g.in(1)));
}

void grad_update(GradContext& g) {
  const Shape& window = g.in(1).shape();
  if (g.wants(0)) g.set(0, dynamic_update_slice(g.dout(), zeros(g.dout(), window), g.in(2)));
  if (g.wants(1)) g.set(1, dynamic_slice(g.dout(), g.in(2), Ints(window.begin(), window.end())));
}

uint64_t update_in_place(const OpCall&, int) { return 1; }

std::vector<OpCase> cases_slice() {
  return {{{{{5, 7}}, {{2}, -3, 8, DType::i32}}, {{"sizes", Ints{2, 3}}}},
          {{{{3, 1, 4}}, {{3}, 0, 3, DType::i64}}, {{"sizes", Ints{3, 1, 1}}}},
          {{{{4}}, {{1}, 0, 3, DType::i32}}, {{"sizes", Ints{0}}}}};
}

std::vector<OpCase> cases_update() {
  return {{{{{5, 7}}, {{2, 3}}, {{2}, -3, 8, DType::i32}}, {}},
          {{{{3, 1, 4}}, {{1, 1, 4}}, {{3}, 0, 3, DType::i64}}, {}}};
}

constexpr AttrDef kSliceAttrs[] = {{"sizes", AttrKind::ints}};
constexpr KernelDef kSlice[] = {{.name = "reference", .prepare = prepare_slice}};
constexpr KernelDef kUpdate[] = {{.name = "reference", .prepare = prepare_update}};

}  // namespace

Tensor dynamic_slice(const Tensor& x, const Tensor& starts, const Ints& sizes) {
  static const OpDef& op = get_op("dynamic_slice");
  return apply1(op, {x, starts}, {{"sizes", sizes}});
}

Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const Tensor& starts) {
  static const OpDef& op = get_op("dynamic_update_slice");
  return apply1(op, {x, update, starts});
}

std::span<const OpDef> ops_dynamic_slice() {
  static constexpr OpDef defs[] = {
      {.name = "dynamic_slice",
       .arity = {2, 2},
       .attrs = kSliceAttrs,
       .infer = infer_slice,
       .grad = grad_slice,
       .kernels = kSlice,
       .cases = cases_slice,
       .dtypes = kAllReal},
      {.name = "dynamic_update_slice",
       .arity = {3, 3},
       .infer = infer_update,
       .grad = grad_update,
       .kernels = kUpdate,
       .in_place = update_in_place,
       .cases = cases_update,
       .dtypes = kAllReal},
  };
  return defs;
}

}  // namespace plimsoll
