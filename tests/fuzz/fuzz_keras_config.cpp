#include "fuzz.h"
#include "memory/account.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"

using namespace plimsoll;

std::vector<std::string> seeds() {
  const std::string input =
      R"({"class_name": "InputLayer", "config": {"batch_shape": [null, 3], "name": "i"}, "name": "i", "inbound_nodes": []})";
  return {
      R"({"class_name": "Sequential", "config": {"name": "s", "layers": [)" + input +
          R"(, {"class_name": "Dense", "config": {"name": "d", "units": 2, "activation": "relu"}}]}})",
      R"({"class_name": "Functional", "config": {"name": "f", "layers": [)" + input +
          R"(, {"module": "keras.layers", "class_name": "Dense", "config": {"name": "d", "units": 2}, "name": "d", "inbound_nodes":
          [{"args": [{"class_name": "__keras_tensor__", "config": {"keras_history": ["i", 0, 0]}}], "kwargs": {}}]}],
          "input_layers": ["i", 0, 0], "output_layers": [["d", 0, 0]]}})",
      R"({"class_name": "Model", "config": {"name": "f", "layers": [)" + input +
          R"(, {"class_name": "TFOpLambda", "config": {"name": "m", "function": "math.multiply"}, "name": "m",
          "inbound_nodes": [["i", 0, 0, {"y": 2.0}]]}], "input_layers": [["i", 0, 0]], "output_layers": [["m", 0, 0]]}})",
  };
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  account::set_limit(int64_t{64} << 20);  // a layer of a billion units is no error of the config
  try {
    const std::string written = model_from_json({reinterpret_cast<const char*>(data), size}).to_json();
    model_from_json(written);
  } catch (const Error&) {
    // The right answer to a garbled config.
  }
  return 0;
}
