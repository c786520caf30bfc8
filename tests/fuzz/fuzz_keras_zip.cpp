#include "common/zip_reader.h"
#include "doctor/fixtures.h"
#include "fuzz.h"
#include "plimsoll/error.h"

using namespace plimsoll;

std::vector<std::string> seeds() {
  return {plimsoll::doctor::fixtures::zip(
      {{"metadata.json", "{\"keras_version\": \"3.5.0\"}"}, {"config.json", "{}"}})};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    NamelessFile file;
    file.append(data, size);
    const ZipReader zip(std::move(file).source("input"));
    for (const ZipReader::Member& member : zip.members()) {
      try {
        zip.read(member, 1u << 16);
        zip.open(member, 1u << 16);
      } catch (const plimsoll::Error&) {
        // The next one may be whole.
      }
    }
  } catch (const plimsoll::Error&) {
    // The right answer to a garbled file.
  }
  return 0;
}
