// Inputs that stay from run to run: variables that a program only reads, and constants. The executor names them
// in KernelQuery::steady, and a kernel may keep a copy in the layout it likes instead of making one in every
// run. The copy is counted in the account, as weights.
#pragma once

#include <cstdint>
#include <memory>

#include "device/kernel.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

class Buffer;

// A copy of a steady input in bytes of its own. Not thread-safe: part of the state of a kernel that runs once
// at a time.
class SteadyCopy {
 public:
  // Null if input `i` is not steady, if the account has a limit, or if there are no bytes: the kernel then
  // does without.
  static std::shared_ptr<SteadyCopy> make(const KernelQuery& q, int i, int64_t bytes);

  void* data() const;
  // Whether the input may have changed since update() was last called. Never false in error: contents that
  // someone holds a pointer to write with count as changed in every run.
  bool stale() const;
  // The copy has just been made of the input as it is.
  void update();

 private:
  SteadyCopy(std::shared_ptr<Buffer> source, std::shared_ptr<Buffer> copy)
      : source_(std::move(source)), copy_(std::move(copy)) {}

  std::shared_ptr<Buffer> source_, copy_;
  bool made_ = false;
  uint64_t version_ = 0;
};

}  // namespace plimsoll
