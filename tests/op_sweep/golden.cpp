#include "op_sweep/golden.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "plimsoll/error.h"
#include "support/compare.h"
#include "support/fill.h"
#include "support/npz.h"
#include "support/sums.h"

namespace plimsoll::testing {
namespace {

// A sum of terms may cancel: its error is in proportion to them, not to what is left. Element-wise ops get no
// such allowance.
double least_scale(const SweepCase& c) {
  double largest = 0;
  for (const SweepInput& in : c.in) {
    if (in.swept) largest = std::max({largest, std::fabs(in.low), std::fabs(in.high)});
  }
  // Kernels take what is too small for a full mantissa for zero.
  return c.op->tile != nullptr ? FLT_MIN / c.op->tolerance : 0.05 * largest;
}

std::string path_or(const char* variable, const char* usual) {
  const char* path = std::getenv(variable);
  return path != nullptr ? path : usual;
}

template <class Found>
std::string differing_sums(const Found& found, int64_t count, const Tensor& got) {
  const std::vector<uint64_t> sums = weighed_integer_sums(got, count);
  for (int64_t k = 0; k < count; ++k) {
    if (sums[static_cast<size_t>(k)] != static_cast<uint64_t>(found.whole_number(k)))
      return concat("part ", k, " of ", count, " of ", got.type(), " is wrong");
  }
  return "";
}

// Errors of single elements are as good as random: those of a sum grow with the root of their number.
template <class Found>
std::string distant_sums(const Found& found, int64_t count, const SweepCase& c, const Tensor& got) {
  const std::vector<double> sums = weighed_sums(got, count);
  const double largest = std::max(found.number(0), least_scale(c));
  const double tolerance = tolerance_for(c.op->tolerance, got.dtype());
  const double elements = static_cast<double>(parts(got)) / static_cast<double>(std::max<int64_t>(count, 1));
  for (int64_t k = 0; k < count; ++k) {
    const double sum = sums[static_cast<size_t>(k)], want = found.number(k + 1);
    if (sum == want || (std::isnan(sum) && std::isnan(want))) continue;
    const double off = std::fabs(sum - want) / std::sqrt(elements) / largest;
    if (off <= tolerance) continue;  // false for NaN
    return concat("part ", k, " of ", count, " of ", got.type(), ": a sum of ", elements, " elements is ",
                  sum, ", want ", want, "; off by ", off,
                  " of the largest element and the root of their number, allowed ", tolerance);
  }
  return "";
}

}  // namespace

struct OpGoldens::Body {
  std::map<std::string, NpyArray> arrays;  // "index": JSON; "f4", "f8", "i8": values one after the other
  nlohmann::json index;
};

struct OpGoldens::Found {
  const NpyArray* array = nullptr;
  int64_t offset = 0;
  bool integer = false;
  std::string problem = {};  // why there is nothing

  double number(int64_t k) const {
    return array->type == "<f4" ? array->data<float>()[offset + k] : array->data<double>()[offset + k];
  }
  int64_t whole_number(int64_t k) const { return array->data<int64_t>()[offset + k]; }
};

OpGoldens::OpGoldens(const std::string& path) {
  auto body = std::make_shared<Body>();
  body->arrays = read_npz(path);
  const NpyArray& text = body->arrays.at("index");
  body->index = nlohmann::json::parse(text.bytes.begin(), text.bytes.end());
  seed_ = body->index.at("seed").get<uint64_t>();
  body_ = body;
}

const OpGoldens& OpGoldens::get() {
  static const OpGoldens goldens(path_or("PLIMSOLL_OP_GOLDENS", PLIMSOLL_GOLDEN_FOLDER "/ops.npz"));
  return goldens;
}

const OpGoldens& OpGoldens::of_kernels() {
  static const OpGoldens goldens(path_or("PLIMSOLL_KERNEL_GOLDENS", PLIMSOLL_GOLDEN_FOLDER "/kernels.npz"));
  return goldens;
}

OpGoldens::Found OpGoldens::find(const SweepCase& c, size_t output) const {
  const auto& cases = body_->index.at("cases");
  const auto it = cases.find(c.key);
  if (it == cases.end()) return {.problem = "no golden values: run tests/golden/make_op_goldens.py"};
  const auto& place = it->at(output);  // [array, offset]
  Found found{.array = &body_->arrays.at(place.at(0).get<std::string>()),
              .offset = place.at(1).get<int64_t>()};
  found.integer = found.array->type == "<i8";
  const int64_t count = golden_count(c, output) + (c.whole && !found.integer ? 1 : 0);
  if (found.offset < 0 || found.offset + count > found.array->elements())
    found.problem = "the golden file is damaged";
  return found;
}

std::string OpGoldens::compare(const SweepCase& c, size_t output, const Tensor& got) const {
  const Found found = find(c, output);
  if (!found.problem.empty()) return found.problem;
  const int64_t count = golden_count(c, output);
  if (c.whole) return found.integer ? differing_sums(found, count, got) : distant_sums(found, count, c, got);
  const Shape shape{count};
  const DType dtype = is_complex(got.dtype()) ? DType::f64 : got.dtype();
  const Tensor want = Tensor::empty(dtype, shape);
  const Tensor some = Tensor::empty(dtype, shape);
  const auto item = static_cast<int64_t>(size_of(dtype));
  for (int64_t k = 0; k < count; ++k) {
    const int64_t at = k * parts(got) / count;
    if (found.integer) {  // as bytes: an int64 does not fit a double
      const int64_t value = found.whole_number(k);
      std::memcpy(static_cast<char*>(want.data()) + k * item, &value, static_cast<size_t>(item));
      std::memcpy(static_cast<char*>(some.data()) + k * item,
                  static_cast<const char*>(got.data()) + at * item, static_cast<size_t>(item));
      continue;
    }
    set_element(want, k, found.number(k));
    set_element(some, k, element(got, at));
  }
  return found.integer ? bit_difference(some, want)
                       : difference(some, want, tolerance_for(c.op->tolerance, got.dtype()), least_scale(c));
}

}  // namespace plimsoll::testing
