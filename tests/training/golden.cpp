#include "training/golden.h"

#include <stdexcept>

#include "support/npz.h"

namespace plimsoll::testing {
namespace {

const std::map<std::string, NpyArray>& all() {
  static const std::map<std::string, NpyArray> arrays = read_npz(PLIMSOLL_GOLDEN_FOLDER "/train.npz");
  return arrays;
}

}  // namespace

Tensor golden(const std::string& name) {
  const auto found = all().find(name);
  if (found == all().end()) throw std::runtime_error("no golden " + name);
  const NpyArray& a = found->second;
  const DType dtype = a.type == "<f8" ? DType::f64 : a.type == "<i4" ? DType::i32 : DType::f32;
  return Tensor::from_bytes(dtype, Shape(a.shape), a.bytes.data());
}

std::vector<double> golden_values(const std::string& name) {
  const Tensor t = golden(name);
  std::vector<double> values;
  for (int64_t i = 0; i < t.shape().elements(); ++i) {
    values.push_back(t.dtype() == DType::f64 ? t.data<double>()[i] : static_cast<double>(t.data<float>()[i]));
  }
  return values;
}

bool has_golden(const std::string& name) { return all().count(name) != 0; }

std::vector<std::string> golden_names(const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& [name, array] : all()) {
    if (name.starts_with(prefix)) names.push_back(name.substr(prefix.size()));
  }
  return names;
}

}  // namespace plimsoll::testing
