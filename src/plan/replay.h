// Replay: what an order of nodes costs if some values are not kept between two uses but made again by
// running their node once more. The search for a plan under a line is judged by it: one call says the bytes
// alive at each run and the time the repeated ones take. Offsets are not part of it. Not thread-safe; refers
// to the Dataflow, which must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/order.h"

namespace plimsoll {

// One run of a node; `again`: not its first.
struct Exec {
  Dataflow::Run run;
  bool again;
  bool operator==(const Exec&) const = default;
};

// Where a value is in the arena without a break: from the exec that makes it to its last use.
struct Stay {
  ValueId root;
  uint32_t first, last;  // index of execs
  uint32_t before;       // an earlier stay of the same root; kNone: none
};

class Replay {
 public:
  // A gap is the time between two uses of a value in the order given. How often the value is dropped in each:
  // 0: it is kept; 1: dropped once, and kept from when it is made again, be it for its own next use or for
  // that of another value; 2: dropped then as well, and so on.
  // A hold keeps another value, which it is made of, beyond its own last use until that gap ends: it may be
  // smaller, and not be had again without half of what came before.
  struct Hold {
    uint32_t gap;
    ValueId root;
    auto operator<=>(const Hold&) const = default;
  };
  struct Drops {
    std::vector<uint16_t> times;     // by gap
    std::vector<Hold> holds = {};  // sorted
  };

  // One entry of `scratch` (bytes) and `seconds` per run.
  Replay(const Dataflow& flow, const Order& order, std::vector<int64_t> scratch, std::vector<double> seconds);

  Drops none() const { return {std::vector<uint16_t>(gap_count_, 0)}; }
  // Runs the order with these drops; all that follows speaks of the last such call. False if it makes more
  // execs than `most`, or values again that need too many others.
  bool run(const Drops& drops, size_t most);

  int64_t peak() const { return peak_; }
  size_t peak_at() const { return peak_at_; }
  double extra_seconds() const { return extra_; }
  std::span<const Exec> execs() const { return execs_; }

  // A value that is alive at an exec but not needed by it.
  struct Idle {
    ValueId root;
    uint32_t gap;
    uint32_t next;  // the exec of its next use
    int64_t bytes;
    double seconds;                  // to make it again then, about
    std::vector<ValueId> held = {};  // so that it takes no more
  };
  // `holds`: these may be asked for.
  void idle_at(size_t exec, bool holds, std::vector<Idle>& list) const;
  // Of the node that makes the value of this gap.
  double seconds_of_gap(uint32_t gap) const { return seconds_[maker_[root_of_gap_[gap]]]; }

 private:
  using Run = Dataflow::Run;
  struct State {
    uint32_t use = 0;    // uses so far, its making with them
    uint16_t drops = 0;  // in the present gap
    uint16_t pins = 0;
    uint16_t holds = 0;
    bool holding = false;  // others, in one of its gaps
    uint32_t stay = kNone;  // kNone: not in the arena
  };
  struct Busy {
    uint32_t stay, first, last;
  };

  bool in_arena(ValueId root) const { return maker_[root] != kNone; }
  bool can_drop(ValueId root) const;
  std::span<const ValueId> reads(Run r) const {
    return {reads_.data() + first_read_[r], reads_.data() + first_read_[r + 1]};
  }
  uint32_t uses(ValueId root) const { return first_gap_[root + 1] - first_gap_[root]; }
  uint32_t gap(ValueId root) const { return first_gap_[root] + state_[root].use - 1; }
  uint16_t times(uint32_t gap) const { return drops_->times[gap]; }
  bool may_go(ValueId root) const;
  void begin_holds();
  void end_holds(uint32_t gap);
  void release_ended();
  bool need(ValueId root, int depth);
  bool execute(Run r, bool again, ValueId wanted, int depth);
  void arrive(ValueId root);
  void release(ValueId root);
  int64_t taken_over(Run r) const;
  bool alive_at(ValueId root, uint32_t exec) const;
  double seconds_to_make(ValueId root, uint32_t exec) const;
  Idle cheapest(Idle plain, uint32_t at) const;

  const Dataflow& flow_;
  Order order_;
  std::vector<int64_t> scratch_;
  std::vector<double> seconds_;
  std::vector<int64_t> bytes_;        // by root, aligned
  std::vector<Run> maker_;            // by root; kNone: not in the arena
  std::vector<uint32_t> first_read_;  // by run, into reads_: distinct roots in the arena
  std::vector<ValueId> reads_;
  std::vector<uint32_t> first_gap_;  // by root; a gap ends with the use of the same index + 1
  std::vector<ValueId> root_of_gap_;
  std::vector<uint32_t> gap_end_;  // step of the use that ends it; the number of steps: the end
  size_t gap_count_ = 0;

  // Of the last run().
  const Drops* drops_ = nullptr;
  std::vector<bool> hold_ended_;  // by hold
  std::vector<ValueId> ended_;    // whose holds the present exec has ended
  size_t most_ = 0;
  std::vector<State> state_;
  std::vector<Exec> execs_;
  std::vector<uint32_t> exec_of_step_;
  std::vector<Stay> stays_;
  std::vector<uint32_t> last_stay_;  // by root
  std::vector<Busy> busy_;           // stays that wait, pinned, while others are made again
  int64_t live_ = 0, peak_ = 0;
  size_t peak_at_ = 0;
  double extra_ = 0;
};

}  // namespace plimsoll
