// Workplace: what the Programs of one model share: an arena, and whose turn it is to run in it. Threads get
// their turns in the order they came, and wait without the interpreter's lock.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "memory/arena.h"
#include "memory/charge.h"
#include "plimsoll/tensor.h"

namespace plimsoll::python {

class Workplace {
 public:
  const std::shared_ptr<Arena>& arena() const { return arena_; }
  // Tensors of these types for the batch of a step, the same ones as before if they had them. Requires the
  // turn.
  std::span<const Tensor> batch(std::span<const TensorType> types);
  // Counts what of spilled variables is resident while a step runs; of several Programs the most. Throws
  // Error{out_of_memory}.
  void hold_spilled(int64_t bytes);
  int64_t spilled() const { return spilled_; }
  // Whether this thread has the turn.
  bool is_mine() const { return owner_.load() == std::this_thread::get_id(); }
  // Whether another thread waits for its turn: who runs many steps lets it go first.
  bool is_wanted() const { return last_ - served_ > 1; }

  // From here to the end of its life the one user. Requires the interpreter's lock. Throws
  // Error{invalid_argument} to a thread that has the turn already.
  class Turn {
   public:
    explicit Turn(std::shared_ptr<Workplace> place);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::shared_ptr<Workplace> place_;
  };

 private:
  bool try_enter();
  void enter();
  void leave();

  std::mutex mutex_;
  std::condition_variable left_;
  std::atomic<uint64_t> last_ = 0;    // the number of the last who came
  std::atomic<uint64_t> served_ = 0;  // turns that have ended
  std::atomic<std::thread::id> owner_;
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  std::vector<Tensor> batch_;
  int64_t spilled_ = 0;
  Charge window_;
};

}  // namespace plimsoll::python
