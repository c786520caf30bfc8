#include "op_sweep/cases.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "support/fill.h"

namespace plimsoll::testing {

std::vector<TensorType> types_of(const SweepCase& c) {
  std::vector<TensorType> types;
  for (const SweepInput& in : c.in) types.push_back(in.type);
  return types;
}

namespace {

std::string key_of(const SweepCase& c) {
  std::string key(c.op->name);
  for (const SweepInput& in : c.in) key += concat(" ", in.type, " ", in.low, "..", in.high);
  for (const auto& [name, value] : c.attrs) {
    key += concat(" ", name, "=", to_text(value));
    if (const Tensor* t = std::get_if<Tensor>(&value)) {
      for (int64_t i = 0; i < parts(*t); ++i) key += concat(" ", element(*t, i));
    }
    if (kind_of(value) == AttrKind::graph)
      key += concat(" ", std::get<std::shared_ptr<const Graph>>(value)->text());
  }
  return key;
}

void finish(SweepCase& c) {
  c.attrs = complete_attrs(*c.op, std::move(c.attrs));
  c.out = infer_types(*c.op, types_of(c), c.attrs);
  c.key = key_of(c);
}

// Random matrices are singular, indefinite or have equal eigenvalues, or nearly so, now and then. Where a
// gradient is checked, a growing diagonal keeps them from it.
double diagonal_of(const OpDef& op, const OpCase& source, size_t input) {
  constexpr std::array kOfMatrices = {"cholesky", "triangular_solve", "lu", "qr", "eigh", "svd"};
  const bool of_matrices = std::find(kOfMatrices.begin(), kOfMatrices.end(), op.name) != kOfMatrices.end();
  return of_matrices && source.differentiable && input == 0 ? source.in[0].high : 0;
}

void add_diagonal(const Tensor& t, double by) {
  const int64_t rows = t.dim(-2), columns = t.dim(-1), n = std::min(rows, columns);
  for (int64_t first = 0; first < parts(t); first += rows * columns) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = first + i * columns + i;
      set_element(t, at, element(t, at) + by * static_cast<double>(n + i));
    }
  }
}

SweepCase declared(const OpDef& op, const OpCase& source, DType dtype) {
  SweepCase c{.op = &op,
              .in = {},
              .attrs = source.attrs,
              .out = {},
              .differentiable = source.differentiable,
              .derived = false,
              .whole = false,
              .key = {}};
  for (const InputCase& in : source.in) {
    c.in.push_back({{in.dtype.value_or(dtype), in.shape},
                    in.low,
                    in.high,
                    !in.dtype.has_value(),
                    diagonal_of(op, source, c.in.size())});
  }
  finish(c);
  return c;
}

int64_t odd_size(int64_t size) {
  for (const int64_t prime : {3, 5, 7, 13, 19, 37}) {
    if (prime > size) return prime;
  }
  return size + 1;
}

// The case with every axis of size `from` made `to`; nothing if the op's shape rule refuses that.
std::optional<SweepCase> resized(const SweepCase& base, int64_t from, int64_t to) {
  SweepCase c = base;
  c.derived = true;
  for (SweepInput& in : c.in) {
    for (int axis = 0; axis < in.type.shape.rank(); ++axis) {
      if (in.type.shape[axis] == from) in.type.shape = in.type.shape.with(axis, to);
    }
  }
  try {
    finish(c);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::internal) throw;
    return std::nullopt;
  }
  return c;
}

void add_derived(const SweepCase& base, std::vector<SweepCase>& cases) {
  std::set<int64_t> sizes;
  bool indices = false;  // their range is made for the declared sizes: these may only grow
  for (const SweepInput& in : base.in) {
    sizes.insert(in.type.shape.begin(), in.type.shape.end());
    indices = indices || (!in.swept && is_integer(in.type.dtype));
  }
  constexpr int64_t kLargest = 1 << 16;
  for (const int64_t size : sizes) {
    for (const int64_t to : {int64_t{0}, int64_t{1}, odd_size(size)}) {
      if (to == size || (indices && to < size)) continue;
      std::optional<SweepCase> c = resized(base, size, to);
      if (!c) continue;
      const bool small = std::all_of(c->in.begin(), c->in.end(), [](const SweepInput& in) {
        return in.type.shape.elements() <= kLargest;
      });
      if (small) cases.push_back(std::move(*c));
    }
  }
}

}  // namespace

std::vector<SweepCase> sweep_cases(const OpDef& op) {
  std::vector<SweepCase> cases;
  if (op.cases == nullptr) return cases;
  const std::vector<OpCase> sources = op.cases();
  constexpr std::array kUsual = {DType::f32};
  const std::span<const DType> dtypes = op.dtypes.empty() ? std::span<const DType>(kUsual) : op.dtypes;
  const bool has_f32 = std::find(dtypes.begin(), dtypes.end(), DType::f32) != dtypes.end();
  const DType odd_dtype = has_f32 ? DType::f32 : dtypes.front();
  for (const OpCase& source : sources) {
    for (const DType dtype : dtypes) cases.push_back(declared(op, source, dtype));
    add_derived(declared(op, source, odd_dtype), cases);
  }
  std::set<std::string> seen;
  std::erase_if(cases, [&](const SweepCase& c) { return !seen.insert(c.key).second; });
  size_t i = 0;
  std::erase_if(cases, [&](const SweepCase&) { return i++ % sweep_share() != 0; });
  return cases;
}

size_t sweep_share() {
  const char* share = std::getenv("PLIMSOLL_SWEEP_SHARE");
  return share == nullptr ? 1 : std::max<size_t>(1, std::strtoul(share, nullptr, 10));
}

SweepCase whole_case(const OpDef& op, const OpCase& source, DType dtype) {
  SweepCase c = declared(op, source, dtype);
  c.whole = true;
  return c;
}

SweepCase with_dtype(const SweepCase& c, DType dtype) {
  SweepCase other = c;
  for (SweepInput& in : other.in) {
    if (in.swept) in.type.dtype = dtype;
  }
  finish(other);
  return other;
}

uint64_t input_seed(const SweepCase& c, size_t input, uint64_t seed) {
  return hash_at(hash_text(c.key) ^ seed, input);
}

std::vector<Tensor> make_inputs(const SweepCase& c, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.in.size(); ++i) {
    const SweepInput& in = c.in[i];
    inputs.push_back(fill(in.type.dtype, in.type.shape, in.low, in.high, input_seed(c, i, seed)));
    if (in.diagonal != 0) add_diagonal(inputs.back(), in.diagonal);
  }
  return inputs;
}

bool has_graph_attr(const SweepCase& c) {
  return std::any_of(c.attrs.begin(), c.attrs.end(),
                     [](const auto& attr) { return kind_of(attr.second) == AttrKind::graph; });
}

int64_t golden_count(const SweepCase& c, size_t output) {
  const DType dtype = c.out[output].dtype;
  const bool precise = !c.derived && (dtype == DType::f32 || dtype == DType::f64);
  const int64_t size = c.out[output].shape.elements() * (is_complex(dtype) ? 2 : 1);
  if (c.whole) return std::min<int64_t>(size, c.op->tile != nullptr || !precise ? 16 : 48);
  return std::min<int64_t>(size, precise ? 256 : 48);
}

}  // namespace plimsoll::testing
