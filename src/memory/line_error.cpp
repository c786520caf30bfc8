#include "plimsoll/memory.h"

namespace plimsoll {

MemoryLineError::MemoryLineError(std::string_view place, std::string_view message, Numbers numbers)
    : Error(ErrorKind::out_of_memory, place, message),
      numbers_(std::make_shared<const Numbers>(std::move(numbers))) {}

}  // namespace plimsoll
