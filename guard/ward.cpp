#include "guard/ward.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "common/bytes.h"
#include "guard/files.h"
#include "guard/instruction.h"
#include "guard/launch.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

constexpr int64_t kMiB = 1024 * 1024;
constexpr size_t kMostWords = 64 * 1024;
// Output and status travel by different ways: the first words of a cell may be here before word of its
// beginning.
constexpr double kSlack = 1;
// A killed process may take as long until it is gone.
constexpr double kCountAgain = 2;

int64_t system_oom_kills() {
  return readings::parse::field(read_file("/proc/vmstat").value_or(""), "oom_kill").value_or(0);
}

// The log has the numbers of processes as the outermost namespace has them; that one's own number never
// changes.
bool has_numbers_of_the_log() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error) == "pid:[4026531836]";
}

// The kernel's own word on who was killed; nothing where it cannot be read or names processes by other
// numbers.
std::optional<std::string> kernel_log_line(pid_t pid) {
  const int fd = has_numbers_of_the_log() ? ::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
  if (fd < 0) return std::nullopt;
  const std::string wanted = fmt::format("Killed process {} ", pid);
  std::string found;
  char record[8192];
  for (ssize_t n; (n = ::read(fd, record, sizeof record)) > 0 || (n < 0 && errno == EPIPE);) {
    const std::string_view text(record, n > 0 ? static_cast<size_t>(n) : 0);
    if (text.find(wanted) == std::string_view::npos) continue;
    const size_t begin = text.find(';') + 1;
    found = std::string(text.substr(begin, text.find('\n') - begin));
  }
  ::close(fd);
  return found;
}

std::string find_gate() {
  const auto path = program_folder().parent_path() / "lib/plimsoll/libplimsoll_gate.so";
  return ::access(path.c_str(), R_OK) == 0 ? path.string() : std::string();
}

}  // namespace

Ward::Ward(const GuardOptions& options, const std::filesystem::path& folder)
    : options_(options), line_(choose_line(options.memory)), page_(folder / "gate") {
  page_.set_line(line_.bytes);
  if (options.gate) gate_library_ = find_gate();
  if (gate_library_.empty()) gaps_.push_back("no allocation gate: large requests are not refused");
  if (options.cgroup && line_.bytes > 0) leaf_ = CgroupLeaf::make(hard_limit(), std::to_string(::getpid()));
  if (!leaf_) gaps_.push_back("no control group: memory is watched, with no hard limit above the line");
}

// Above the line, so that the gate's refusal comes first and small needs are still met.
int64_t Ward::hard_limit() const { return line_.bytes + std::max(line_.bytes / 4, 64 * kMiB); }

Ward::Counters Ward::read_counters() const {
  Counters c;
  if (leaf_) c.leaf = leaf_->counters();
  if (const auto group = readings::cgroup(); group && !group->levels.empty()) {
    c.group = group->levels.front().oom_kills.value_or(0);
  }
  c.system = system_oom_kills();
  return c;
}

void Ward::start(ProcessOptions how, std::vector<std::string> changes, double now) {
  status_.reset();
  start_error_.clear();
  words_.clear();
  stacks_.clear();
  words_size_ = 0;
  watch_.clear();
  page_.reset();
  refusals_told_ = refusals_survived_ = 0;
  begin_cell(now);
  fatal_text_ = false;
  stall_.clear();
  if (leaf_) leaf_->begin();
  before_ = lately_ = read_counters();
  counted_at_ = now;
  if (!gate_library_.empty()) {
    const std::string others = environment("LD_PRELOAD").value_or("");
    changes.push_back("LD_PRELOAD=" + gate_library_ + (others.empty() ? "" : ":" + others));
    changes.push_back(concat(gate::kPageVariable, "=", page_.path().string()));
  } else {
    changes.push_back("PYTHONFAULTHANDLER=1");  // as the gate does, but for child processes too
  }
  how.environment = environment_with(changes);
  how.own_pid = page_.kernel_pid();
  if (leaf_) how.cgroup_procs = leaf_->procs_file();
  // Counts what is mapped, touched or not, and threads' stacks: it has to lie well above the line.
  if (line_.bytes > 0) how.data_limit = 2 * line_.bytes + 1024 * kMiB;
  try {
    process_ = Process::start(how);
    pid_ = process_.pid();
    watch_.read(pid_, now);
  } catch (const Error& e) {
    fail_start(e.what(), now);
  }
}

void Ward::fail_start(const std::string& why, double now) {
  process_ = Process();
  pid_ = 0;
  words_.clear();
  stacks_.clear();
  words_size_ = 0;
  start_error_ = why;
  status_ = 127 << 8;
  ended_at_ = now;
}

bool Ward::poll(double now) {
  const auto status = process_.poll();
  if (!status) return false;
  status_ = status;
  ended_at_ = now;
  return true;
}

bool Ward::hear(const std::string& text, double now) {
  words_.push_back({now, text});
  words_size_ += text.size();
  while (words_size_ - words_.front().text.size() > kMostWords) {
    words_size_ -= words_.front().text.size();
    words_.pop_front();
  }
  fatal_text_ = fatal_text_ || text.find("Fatal Python error: ") != std::string::npos;
  return !fatal_text_;
}

