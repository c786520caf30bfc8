#include "doctor/fixtures.h"
#include "doctor/formats/ld_cache.h"
#include "fuzz.h"

using namespace plimsoll::doctor;

std::vector<std::string> seeds() { return {fixtures::ld_cache()}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    parse_ld_cache(Bytes(data, size));
  } catch (const plimsoll::Error&) {
    // The right answer to a garbled file.
  }
  return 0;
}
