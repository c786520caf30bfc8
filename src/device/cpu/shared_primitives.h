// SharedPrimitives: while one lives, oneDNN makes equal primitives only once (a network repeats its layers).
// Without one it keeps nothing: a primitive goes with the kernels that use it, and the account is right.
// Opened around the making of kernels; may be nested and used from any thread. Does nothing without oneDNN.
#pragma once

namespace plimsoll {

class SharedPrimitives {
 public:
  SharedPrimitives() noexcept;
  ~SharedPrimitives();
  SharedPrimitives(const SharedPrimitives&) = delete;
  SharedPrimitives& operator=(const SharedPrimitives&) = delete;
};

}  // namespace plimsoll
