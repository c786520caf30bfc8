// A tree that came from the process that reads HDF5, garbled, against a model: names, shapes, orders of
// weights, and the state of the optimizer, in the form of Keras 3 and in the older one.
#include <cstring>

#include "fuzz.h"
#include "fuzz_h5_stream.h"
#include "keras_io/h5_stream.h"
#include "keras_io/legacy_weights.h"
#include "keras_io/weights_file.h"
#include "memory/account.h"
#include "plimsoll/error.h"
#include "plimsoll/layers.h"
#include "plimsoll/model.h"
#include "train/model_body.h"

using namespace plimsoll;
using namespace plimsoll::keras_io;
using namespace plimsoll::fuzz;

namespace {

constexpr uint64_t kFileSize = 1000;

Model& model() {
  static Model* const made = [] {
    auto* m = new Sequential({Input({3}), Dense(2, {.name = "d"}), BatchNormalization({.name = "b"})});
    m->compile({.optimizer = SGD(0.01, {.momentum = 0.5}), .loss = "mse"});
    return m;
  }();
  return *made;
}

std::string in_stream(const std::string& name, std::vector<uint64_t> shape) {
  uint64_t count = 1;
  for (const uint64_t n : shape) count *= n;
  return dataset(name, shape, wire::Place::stream, std::string(count * 4, '\1'));
}

std::string keras3() {
  const std::string bn =
      in_stream("0", {2}) + in_stream("1", {2}) + in_stream("2", {2}) + in_stream("3", {2});
  const std::string state = in_stream("0", {}) + in_stream("1", {}) + in_stream("2", {3, 2}) +
                            in_stream("3", {2}) + in_stream("4", {2}) + in_stream("5", {2});
  return group(
             "layers",
             group("batch_normalization", group("vars", bn)) +
                 group("dense", group("vars", dataset("0", {3, 2}, wire::Place::file, number(uint64_t{100})) +
                                                  in_stream("1", {2})))) +
         group("optimizer", group("vars", state)) + group("vars", "");
}

std::string legacy() {
  const std::string d = texts("weight_names", {"k", "b"}) + in_stream("b", {2}) + in_stream("k", {3, 2});
  const std::string b = texts("weight_names", {"g", "h", "i", "j"}) + in_stream("g", {2}) +
                        in_stream("h", {2}) + in_stream("i", {2}) + in_stream("j", {2});
  const std::string state = texts("weight_names", {"0", "1"}) + in_stream("0", {}) + in_stream("1", {3, 2});
  return group("model_weights", texts("layer_names", {"d", "b"}) + texts("keras_version", {"1.2.2"}) +
                                    texts("backend", {"theano"}) + group("b", b) + group("d", d)) +
         group("optimizer_weights", state);
}

}  // namespace

std::vector<std::string> seeds() {
  return {group("", keras3()) + number(wire::Record::last), group("", legacy()) + number(wire::Record::last)};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const FileSource source = [] {
    NamelessFile file;
    const std::string zeros(kFileSize, '\0');
    file.append(zeros.data(), zeros.size());
    return std::move(file).source("input");
  }();
  ModelBody& body = model().body();
  account::set_limit(account::used() + (64 << 20));
  try {
    const ReadBytes read = [&](void* into, uint64_t count) {
      if (count > size) fail(ErrorKind::bad_file, "input", "the end");
      if (count > 0) std::memcpy(into, data, count);
      data += count;
      size -= count;
    };
    const H5File file(source, parse_h5_stream(read, kFileSize, "input"));
    NewValues values(Write::together);
    if (const H5Group* state = file.root().group("optimizer/vars"))
      read_optimizer(file, *state, body.network, body.trainer.optimizer(), values);
    if (const H5Group* state = file.root().group("optimizer_weights"))
      read_legacy_optimizer(file, *state, body.net(), body.trainer.optimizer(), values);
    if (const H5Group* weights = file.root().group("model_weights"))
      read_legacy_weights(file, *weights, body.net(), values);
    if (is_keras3_weights(file.root())) read_weights(file, body.network, values);
    values.commit();
  } catch (const Error&) {
    // The right answer to a garbled stream.
  }
  return 0;
}
