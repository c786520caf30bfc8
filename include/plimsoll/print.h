// Shapes and dtypes on a stream: std::cout << x.shape() << x.dtype() prints (32, 10)float32.
#pragma once

#include <iosfwd>

#include "plimsoll/shape.h"

#pragma GCC visibility push(default)
namespace plimsoll {

std::ostream& operator<<(std::ostream& out, const Shape& shape);
std::ostream& operator<<(std::ostream& out, DType dtype);

}  // namespace plimsoll
#pragma GCC visibility pop
