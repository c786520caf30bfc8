#include "guard/stall_watch.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "guard/note.h"

namespace plimsoll::guard {

namespace {

constexpr size_t kStacks = 3;
constexpr size_t kMostReadings = 130;
constexpr double kVerdictAfter = 4;  // times the notice

// The frames of the main thread, those of the kernel's own machinery left out.
std::string main_stack(const std::string& text) {
  std::string out;
  for (const auto& frame : python_stack(text)) {
    if (frame.file.find("/IPython/core/") != std::string::npos) break;
    out += fmt::format("    {} line {} in {}\n", frame.file, frame.line, frame.function);
  }
  return out;
}

bool stands_still(StallKind kind) {
  return kind != StallKind::working && kind != StallKind::slow && kind != StallKind::sleeping &&
         kind != StallKind::waiting_for_input;
}

}  // namespace

void StallWatch::begin_process(pid_t pid) {
  own_threads_.clear();
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    own_threads_.insert(std::atoi(task.path().filename().c_str()));
  }
}

void StallWatch::begin_cell(double) {
  readings_.clear();
  stacks_.clear();
  verdict_ = {};
  told_at_ = quiet_ = 0;
  interrupted_ = false;
}

bool StallWatch::wants_stack(double now, double last_sign) const {
  const double quiet = now - last_sign;
  const bool before_notice = quiet > notice_ - kStacks - 1 && quiet < notice_;
  const bool before_verdict = quiet > kVerdictAfter * notice_ - kStacks - 1 && quiet < kVerdictAfter * notice_;
  return before_notice || before_verdict;
}

void StallWatch::hear_stack(const std::string& text) {
  const std::string stack = main_stack(text);
  if (stack.empty()) return;
  if (stacks_.size() >= kStacks) stacks_.erase(stacks_.begin());
  stacks_.push_back(stack);
}

std::string StallWatch::look(const Look& at) {
  quiet_ = at.now - at.last_sign;
  if (!readings_.empty() && at.last_sign > readings_.back().time) {
    readings_.clear();
    stacks_.clear();
    told_at_ = 0;
  }
  if (auto reading = take_reading(at.pid, at.now, own_threads_)) readings_.push_back(*reading);
  if (readings_.size() > kMostReadings) readings_.pop_front();
  const double due = told_at_ == 0 ? notice_ : kVerdictAfter * notice_;
  if (quiet_ < notice_) return {};
  verdict_ = judge_stall(readings_, at.waiting_for_input, stacks_, at.in_interpreter);
  if (quiet_ < due || told_at_ >= kVerdictAfter * notice_ || !stands_still(verdict_.kind)) return {};
  told_at_ = quiet_;
  return tell(quiet_);
}

std::string StallWatch::tell(double quiet) const {
  std::string text = fmt::format("plimsoll: no sign of life for {:.0f} s: {}. {}.\n", quiet, name_of(verdict_.kind), verdict_.text);
  if (!stacks_.empty()) text += "  Python is at (innermost first):\n" + stacks_.back();
  return text + "  Nothing was ended; interrupt the kernel if you do not want to wait.\n";
}

bool StallWatch::must_interrupt() {
  if (interrupted_ || timeout_ <= 0 || quiet_ < timeout_ || !stands_still(verdict_.kind)) return false;
  interrupted_ = true;
  return true;
}

}  // namespace plimsoll::guard
