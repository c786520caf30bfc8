// Inputs that stay from run to run: variables that a program only reads, and constants. The executor names
// them in KernelQuery::steady, and a kernel may keep a copy in the layout it likes instead of making one in
// every run. The copy is counted in the account, as weights.
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
  // Null if input `i` is not steady, under a line of the account, or if there are no bytes: the kernel then
  // does without. `beside`: bytes of another input that goes into the copy, steady or not.
  static std::shared_ptr<SteadyCopy> make(const KernelQuery& q, int i, int64_t bytes, int64_t beside = 0);

  void* data() const;
  int64_t charged() const;
  // Whether the input, or the one beside it, may have changed since update() was last called. Never false in
  // error: contents that someone holds a pointer to write with count as changed in every run.
  bool stale(const void* beside = nullptr) const;
  // The copy has just been made of the inputs as they are.
  void update(const void* beside = nullptr);

 private:
  SteadyCopy(std::shared_ptr<Buffer> source, std::shared_ptr<Buffer> copy, int64_t beside)
      : source_(std::move(source)), copy_(std::move(copy)), beside_(static_cast<size_t>(beside)) {}
  char* kept_beside() const;

  std::shared_ptr<Buffer> source_, copy_;
  size_t beside_;  // bytes at the end of the copy: the other input, as it was
  bool made_ = false;
  uint64_t version_ = 0;
};

}  // namespace plimsoll