void Ward::hear_stacks(const std::string& text) {
  stacks_ += text;
  const size_t fault = stacks_.rfind(gate::kFailedThread);
  // A stall's stacks are of no use here; but the mark may come in two pieces.
  const size_t keep = std::strlen(gate::kFailedThread);
  if (fault != std::string::npos) {
    stacks_.erase(0, fault);
  } else if (stacks_.size() > keep) {
    stacks_.erase(0, stacks_.size() - keep);
  }
  if (stacks_.size() > kMostWords) stacks_.resize(kMostWords);
}

std::string Ward::last_words() const {
  std::string all;
  for (const auto& w : words_) {
    if (w.time >= cell_began_ - kSlack) all += w.text;
  }
  return all;
}

void Ward::begin_cell(double now) {
  cell_began_ = now;
  cell_began_with_ = watch_.resident();
  interrupted_ = false;
  warned_percent_ = 0;
}

// Of processes that are gone while the kernel lives on: some that it started.
std::string Ward::killed_text(int64_t kills) const {
  if (kills <= 0) return {};
  return fmt::format(
      "plimsoll: out of memory at the hard limit of {}: the system killed {} that this kernel had started. "
      "What "
      "waits for {} may wait for ever.\n",
      bytes_text(leaf_ ? leaf_->limit() : 0), kills == 1 ? "a process" : fmt::format("{} processes", kills),
      kills == 1 ? "it" : "them");
}

std::string Ward::sample(double now) {
  if (process_.pid() <= 0) return {};
  watch_.read(process_.pid(), now);
  // Kills elsewhere are no business of a kernel that lives on after them.
  std::string text;
  if (now - counted_at_ >= kCountAgain) {
    text = killed_text(lately_.leaf.oom_kills - before_.leaf.oom_kills);
    before_.leaf.oom_kills = lately_.leaf.oom_kills;
    before_.group = lately_.group;
    before_.system = lately_.system;
    lately_ = read_counters();
    counted_at_ = now;
  }
  page_.set_readings(watch_.resident(), watch_.rest());
  if (line_.bytes <= 0) return text;
  const int percent =
      static_cast<int>(100 * (static_cast<double>(watch_.resident()) / static_cast<double>(line_.bytes)));
  const int step = percent >= 90 ? 90 : percent >= 80 ? 80 : 0;
  if (step <= warned_percent_) return text;
  warned_percent_ = step;
  text += fmt::format("plimsoll: memory at {} % of the line: {} of {}", percent,
                      bytes_text(watch_.resident()), bytes_text(line_.bytes));
  if (watch_.rest() > 0) text += fmt::format(" ({} in child processes)", bytes_text(watch_.rest()));
  return text + when_reached(line_.bytes, watch_.resident(), watch_.growth()) + "\n";
}

double Ward::sample_interval(bool running) const {
  if (line_.bytes > 0 && watch_.resident() > line_.bytes / 10 * 7) return running ? 0.025 : 0.5;
  return running ? 0.25 : 1.0;
}

bool Ward::must_interrupt() {
  // Above all that the gate tolerates, below the hard limit. A cell that finds memory so is let run: it may
  // be the one that frees some.
  const int64_t tolerated = line_.bytes + (page_.attached() ? line_.bytes / 16 * 3 : line_.bytes / 16);
  const int64_t most = std::max(tolerated, cell_began_with_ + line_.bytes / 64);
  if (interrupted_ || line_.bytes <= 0 || watch_.resident() <= most) return false;
  interrupted_ = true;
  return true;
}

std::string Ward::refusals_text() {
  std::string text;
  const auto refusals = page_.refusals(refusals_told_);
  if (refusals.empty()) return text;
  const uint32_t count = page_.refusal_count() - refusals_told_;
  refusals_told_ = page_.refusal_count();
  const Refusal& r = refusals.back();
  text = fmt::format("plimsoll: a request for {} was refused: {} resident, the line is at {} ({}).",
                     bytes_text(r.size), bytes_text(r.resident), bytes_text(r.line), line_.source);
  if (count > 1) text += fmt::format(" In all {} requests were refused in this cell.", count);
  return text + " Results that depend on it are not there.\n";
}

Evidence Ward::evidence(bool at_start, double now) {
  Evidence e;
  e.wait_status = status_.value_or(0);
  e.at_start = at_start;
  e.start_error = start_error_;
  e.last_words = last_words();
  e.stacks = stacks_;
  e.time = status_ ? ended_at_ : now;
  e.pid = pid_;
  e.gate_attached = page_.attached();
  e.refusals = page_.refusals(refusals_survived_);
  e.faults = page_.faults();
  e.samples.assign(watch_.samples().begin(), watch_.samples().end());
  e.line = line_.bytes;
  const Counters after = read_counters();
  e.leaf_limit = leaf_ ? leaf_->limit() : 0;
  e.leaf_oom_kills = after.leaf.oom_kills - before_.leaf.oom_kills;
  e.leaf_limit_hits = after.leaf.limit_hits - before_.leaf.limit_hits;
  e.group_oom_kills = after.group - before_.group;
  e.system_oom_kills = after.system - before_.system;
  const bool killed = WIFSIGNALED(e.wait_status) && WTERMSIG(e.wait_status) == SIGKILL;
  if (const auto log = killed && e.system_oom_kills > 0 ? kernel_log_line(pid_) : std::nullopt) {
    e.kernel_log = *log;
    e.kernel_log_read = true;
  }
  e.cpu_features = cpu_features();
  e.stall = stall_;
  return e;
}

}  // namespace plimsoll::guard
