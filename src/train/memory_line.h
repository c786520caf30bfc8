// The memory line of one fit(): planned before the first batch, held while it runs.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/budget.h"
#include "plimsoll/model.h"
#include "train/trainer.h"

namespace plimsoll {

// A Budget with the line given as `memory` (FitArgs; empty: none, only the process's line holds), and the
// lines of devices named there. From begin() to its end all that this thread and the readers' threads take
// counts in it, and all that the model and the data hold. Belongs to the thread that made it.
class MemoryLine {
 public:
  // micro_batch: a batch may be cut to fit.
  MemoryLine(const std::string& memory, bool micro_batch, Trainer& trainer);
  ~MemoryLine();
  MemoryLine(const MemoryLine&) = delete;
  MemoryLine& operator=(const MemoryLine&) = delete;

  // Plans the steps so that they stay under this line and the process's; throws MemoryLineError if they
  // cannot. validation (optional: nullptr).
  void begin(const Dataset& data, const Dataset* validation);
  // Makes the Programs of all steps that were planned: to make one later would take bytes that the arena has
  // by then.
  void make_steps();
  // The Programs are there: looks at what the system counts, and plans anew if that is over the line.
  void ready();
  // Plans anew where the line has been drawn elsewhere, or the system is short of memory. Throws
  // MemoryLineError if the steps cannot go on under the line; the model is as the last step left it.
  void between_steps();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kLookAgain = std::chrono::milliseconds(250);
  void replan();
  void stay_under();
  bool shrink(int64_t bytes);
  void count_held(const Dataset& data, const Dataset* validation);

  Trainer& trainer_;
  bool micro_batch_;
  // The line of a device while it lives; then the one before.
  class DeviceLine {
   public:
    DeviceLine(std::shared_ptr<Device> device, int64_t limit);
    DeviceLine(DeviceLine&&) = default;
    ~DeviceLine();

   private:
    std::shared_ptr<Device> device_;
    int64_t before_;
  };

  std::shared_ptr<Budget> budget_;  // nullptr: none
  std::vector<DeviceLine> devices_;
  std::optional<BudgetScope> scope_;
  bool counts_model_ = false;
  std::optional<Dataset> data_;
  const Dataset* validation_ = nullptr;
  TrainerPlan device_plan_;
  std::vector<TrainerPlan::Step> steps_to_make_;
  int64_t line_seen_ = 0;
  uint64_t steps_ = 0;
  Clock::time_point looked_ = Clock::now();
};

// The steps of one evaluate() or predict(), planned so that they stay under the lines there are; throws
// MemoryLineError if they cannot. Until its end that plan is theirs.
class PassLine {
 public:
  PassLine(ModelBody& body, StepKind kind, const Dataset& data);
  ~PassLine();
  PassLine(const PassLine&) = delete;
  PassLine& operator=(const PassLine&) = delete;

 private:
  Trainer& trainer_;
  bool drawn_ = false;
};

}  // namespace plimsoll
