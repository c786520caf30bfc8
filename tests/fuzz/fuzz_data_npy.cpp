#include "data/npy_array.h"
#include "fuzz.h"
#include "memory/account.h"
#include "plimsoll/error.h"

using namespace plimsoll;

std::vector<std::string> seeds() {
  std::string data(48, 'x');
  std::string fortran = data::npy_header({DType::f64, {2, 3}});
  fortran.replace(fortran.find("False,"), 6, "True, ");
  return {data::npy_header({DType::f32, {4, 3}}) + data, data::npy_header({DType::u8, {}}) + data,
          fortran + data};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  account::set_limit(account::used() + (64 << 20));
  try {
    NamelessFile file;
    file.append(data, size);
    data::NpyArray::open(std::move(file).source("input")).load(Owner::data);
  } catch (const Error&) {
    // The right answer to a garbled file.
  }
  return 0;
}
