// The account knows every byte the engine holds, by owner, and refuses what would cross the line. One per
// process; all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace plimsoll {

// process: what the system counts beside what the others hold (memory/resident.h).
enum class Owner : uint8_t { weights, state, arena, scratch, staging, data, programs, tensors, process };
inline constexpr int kOwnerCount = 9;
std::string_view name_of(Owner owner);

namespace account {

inline constexpr int64_t kNoLimit = INT64_MAX;

// Takes `bytes` for `owner`. What would cross the limit is taken only after the Reclaimers have given up as
// much as it needs; if they cannot, throws Error{out_of_memory} with the numbers, and nothing is taken.
void charge(Owner owner, int64_t bytes);
void release(Owner owner, int64_t bytes) noexcept;
// What one owner holds becomes another's; the total stays.
void hand_over(Owner from, Owner to, int64_t bytes) noexcept;
// What an owner holds as it was measured: nobody can refuse it, and the line may be crossed by it.
void set_measured(Owner owner, int64_t bytes) noexcept;

int64_t used(Owner owner) noexcept;
int64_t used() noexcept;
int64_t peak() noexcept;  // highest total since the last reset_peak()
void reset_peak() noexcept;
int64_t limit() noexcept;
void set_limit(int64_t bytes) noexcept;  // may lie below used(): only further charges are refused

// Someone who holds what can be made again: it goes before a charge is refused.
class Reclaimer {
 public:
  // One such thing. Its destructor releases its charge; it may run anything, for instance the deleter of a
  // tensor that a user has wrapped.
  class Thing {
   public:
    Thing() = default;
    Thing(const Thing&) = delete;
    Thing& operator=(const Thing&) = delete;
    virtual ~Thing() = default;
  };
  Reclaimer(const Reclaimer&) = delete;
  Reclaimer& operator=(const Reclaimer&) = delete;
  // Hands over one thing; null if there is none to give up. Called from any thread, which may be inside any
  // charge(), under a lock: must not charge, nor wait for someone who does, nor end the thing itself.
  virtual std::unique_ptr<Thing> give_up_one() noexcept = 0;

 protected:
  Reclaimer() = default;
  ~Reclaimer() = default;
  // From the constructor and the destructor of the class that is final: between the two, give_up_one() is
  // called.
  void begin_reclaiming();
  void end_reclaiming() noexcept;
};
// Asks one Reclaimer after the other to give up one thing, and ends it; false if none had any.
bool reclaim() noexcept;
// take() until it says true, with a reclaim() between one try and the next; false if there is nothing left to
// give up.
template <class Take>
bool take_or_reclaim(const Take& take) {
  while (!take()) {
    if (!reclaim()) return take();  // another thread may have given back some meanwhile
  }
  return true;
}

// For tests: the n-th charge from now on (1 = the next) fails as if over the line; 0 switches it off.
void fail_nth_charge(int64_t n) noexcept;
int64_t charges() noexcept;  // how many charges there were since the process began

}  // namespace account
}  // namespace plimsoll
