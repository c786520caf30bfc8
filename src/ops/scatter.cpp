// scatter_nd(x, indices, updates): x with rows combined in at the places gather_nd would read, one after the
// other. Each thread owns a range of x and reads all indices, so that results do not depend on threads.
// Indices outside x are dropped. Modes: set, add, mul, min, max.
#include <algorithm>
#include <cstring>

#include "common/half.h"
#include "device/cpu/index_reader.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/typed.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

enum class Mode : uint8_t { set, add, mul, min, max };
constexpr std::array<std::string_view, 5> kModes = {"set", "add", "mul", "min", "max"};

Mode mode_of(const Attrs& attrs) {
  const std::string& name = attrs.string("mode");
  for (size_t i = 0; i < kModes.size(); ++i) {
    if (kModes[i] == name) return static_cast<Mode>(i);
  }
  fail(ErrorKind::invalid_argument, "scatter_nd", "expected mode set, add, mul, min or max, got ", name);
}

std::vector<TensorType> infer(const OpCall& call) {
  const Shape& x = call.in[0].shape;
  const Shape& indices = call.in[1].shape;
  require(is_integer(call.in[1].dtype), "scatter_nd", "expected integer indices, got ", call.in[1]);
  require(!is_complex(call.in[0].dtype), "scatter_nd", "expected real elements, got ", call.in[0]);
  require(indices.rank() >= 1 && indices.dim(-1) <= x.rank(), "scatter_nd", "expected indices of at most ",
          x.rank(), " columns, got shape ", indices);
  std::vector<int64_t> sizes(indices.begin(), indices.end() - 1);
  sizes.insert(sizes.end(), x.begin() + indices.dim(-1), x.end());
  const TensorType updates{call.in[0].dtype, Shape(std::span<const int64_t>(sizes))};
  require(call.in[2] == updates, "scatter_nd", "expected updates of type ", updates, ", got ", call.in[2]);
  mode_of(call.attrs);
  return {call.in[0]};
}

struct State {
  DType index_type;
  int64_t count, columns, row;  // rows to put in; columns of the indices; elements of a row
  int64_t elements;             // of x
  std::array<int64_t, Shape::kMaxRank> sizes;
  void (*combine)(void* to, const void* from, int64_t n, Mode mode);
  size_t element;
  Mode mode;
  int threads;
};

template <class T>
T combined(T a, T b, Mode mode) {
  switch (mode) {
    case Mode::set: return b;
    case Mode::min: return b < a || is_nan(b) ? b : a;  // a NaN wins
    case Mode::max: return b > a || is_nan(b) ? b : a;
    case Mode::add: return static_cast<T>(a + b);
    case Mode::mul: return static_cast<T>(a * b);
  }
  return b;
}

// Signed sums wrap, by way of unsigned ones; small integers are promoted to int and cannot overflow it but by
// mul.
template <class T>
void combine_integers(void* to, const void* from, int64_t n, Mode mode) {
  T* y = static_cast<T*>(to);
  const T* u = static_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i) {
    if (mode == Mode::add)
      y[i] = static_cast<T>(static_cast<uint64_t>(y[i]) + static_cast<uint64_t>(u[i]));
    else if (mode == Mode::mul)
      y[i] = static_cast<T>(static_cast<uint64_t>(y[i]) * static_cast<uint64_t>(u[i]));
    else
      y[i] = combined(y[i], u[i], mode);
  }
}

template <class T>
void combine_floats(void* to, const void* from, int64_t n, Mode mode) {
  T* y = static_cast<T*>(to);
  const T* u = static_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i) y[i] = combined(y[i], u[i], mode);
}

template <float (*Widen)(uint16_t), uint16_t (*Narrow)(float)>
void combine_halves(void* to, const void* from, int64_t n, Mode mode) {
  uint16_t* y = static_cast<uint16_t*>(to);
  const uint16_t* u = static_cast<const uint16_t*>(from);
  for (int64_t i = 0; i < n; ++i) y[i] = Narrow(combined(Widen(y[i]), Widen(u[i]), mode));
}

