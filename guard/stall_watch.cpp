#include "guard/stall_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "guard/note.h"

namespace plimsoll::guard {

namespace {

constexpr size_t kStacks = 3;
constexpr size_t kMostReadings = 130;
constexpr size_t kMostHeard = 1 << 20;
constexpr double kVerdictAfter = 4;  // times the notice

// The frames of the main thread, those of the kernel's own machinery left out.
std::string main_stack(const std::string& text) {
  std::string out;
  for (const auto& frame : choose_stack(python_stacks(text)).frames) {
    if (frame.file.find("/IPython/core/") != std::string::npos) break;
    out += fmt::format("    {} line {} in {}\n", frame.file, frame.line, frame.function);
  }
  return out;
}

// Whether the stack that begins there has come as far as the kernel's own frames, or to the most that is
// written.
bool is_whole(const std::string& text, size_t header) {
  const size_t own = text.find("/IPython/core/", header);
  const size_t cut = text.find("\n  ...", header);
  return std::min(own, cut) != std::string::npos;
}

std::string last_values(const std::string& text) {
  constexpr std::string_view kMark = "plimsoll values ";
  const size_t at = text.rfind(kMark);
  const size_t end = at == std::string::npos ? at : text.find(';', at);
  return end == std::string::npos ? std::string() : text.substr(at + kMark.size(), end - at - kMark.size());
}

void keep(std::vector<std::string>& last, const std::string& text) {
  if (last.size() >= kStacks) last.erase(last.begin());
  last.push_back(text);
}

bool stands_still(StallKind kind) {
  return kind != StallKind::working && kind != StallKind::slow && kind != StallKind::sleeping &&
         kind != StallKind::waiting_for_input;
}

}  // namespace

void StallWatch::begin_process(pid_t pid) {
  own_threads_.clear();
  std::error_code error;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    own_threads_.insert(std::atoi(task.path().filename().c_str()));
  }
}

void StallWatch::begin_cell(double) {
  readings_.clear();
  python_ = {};
  heard_.clear();
  verdict_ = {};
  told_at_ = quiet_ = 0;
  interrupted_ = false;
}

bool StallWatch::wants_stack(double now, double last_sign) const {
  const double quiet = now - last_sign;
  const bool before_notice = quiet > notice_ - kStacks - 1 && quiet < notice_;
  const bool before_verdict =
      quiet > kVerdictAfter * notice_ - kStacks - 1 && quiet < kVerdictAfter * notice_;
  return before_notice || before_verdict;
}

void StallWatch::hear_stack(const std::string& text) {
  if (heard_.size() > kMostHeard) heard_.clear();
  heard_ += text;
}

// The process writes its stacks word by word, and what is read may end anywhere.
void StallWatch::take_stack() {
  const size_t header = heard_.rfind("Stack (most recent");
  if (header == std::string::npos || !is_whole(heard_, header)) return;
  const std::string stack = main_stack(heard_.substr(header)), values = last_values(heard_);
  heard_.clear();
  if (stack.empty()) return;
  keep(python_.stacks, stack);
  keep(python_.values, values);
}

std::string StallWatch::look(const Look& at) {
  quiet_ = at.now - at.last_sign;
  if (!readings_.empty() && at.last_sign > readings_.back().time) {
    readings_.clear();
    python_ = {};
    told_at_ = 0;
  }
  take_stack();
  if (auto reading = take_reading(at.pid, at.now, own_threads_)) readings_.push_back(*reading);
  if (readings_.size() > kMostReadings) readings_.pop_front();
  const double due = told_at_ == 0 ? notice_ : kVerdictAfter * notice_;
  if (quiet_ < notice_) return {};
  python_.in_interpreter = at.in_interpreter;
  verdict_ = judge_stall(readings_, at.waiting_for_input, python_);
  if (quiet_ < due || told_at_ >= kVerdictAfter * notice_ || !stands_still(verdict_.kind)) return {};
  told_at_ = quiet_;
  return tell(quiet_);
}

std::string StallWatch::tell(double quiet) const {
  std::string text = fmt::format("plimsoll: no sign of life for {:.0f} s: {}. {}.\n", quiet,
                                 name_of(verdict_.kind), verdict_.text);
  if (!python_.stacks.empty()) text += "  Python is at (innermost first):\n" + python_.stacks.back();
  return text + "  Nothing was ended; interrupt the kernel if you do not want to wait.\n";
}

bool StallWatch::must_interrupt() {
  if (interrupted_ || timeout_ <= 0 || quiet_ < timeout_ || !stands_still(verdict_.kind)) return false;
  interrupted_ = true;
  return true;
}

}  // namespace plimsoll::guard
