#include "keras_io/h5_reader.h"

#include <string>

#include "h5/process.h"
#include "keras_io/h5_stream.h"

namespace plimsoll::keras_io {

H5Group read_h5_tree(const FileSource& source) {
  h5::Process process({source.name()},
                      {"tree", std::to_string(source.offset()), std::to_string(source.size())}, source.fd());
  const ReadBytes read = [&](void* into, uint64_t count) { process.read(into, count); };
  return parse_h5_stream(read, source.size(), source.name());
}

}  // namespace plimsoll::keras_io
