#include "fuzz.h"
#include "keras_io/json.h"
#include "plimsoll/error.h"

using namespace plimsoll::keras_io;

std::vector<std::string> seeds() {
  return {
      R"({"module": "keras", "class_name": "Sequential", "config": {"layers": [{"x": [1, 2.5e-3, null, true]}]}})",
      std::string(300, '[')};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const Json json = parse_json({reinterpret_cast<const char*>(data), size}, "input");
    const std::string text = to_text(json);
    if (to_text(parse_json(text, "again")) != text) __builtin_trap();
  } catch (const plimsoll::Error&) {
    // The right answer to a garbled text.
  }
  return 0;
}
