#include <cstring>

#include "fuzz.h"
#include "keras_io/h5_stream.h"
#include "plimsoll/error.h"

using namespace plimsoll::keras_io;
using wire::Record;

namespace {

template <class T>
std::string number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string text(const std::string& t) { return number(static_cast<uint32_t>(t.size())) + t; }

std::string dataset(const std::string& name, wire::Place place, const std::string& contents) {
  return number(Record::dataset) + text(name) + number(wire::Kind::number) + number(plimsoll::DType::f32) +
         number(uint8_t{2}) + number(uint64_t{2}) + number(uint64_t{3}) + number(place) + contents +
         number(Record::end);
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string attribute = number(Record::attribute) + text("names") + number(wire::Kind::text) +
                                number(uint8_t{1}) + number(uint64_t{2}) + text("a") + text("b");
  const std::string layer = number(Record::group) + text("dense") + attribute +
                            dataset("0", wire::Place::file, number(uint64_t{800})) +
                            dataset("1", wire::Place::stream, std::string(24, '\1')) + number(Record::end);
  const std::string root = number(Record::group) + text("") + layer + number(Record::end);
  return {root + number(Record::last), number(Record::error) + text("why")};
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
