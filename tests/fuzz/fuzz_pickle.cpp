#include "doctor/formats/pickle.h"
#include "fuzz.h"

using namespace plimsoll::doctor;

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  return {
      "\x80\x02"
      "c__main__\nModel\nq\0)\x81q\x01}q\x02X\x10\0\0\0_sklearn_versionq\x03X\x05\0\0\0"
      "1.2.2sb."s,
      "\x80\x04\x95\x1b\0\0\0\0\0\0\0\x8c\x05mod.a\x94\x8c\x01X\x94\x93\x94h\x01\x8c\x01Y\x94\x93)\x81."s,
      "\x80\x02(X\x07\0\0\0storageX\x06\0\0\0cuda:0K\x0ctQ.\x80\x02K\x01."s};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_pickles(Bytes(data, size));
  return 0;
}
