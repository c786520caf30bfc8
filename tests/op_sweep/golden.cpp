#include "op_sweep/golden.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "plimsoll/error.h"
#include "support/compare.h"
#include "support/fill.h"
#include "support/npz.h"

namespace plimsoll::testing {
namespace {

// A sum of terms may cancel: its error is in proportion to them, not to what is left. Element-wise ops get no
// such allowance.
double least_scale(const SweepCase& c) {
  double largest = 0;
  for (const SweepInput& in : c.in) {
    if (in.swept) largest = std::max({largest, std::fabs(in.low), std::fabs(in.high)});
  }
  return c.op->tile != nullptr ? 0 : 0.05 * largest;
}

}  // namespace

struct OpGoldens::Body {
  std::map<std::string, NpyArray> arrays;  // "index": JSON; "f4", "f8", "i8": values one after the other
  nlohmann::json index;
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
  static const OpGoldens goldens([] {
    const char* path = std::getenv("PLIMSOLL_OP_GOLDENS");
    return std::string(path != nullptr ? path : PLIMSOLL_GOLDEN_FOLDER "/ops.npz");
  }());
  return goldens;
}

std::string OpGoldens::excuse(std::string_view op) const {
  const auto& excuses = body_->index.at("without");
  const auto it = excuses.find(std::string(op));
  return it == excuses.end() ? "" : it->get<std::string>();
}

std::string OpGoldens::compare(const SweepCase& c, size_t output, const Tensor& got) const {
  const auto& cases = body_->index.at("cases");
  const auto it = cases.find(c.key);
  if (it == cases.end()) return "no golden values: run tests/golden/make_op_goldens.py";
  const auto& place = it->at(output);  // [array, offset]
  const NpyArray& array = body_->arrays.at(place.at(0).get<std::string>());
  const auto offset = place.at(1).get<int64_t>();
  const int64_t count = golden_count(c, output);
  if (offset < 0 || offset + count > array.elements()) return "the golden file is damaged";
  const Shape shape{count};
  const bool integer = array.type == "<i8";
  const DType dtype = is_complex(got.dtype()) ? DType::f64 : got.dtype();
  const Tensor want = Tensor::empty(dtype, shape);
  const Tensor some = Tensor::empty(dtype, shape);
  const auto item = static_cast<int64_t>(size_of(dtype));
  for (int64_t k = 0; k < count; ++k) {
    const int64_t at = k * parts(got) / count;
    if (integer) {  // as bytes: an int64 does not fit a double
      const int64_t value = array.data<int64_t>()[offset + k];
      std::memcpy(static_cast<char*>(want.data()) + k * item, &value, static_cast<size_t>(item));
      std::memcpy(static_cast<char*>(some.data()) + k * item,
                  static_cast<const char*>(got.data()) + at * item, static_cast<size_t>(item));
      continue;
    }
    set_element(want, k,
                array.type == "<f4" ? array.data<float>()[offset + k] : array.data<double>()[offset + k]);
    set_element(some, k, element(got, at));
  }
  return integer ? bit_difference(some, want)
                 : difference(some, want, tolerance_for(c.op->tolerance, got.dtype()), least_scale(c));
}

}  // namespace plimsoll::testing
