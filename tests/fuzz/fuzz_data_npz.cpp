#include "data/npy_header.h"
#include "data/sources.h"
#include "doctor/fixtures.h"
#include "fuzz.h"
#include "memory/account.h"
#include "plimsoll/error.h"

using namespace plimsoll;

std::vector<std::string> seeds() {
  const std::string x = data::npy_header({DType::f32, {4, 3}}) + std::string(48, 'x');
  const std::string y = data::npy_header({DType::u8, {4}}) + "abcd";
  return {doctor::fixtures::zip({{"x.npy", x}, {"y.npy", y}})};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  account::set_limit(account::used() + (64 << 20));
  for (const int64_t unpack : {0, 1 << 20}) {  // as a stream and in memory
    try {
      NamelessFile file;
      file.append(data, size);
      const data::SourcePtr source = data::npz_source(std::move(file).source("input"), {.unpack = unpack});
      if (source->records()) continue;
      const auto stream = source->open(0);
      data::RawRecord record;
      for (int i = 0; i < 100 && stream->next(record); ++i) continue;
    } catch (const Error&) {
      // The right answer to a garbled file.
    }
  }
  return 0;
}
