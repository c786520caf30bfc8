// The guard's end of the page shared with the gate (gate/page.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "guard/gate/page.h"

namespace plimsoll::guard {

struct Refusal {
  uint32_t ticket = 0;
  int pid = 0;
  double time = 0;  // seconds of the monotonic clock
  int64_t size = 0, resident = 0, line = 0;
  std::vector<std::string> frames;
};

struct Fault {
  int pid = 0, signal = 0, code = 0;
  bool survived = false;  // the program's own handler dealt with it
  double time = 0;
  uint64_t address = 0, instruction_pointer = 0, stack_pointer = 0;
  std::vector<uint8_t> instruction;
  std::string module, mapping;
};

class GatePage {
 public:
  // Makes the file and maps it. Throws Error{io}.
  explicit GatePage(const std::filesystem::path& path);
  ~GatePage();
  GatePage(const GatePage&) = delete;
  GatePage& operator=(const GatePage&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void set_line(int64_t bytes) { page_->line.store(bytes); }
  void set_readings(int64_t total, int64_t rest) {
    page_->total.store(total);
    page_->rest.store(rest);
  }
  // A new kernel: what the old one left is forgotten, and the file is made again if it is gone. Throws
  // Error{io}.
  void reset();
  // Where the kernel writes its number before it runs.
  std::atomic<int32_t>* kernel_pid() { return &page_->kernel_pid; }
  // The kernel is to answer ask_for_stack(). To be called before it starts.
  void watch_stalls() { page_->watches_stalls.store(1); }
  // Has a Python kernel write where its main thread is to kStackFd.
  void ask_for_stack();
  // As the gate saw it when it was last asked for a stack.
  int32_t alarm() const { return page_->alarm.load(); }
  // Whether the kernel runs with the gate.
  bool attached() const { return page_->attached.load() != 0; }

  uint32_t refusal_count() const { return page_->refusal_count.load(); }
  // Those with a ticket above `after`, oldest first; of many only the last.
  std::vector<Refusal> refusals(uint32_t after) const;
  // Fatal signals noted, oldest first.
  std::vector<Fault> faults() const;

 private:
  std::filesystem::path path_;
  gate::Page* page_ = nullptr;
};

}  // namespace plimsoll::guard
