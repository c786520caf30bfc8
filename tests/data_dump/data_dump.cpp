// data_dump SPEC OUT.npz: reads a data set as the JSON text SPEC says and writes what came, for
// tests/python/data to compare with what others read. SPEC: {"kind": "csv", "path": ..., options by their
// names in plimsoll/data.h, "then": {"batch": 3, ...}}.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "plimsoll/data.h"
#include "plimsoll/error.h"
#include "plimsoll/npy.h"

using namespace plimsoll;
using nlohmann::json;

namespace {

template <class T>
void take(const json& spec, const char* key, T& value) {
  if (spec.contains(key)) value = spec[key].get<T>();
}
void take(const json& spec, const char* key, DType& value) {
  if (spec.contains(key)) value = dtype_from_name(spec[key].get<std::string>()).value();
}

template <class Options>
Options named(const json& spec) {
  Options o;
  take(spec, "x", o.x);
  take(spec, "y", o.y);
  take(spec, "weights", o.weights);
  return o;
}

Dataset csv(const std::string& path, const json& spec) {
  CsvOptions o;
  take(spec, "label", o.label);
  take(spec, "columns", o.columns);
  take(spec, "weight", o.weight);
  std::string delimiter(1, o.delimiter);
  take(spec, "delimiter", delimiter);
  o.delimiter = delimiter.at(0);
  take(spec, "header", o.header);
  take(spec, "dtype", o.dtype);
  take(spec, "label_dtype", o.label_dtype);
  if (spec.contains("missing")) o.missing = spec["missing"].is_null() ? NAN : spec["missing"].get<double>();
  return Dataset::csv(path, o);
}

Dataset images(const std::string& path, const json& spec) {
  ImageOptions o;
  take(spec, "size", o.size);
  take(spec, "channels", o.channels);
  take(spec, "labels", o.labels);
  take(spec, "label_mode", o.label_mode);
  take(spec, "class_names", o.class_names);
  take(spec, "interpolation", o.interpolation);
  take(spec, "crop_to_aspect_ratio", o.crop_to_aspect_ratio);
  take(spec, "dtype", o.dtype);
  if (spec.contains("seed")) o.seed = spec["seed"].get<uint32_t>();
  take(spec, "validation_split", o.validation_split);
  take(spec, "subset", o.subset);
  take(spec, "threads", o.threads);
  return Dataset::images(path, o);
}

Dataset open(const json& spec) {
  const std::string kind = spec.at("kind");
  const std::string path = spec.at("path");
  if (kind == "npy") return Dataset::npy(path, spec.value("y_path", ""));
  if (kind == "npz") {
    auto o = named<NpzOptions>(spec);
    take(spec, "unpack", o.unpack);
    return Dataset::npz(path, o);
  }
  if (kind == "csv") return csv(path, spec);
  if (kind == "hdf5") return Dataset::hdf5(path, named<Hdf5Options>(spec));
  if (kind == "images") return images(path, spec);
  fail(ErrorKind::invalid_argument, "data_dump", "unknown kind ", kind);
}

Dataset then(Dataset data, const json& steps) {
  if (steps.contains("skip_bad")) data = data.skip_bad(steps["skip_bad"].get<bool>());
  if (steps.contains("shuffle"))
    data = data.shuffle(steps["shuffle"].get<uint64_t>(), steps.value("window", 0));
  if (steps.contains("take")) data = data.take(steps["take"].get<int64_t>());
  if (steps.contains("batch")) data = data.batch(steps["batch"].get<int64_t>());
  if (steps.contains("prefetch")) data = data.prefetch(steps["prefetch"].get<int64_t>());
  return data;
}

Tensor joined(const std::vector<Tensor>& parts, const TensorType& record) {
  int64_t n = 0;
  for (const Tensor& t : parts) n += t.dim(0);
  Tensor all = Tensor::empty(record.dtype, record.shape.inserted(0, n));
  char* at = static_cast<char*>(all.data());
  for (const Tensor& t : parts) {
    const auto bytes = static_cast<size_t>(byte_size(t.dtype(), t.shape()));
    std::memcpy(at, t.data(), bytes);
    at += bytes;
  }
  return all;
}

void dump(const Dataset& data, const std::string& out) {
  std::vector<Batch> batches;
  const auto reader = data.read();
  for (Batch batch; reader->next(batch); batch = Batch()) batches.push_back(batch);
  NamedTensors named;
  const auto add = [&](const std::string& name, const std::vector<TensorType>& types,
                       std::vector<Tensor> Batch::*list) {
    for (size_t i = 0; i < types.size(); ++i) {
      std::vector<Tensor> parts;
      for (const Batch& batch : batches) parts.push_back((batch.*list)[i]);
      named.emplace_back(concat(name, i), joined(parts, types[i]));
    }
  };
  add("x", data.types().x, &Batch::x);
  add("y", data.types().y, &Batch::y);
  add("weights", data.types().weights, &Batch::weights);
  std::vector<int64_t> sizes;
  for (const Batch& batch : batches) sizes.push_back(batch.size());
  named.emplace_back("batch_sizes", Tensor::from<int64_t>(sizes, {static_cast<int64_t>(sizes.size())}));
  named.emplace_back("skipped", Tensor::from<int64_t>(std::vector{reader->skipped()}, {1}));
  write_npz(out, named);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: data_dump SPEC OUT.npz\n");
    return 2;
  }
  try {
    const json spec = json::parse(argv[1]);
    dump(then(open(spec), spec.value("then", json::object())), argv[2]);
  } catch (const Error& e) {
    std::fprintf(stderr, "%s: %s\n", std::string(name_of(e.kind())).c_str(), e.what());
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "data_dump: %s\n", e.what());
    return 2;
  }
}
