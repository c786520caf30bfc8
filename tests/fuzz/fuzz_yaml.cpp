// The short YAML of layers that the program takes for a model.
#include "cli/model_source.h"
#include "fuzz.h"
#include "memory/account.h"
#include "plimsoll/error.h"

using namespace plimsoll;

std::vector<std::string> seeds() {
  return {
      "input: [8, 8, 1]\nname: net\nlayers:\n  - Conv2D: {filters: 2, kernel_size: [3, 3], activation: "
      "relu}\n"
      "  - MaxPooling2D\n  - Flatten\n  - Dropout: 0.5\n  - Dense: 10\n",
      "layers: &all\n  - Dense: {units: 3, use_bias: false, name: \"a\"}\n  - *all\n",
      "{input: [3], layers: [{Dense: {units: 2, kernel_regularizer: {class_name: L2, config: {l2: "
      "1e-3}}}}]}"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  account::set_limit(account::used() + (64 << 20));
  try {
    model_from_json(cli::json_of_yaml({reinterpret_cast<const char*>(data), size}, "input"));
  } catch (const Error&) {
    // The right answer to a garbled text.
  }
  return 0;
}
