#include "doctor/fixtures.h"
#include "doctor/formats/zip.h"
#include "fuzz.h"

using namespace plimsoll::doctor;

std::vector<std::string> seeds() {
  return {fixtures::zip({{"metadata.json", "{\"keras_version\": \"3.5.0\"}"}, {"config.json", "{}"}})};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const Zip zip(Bytes(data, size));
    for (const Zip::Member& member : zip.members()) zip.read(member.name, 1u << 16);
  } catch (const plimsoll::Error&) {
    // The right answer to a garbled file.
  }
  return 0;
}
