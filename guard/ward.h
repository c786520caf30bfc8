// A Ward is the process under guard with all that holds it to its line and tells how it fared: the gate page,
// the control group, the resource limit, readings of memory. Kernels and scripts alike. One thread.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "guard/cause.h"
#include "guard/cgroup_leaf.h"
#include "guard/gate_page.h"
#include "guard/line.h"
#include "guard/memory_watch.h"
#include "guard/options.h"
#include "guard/process.h"

namespace plimsoll::guard {

class Ward {
 public:
  // Draws the line and prepares its means in `folder`, which must outlive the Ward.
  Ward(const GuardOptions& options, const std::filesystem::path& folder);

  // Starts a process under the line; `changes` are made to the environment. A program that cannot be run is a
  // death like any other: ended() then has it.
  void start(ProcessOptions how, std::vector<std::string> changes, double now);
  // The same for one that could not even be prepared.
  void fail_start(const std::string& why, double now);

  Process& process() { return process_; }
  const Line& line() const { return line_; }
  const MemoryWatch& memory() const { return watch_; }

  // The wait status once the process has ended, until forget_end().
  const std::optional<int>& ended() const { return status_; }
  // Looks whether it has; true the first time it has.
  bool poll(double now);
  // The end has been dealt with.
  void forget_end() { status_.reset(); }

  // Keeps text that the process wrote to stderr; true if it may be shown to the user as it comes. The text of
  // a fatal error is kept for the note instead.
  bool hear(const std::string& text, double now);
  // Keeps what the process wrote to kStackFd, if it is of a fault.
  void hear_stacks(const std::string& text);
  // A cell begins: what follows is laid to its account.
  void begin_cell(double now);
  // A cell has ended: what was refused in it did no harm.
  void end_cell() { refusals_survived_ = page_.refusal_count(); }
  // Reads memory. Returns a warning for the user, or nothing.
  std::string sample(double now);
  // How soon to sample again, in seconds.
  double sample_interval(bool running) const;
  // Whether the cell has grown past the line by ways the gate does not see; true once per cell.
  bool must_interrupt();
  // Requests refused since the last call, as text for the user.
  std::string refusals_text();

  // The process is to answer ask_for_stack(). To be called before it starts.
  void watch_stalls() { page_.watch_stalls(); }
  int32_t alarm() const { return page_.alarm(); }
  // Has a Python process tell where its main thread is, on kStackFd; no signal is sent.
  void ask_for_stack() { page_.ask_for_stack(); }

  // After the end: all that is known.
  Evidence evidence(bool at_start, double now);
  // It is about to be ended because it stood still; `seen` says how.
  void blame_stall(const std::string& seen) { stall_ = seen; }
  // Why the line is not backed by this or that means; empty if it is by all.
  const std::vector<std::string>& gaps() const { return gaps_; }

 private:
  struct Counters {
    CgroupLeaf::Counters leaf;
    int64_t group = 0, system = 0;
  };
  Counters read_counters() const;
  std::string last_words() const;
  std::string killed_text(int64_t kills) const;
  int64_t hard_limit() const;

  GuardOptions options_;
  Line line_;
  GatePage page_;
  std::string gate_library_;
  std::optional<CgroupLeaf> leaf_;
  std::vector<std::string> gaps_;
  Process process_;
  MemoryWatch watch_;
  std::optional<int> status_;
  struct Words {
    double time;
    std::string text;
  };
  std::string start_error_, stacks_;
  std::deque<Words> words_;
  size_t words_size_ = 0;
  Counters before_, lately_;  // of kills: when the kernel started, and of the last seconds
  double counted_at_ = 0;
  pid_t pid_ = 0;
  double ended_at_ = 0, cell_began_ = 0;
  int64_t cell_began_with_ = 0;  // bytes resident
  uint32_t refusals_told_ = 0, refusals_survived_ = 0;
  int warned_percent_ = 0;
  bool interrupted_ = false, fatal_text_ = false;
  std::string stall_;
};

}  // namespace plimsoll::guard
