#include "plimsoll/print.h"

#include <ostream>

namespace plimsoll {

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.str(); }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

}  // namespace plimsoll
