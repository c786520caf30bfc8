#include "doctor/fixtures.h"
#include "doctor/formats/macho.h"
#include "fuzz.h"

using namespace plimsoll::doctor;

std::vector<std::string> seeds() {
  const std::string arm = fixtures::macho(0x0100000c), intel = fixtures::macho(0x01000007);
  return {arm, fixtures::macho_with_trie(0x0100000c),
          fixtures::universal({{0x01000007, intel}, {0x0100000c, arm}})};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    for (const MachO& slice : MachO::slices(Bytes(data, size))) {
      slice.cpu_name();
      slice.for_each_undefined([](std::string_view, bool, unsigned) {});
      slice.for_each_defined([](std::string_view) {});
      if (slice.has_export_trie()) slice.exports("_fone");
    }
  } catch (const plimsoll::Error&) {
    // The right answer to a garbled file.
  }
  return 0;
}
