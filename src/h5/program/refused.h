// What ends the work when libhdf5 says no.
#pragma once

#include <stdexcept>
#include <string>

namespace plimsoll::h5 {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// For what is right in HDF5, but not for us.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ": what libhdf5 found wrong", or nothing.
std::string innermost_error();

}  // namespace plimsoll::h5
