// Refused is what the walk ends with when libhdf5 says no.
#pragma once

#include <stdexcept>
#include <string>

namespace plimsoll::keras_io {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ": what libhdf5 found wrong", or nothing.
std::string innermost_error();

}  // namespace plimsoll::keras_io
