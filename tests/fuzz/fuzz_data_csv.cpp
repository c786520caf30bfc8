#include "data/sources.h"
#include "fuzz.h"
#include "memory/account.h"
#include "plimsoll/error.h"

using namespace plimsoll;

std::vector<std::string> seeds() {
  return {"a,b,c\n1,2,3\n4,5.5e3,-6\n", "\"a\",\"b \"\"x\"\"\",c\r\n\"1\",\"2\n\",3\r\n\r\nNA,,true\r\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  account::set_limit(account::used() + (256 << 20));
  try {
    NamelessFile file;
    file.append(data, size);
    const CsvOptions options{.label = {"0"}, .label_dtype = DType::i64, .missing = 0};
    const data::SourcePtr source = data::csv_source(std::move(file).source("input"), options);
    Batch batch;
    data::shape_batch(batch, source->types(), 1, 1);
    const data::Rows rows = data::rows_of(batch);
    const auto stream = source->open(0);
    data::RawRecord record;
    while (stream->next(record)) {
      try {
        source->decode(record, rows, 0);
      } catch (const Error&) {
        // A bad row; the next may be good.
      }
    }
  } catch (const Error&) {
    // The right answer to a garbled file.
  }
  return 0;
}