void combine_bools(void* to, const void* from, int64_t n, Mode mode) {
  uint8_t* y = static_cast<uint8_t*>(to);
  const uint8_t* u = static_cast<const uint8_t*>(from);
  for (int64_t i = 0; i < n; ++i) {
    if (mode == Mode::set)
      y[i] = u[i];
    else if (mode == Mode::add || mode == Mode::max)
      y[i] |= u[i];
    else
      y[i] &= u[i];
  }
}

auto combine_for(DType t) -> decltype(State::combine) {
  switch (t) {
    case DType::boolean: return combine_bools;
    case DType::u8: return combine_integers<uint8_t>;
    case DType::u16: return combine_integers<uint16_t>;
    case DType::u32: return combine_integers<uint32_t>;
    case DType::u64: return combine_integers<uint64_t>;
    case DType::i8: return combine_integers<int8_t>;
    case DType::i16: return combine_integers<int16_t>;
    case DType::i32: return combine_integers<int32_t>;
    case DType::i64: return combine_integers<int64_t>;
    case DType::f16: return combine_halves<f16_to_float, float_to_f16>;
    case DType::bf16: return combine_halves<bf16_to_float, float_to_bf16>;
    case DType::f32: return combine_floats<float>;
    default: return combine_floats<double>;
  }
}

// The first element of x that row r of the updates goes to; -1 if its index lies outside.
int64_t place_of(const State& s, const void* indices, int64_t r) {
  int64_t at = 0;
  for (int64_t c = 0; c < s.columns; ++c) {
    const int64_t size = s.sizes[static_cast<size_t>(c)];
    const int64_t i = read_index(s.index_type, indices, r * s.columns + c);
    if (i < 0 || i >= size) return -1;
    at = at * size + i;
  }
  return at * s.row;
}

// Everything that happens to the elements [begin, end) of x.
void run_range(const State& s, void* const* args, int64_t begin, int64_t end) noexcept {
  if (begin >= end) return;
  const auto size = static_cast<int64_t>(s.element);
  const char* x = static_cast<const char*>(args[0]);
  const char* updates = static_cast<const char*>(args[2]);
  char* y = static_cast<char*>(args[3]);
  if (x != y) std::memcpy(y + begin * size, x + begin * size, static_cast<size_t>((end - begin) * size));
  for (int64_t r = 0; r < s.count; ++r) {
    const int64_t at = place_of(s, args[1], r);
    const int64_t from = std::max(at, begin), to = std::min(at + s.row, end);
    if (at < 0 || from >= to) continue;
    s.combine(y + from * size, updates + (r * s.row + from - at) * size, to - from, s.mode);
  }
}

void run(const State& s, void* const* args) {
  const int64_t each = (s.elements + s.threads - 1) / s.threads;
  auto part = [&](int64_t t, int) noexcept {
    const int64_t begin = std::min(t * each, s.elements);
    run_range(s, args, begin, std::min(begin + each, s.elements));
  };
  parallel_for(s.threads, s.threads, part);
}

Kernel prepare(const KernelQuery& q) {
  const Shape& x = q.in[0].shape;
  State s{};
  s.index_type = q.in[1].dtype;
  s.columns = q.in[1].shape.dim(-1);
  s.count = 1;
  for (int i = 0; i + 1 < q.in[1].shape.rank(); ++i) s.count *= q.in[1].shape[i];
  s.row = 1;
  for (int i = static_cast<int>(s.columns); i < x.rank(); ++i) s.row *= x[i];
  s.elements = x.elements();
  std::copy(x.begin(), x.begin() + s.columns, s.sizes.begin());
  s.combine = combine_for(q.in[0].dtype);
  s.element = size_of(q.in[0].dtype);
  s.mode = mode_of(q.attrs);
  s.threads = q.threads;
  return make_kernel<State, run>("rows", s);
}

uint64_t in_place(const OpCall&, int) { return 1; }

