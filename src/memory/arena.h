// Arena: the bytes that the temporaries of a model live in, as one mapping. Its addresses are reserved at
// once and backed by memory as it grows, so base() stays where it is when a second, larger Program joins.
// Charged to the account as Owner::arena, and to the Budget that is current when it is first grown. Owned
// together by the Programs of a model; ensure() and trim() must not be called while one of them runs, nor by
// two threads at once.
#pragma once

#include <cstdint>
#include <memory>

#include "memory/in_use.h"

namespace plimsoll {

class Budget;

class Arena {
 public:
  // Twice the memory of the machine: more than any arena can use.
  static int64_t default_reserve() noexcept;
  // Nothing is taken before the first ensure(). Where the system refuses so many addresses (RLIMIT_AS, a
  // small address space), fewer are reserved, at least what ensure() asks for. 0: just that, for an arena
  // that serves one Program and will not grow.
  explicit Arena(int64_t reserve = default_reserve()) : wanted_(reserve) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // At least `bytes` are usable at base() afterwards; new ones are zero. Throws Error{out_of_memory} if the
  // account or the system refuses; the arena is then as it was. Moves base() only when the arena is empty and
  // asked for more than it has addresses for.
  void ensure(int64_t bytes);
  // Gives all but the first `keep` bytes back to the OS and to the account. Does not move base().
  void trim(int64_t keep = 0) noexcept;

  void* base() const { return base_; }          // nullptr before the first ensure() of more than 0 bytes
  int64_t bytes() const { return committed_; }  // usable and charged: whole pages
  int64_t reserved() const { return reserved_; }
  // Taken by whoever runs in this arena, or changes it.
  InUse& in_use() { return in_use_; }

 private:
  bool reserve(int64_t least) noexcept;

  char* base_ = nullptr;
  int64_t committed_ = 0;
  int64_t reserved_ = 0;
  int64_t wanted_;
  std::shared_ptr<Budget> budget_;
  InUse in_use_;
};

}  // namespace plimsoll
