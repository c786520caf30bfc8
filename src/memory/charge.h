// Charge: bytes that a library, or a structure of ours, holds outside of any Buffer: in the account, and in
// the Budget that was current, as long as this lives.
#pragma once

#include <memory>

#include "memory/budget.h"

namespace plimsoll {

class Charge {
 public:
  Charge() = default;
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  ~Charge() { account::release(owner_, bytes_, budget_.get()); }
  // In place of what was charged before. Throws Error{out_of_memory}; then nothing is charged.
  void set(Owner owner, int64_t bytes) {
    account::release(owner_, bytes_, budget_.get());
    bytes_ = 0;
    budget_ = Budget::current();
    account::charge(owner, bytes, budget_.get());
    owner_ = owner;
    bytes_ = bytes;
  }

 private:
  Owner owner_ = Owner::staging;
  int64_t bytes_ = 0;
  std::shared_ptr<Budget> budget_;
};

}  // namespace plimsoll
