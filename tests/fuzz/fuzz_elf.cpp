#include "doctor/fixtures.h"
#include "doctor/formats/elf.h"
#include "fuzz.h"

using namespace plimsoll::doctor;

std::vector<std::string> seeds() {
  return {fixtures::elf(), fixtures::elf({.gnu_hash = false}), fixtures::elf({.machine = 183, .isa = 4})};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const Elf elf(Bytes(data, size));
    elf.complete();
    elf.read_only_data();
    elf.for_each_undefined([](std::string_view, bool) {});
    elf.for_each_defined([](std::string_view) {});
    elf.defines("PyInit_tiny");
  } catch (const plimsoll::Error&) {
    // The right answer to a garbled file.
  }
  return 0;
}
