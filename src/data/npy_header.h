// The header of a .npy array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/byte_stream.h"
#include "plimsoll/tensor.h"

namespace plimsoll::data {

struct NpyHeader {
  TensorType type;       // of the whole array
  bool swapped = false;  // elements are big-endian
  bool fortran = false;  // the first axis varies fastest
  uint64_t offset = 0;   // of the first element
};

// Reads the header; the stream then stands at the first element. Throws Error{bad_file} if it is damaged or
// the elements do not fit into stream.size(), Error{unsupported} if the elements have no DType or there are
// too many axes.
NpyHeader read_npy_header(ByteStream& stream, const std::string& name);

// A header of version 1.0, padded to 64 bytes. Requires: the dtype is not bf16, which NumPy does not know.
std::string npy_header(const TensorType& type);

// Turns the bytes of each element around.
void swap_bytes(DType dtype, void* elements, int64_t count);

}  // namespace plimsoll::data
