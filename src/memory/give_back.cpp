#include "memory/account.h"
#include "memory/images.h"
#include "memory/pool.h"
#include "plimsoll/memory.h"

namespace plimsoll {

void give_back_memory() noexcept {
  while (account::reclaim()) {
  }
  pool::trim();
  images::drop();
}

}  // namespace plimsoll