// Rows whose index lies outside were dropped: their updates get no gradient. gather_nd would clamp such an
// index.
Tensor inside(const Tensor& indices, const Shape& x, const Tensor& updates) {
  const int64_t k = indices.shape().dim(-1);
  const std::vector<int64_t> sizes(x.begin(), x.begin() + k);
  const Tensor n = Tensor::from<int64_t>(sizes, Shape{k});
  const Tensor i = cast(indices, DType::i64);
  Tensor ok = all(bitwise_and(greater_equal(i, scalar_like(i, 0)), less(i, n)), {-1});
  while (ok.rank() < updates.rank()) ok = expand_dims(ok, -1);
  return ok;
}

void grad(GradContext& g) {
  const Tensor& dy = g.dout();
  const Tensor& indices = g.in(1);
  const Tensor zero = scalar_like(dy, 0);
  const Tensor ok = inside(indices, g.in(0).shape(), g.in(2));
  switch (mode_of(g.attrs())) {
    case Mode::add:
      if (g.wants(0)) g.set(0, dy);
      if (g.wants(2)) g.set(2, where(ok, gather_nd(dy, indices), zero));
      return;
    case Mode::set: {
      if (g.wants(0)) {
        g.set(0, scatter_nd(dy, indices, broadcast_to(dy.graph().constant(zero), g.in(2).shape()), "set"));
      }
      if (!g.wants(2)) return;
      // Of several updates to one place the last one won.
      Shape rows = g.in(1).shape().without(-1);
      const Tensor order = reshape(iota(DType::i64, Shape{rows.elements()}, 0), rows);
      const Shape& x = g.in(0).shape();
      const int64_t k = indices.shape().dim(-1);
      const Shape places(x.sizes().first(static_cast<size_t>(k)));
      const Tensor none = broadcast_to(dy.graph().constant(Tensor::full(DType::i64, {}, -1)), places);
      const Tensor last = gather_nd(scatter_nd(none, indices, order, "set"), indices);
      Tensor won = equal(last, order);
      while (won.rank() < g.in(2).rank()) won = expand_dims(won, -1);
      g.set(2, where(bitwise_and(won, ok), gather_nd(dy, indices), zero));
      return;
    }
    default: fail(ErrorKind::unsupported, "scatter_nd", "no gradient for mode ", g.attrs().string("mode"));
  }
}

std::vector<OpCase> cases() {
  std::vector<OpCase> out;
  for (const std::string_view mode : kModes) {
    const bool smooth = mode == "set" || mode == "add";
    const Attrs attrs{{"mode", std::string(mode)}};
    out.push_back({{{{5, 3}}, {{4, 1}, 0, 4, DType::i32}, {{4, 3}}}, attrs, smooth});
    out.push_back({{{{3, 4, 2}}, {{2, 3, 2}, -1, 4, DType::i64}, {{2, 3, 2}}}, attrs, smooth});
    out.push_back({{{{7}}, {{0, 1}, 0, 4, DType::i32}, {{0}}}, attrs, smooth});
  }
  return out;
}

constexpr AttrDef kAttrs[] = {{"mode", AttrKind::string, "\"set\""}};
constexpr KernelDef kKernels[] = {{.name = "reference", .prepare = prepare}};

}  // namespace

Tensor scatter_nd(const Tensor& x, const Tensor& indices, const Tensor& updates, std::string_view mode) {
  static const OpDef& op = get_op("scatter_nd");
  return apply1(op, {x, indices, updates}, {{"mode", std::string(mode)}});
}

std::span<const OpDef> ops_scatter() {
  static constexpr OpDef defs[] = {{.name = "scatter_nd",
                                    .arity = {3, 3},
                                    .attrs = kAttrs,
                                    .infer = infer,
                                    .grad = grad,
                                    .kernels = kKernels,
                                    .in_place = in_place,
                                    .cases = cases,
                                    .dtypes = kAllReal}};
  return defs;
}

}  // namespace plimsoll
