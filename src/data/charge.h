// Charge: bytes that a library holds on our behalf, in the account as long as this lives.
#pragma once

#include "memory/account.h"

namespace plimsoll::data {

class Charge {
 public:
  Charge() = default;
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  ~Charge() { account::release(owner_, bytes_); }
  // In place of what was charged before. Throws Error{out_of_memory}.
  void set(Owner owner, int64_t bytes) {
    account::release(owner_, bytes_);
    bytes_ = 0;
    account::charge(owner, bytes);
    owner_ = owner;
    bytes_ = bytes;
  }

 private:
  Owner owner_ = Owner::staging;
  int64_t bytes_ = 0;
};

}  // namespace plimsoll::data
