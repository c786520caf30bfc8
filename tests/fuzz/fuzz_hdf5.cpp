#include "doctor/fixtures.h"
#include "doctor/formats/hdf5_attributes.h"
#include "doctor/formats/hdf5_groups.h"
#include "fuzz.h"

using namespace plimsoll::doctor;

std::vector<std::string> seeds() { return {fixtures::hdf5()}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    read_hdf5_root(Bytes(data, size));
    check_hdf5_groups(Bytes(data, size));
  } catch (const plimsoll::Error&) {
    // The right answer to a garbled file.
  }
  return 0;
}
