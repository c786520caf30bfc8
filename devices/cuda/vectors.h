// Several neighbouring elements per thread: reads and writes of up to 16 bytes at once.
#pragma once

#include <string>

#include "chain.h"

namespace plimsoll::cuda {

// How many points of the innermost axis one thread takes: 1, 2, 4 or 8. `sizes[i]` is the size in bytes of an
// element of access i of the space; all accesses walk the innermost axis by 0 or 1 where the answer is not 1.
int64_t vector_width(const Space& space, const std::vector<size_t>& sizes, int64_t most);

// Text that reads an access at the point whose coordinates are declared (and whose number is `first`), before
// a loop over j < width; element() is then element j. `dense`: it lies as the space does.
struct VectorRead {
  std::string declare, element;
};
VectorRead vector_read(size_t argument, std::string_view type, const Sizes& strides, bool dense,
                       int64_t width);
// The same for an output: `declare` before the loop, `element` is assigned to in it, `store` follows it.
struct VectorWrite {
  std::string declare, element, store;
};
VectorWrite vector_write(size_t argument, std::string_view type, int64_t width);

// "for (int j...) {", "{" at width 1.
std::string vector_loop(int64_t width);

}  // namespace plimsoll::cuda
