#include <cstring>

#include "fuzz.h"
#include "fuzz_h5_stream.h"
#include "keras_io/h5_stream.h"
#include "plimsoll/error.h"

using namespace plimsoll::keras_io;
using namespace plimsoll::fuzz;

std::vector<std::string> seeds() {
  const std::string layer = group(
      "dense", texts("names", {"a", "b"}) + dataset("0", {2, 3}, wire::Place::file, number(uint64_t{800})) +
                   dataset("1", {2, 3}, wire::Place::stream, std::string(24, '\1')));
  return {group("", layer) + number(wire::Record::last), number(wire::Record::error) + text("why")};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ReadBytes read = [&](void* into, uint64_t count) {
    if (count > size) plimsoll::fail(plimsoll::ErrorKind::bad_file, "input", "the end");
    std::memcpy(into, data, count);
    data += count;
    size -= count;
  };
  try {
    parse_h5_stream(read, 1000, "input");
  } catch (const plimsoll::Error&) {
    // The right answer to a garbled stream.
  }
  return 0;
}
