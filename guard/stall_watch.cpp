#include "guard/stall_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "guard/gate/page.h"
#include "guard/note.h"

namespace plimsoll::guard {

namespace {

constexpr size_t kStacks = 3;
constexpr double kLeastWindow = 10;  // seconds; in fewer a loaded machine shows little
constexpr size_t kMostHeard = 1 << 20;
constexpr double kVerdictAfter = 3;  // times the notice, after the first
constexpr int kNotices = 2;

// Those of the kernel's own machinery left out: outside of the cell, and inside where the cell calls it.
std::vector<std::string> frames_of(const std::string& text) {
  std::vector<std::string> out;
  for (const auto& frame : choose_stack(python_stacks(text)).frames) {
    if (frame.file.find(gate::kKernelsOwn) == std::string::npos)
      out.push_back(fmt::format("    {} line {} in {}\n", frame.file, frame.line, frame.function));
    else if (!out.empty())
      break;
  }
  return out;
}

std::vector<std::string> marks_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0, end; (end = text.find(',', at)) != std::string::npos; at = end + 1)
    out.push_back(text.substr(at, end - at));
  return out;
}

bool stands_still(StallKind kind) {
  return kind != StallKind::working && kind != StallKind::slow && kind != StallKind::sleeping &&
         kind != StallKind::waiting_for_input;
}

}  // namespace

void StallWatch::begin_process(pid_t pid) {
  own_ = {};
  std::error_code error;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    own_.threads.insert(std::atoi(task.path().filename().c_str()));
  }
  own_.files = open_files(pid);
}

void StallWatch::begin_cell(double) {
  readings_.clear();
  python_.clear();
  heard_.clear();
  verdict_ = {};
  told_at_ = quiet_ = 0;
  told_ = 0;
  interrupted_ = false;
}

// Shortly before each time that something may have to be said. A stall may begin at any moment of a long
// cell, so there is such a time every `notice` seconds; and questions go on if by then too little was heard:
// native code that keeps the interpreter's lock answers after a second and more, and two questions may get
// one answer.
bool StallWatch::wants_stack(double now, double last_sign) const {
  const double quiet = now - last_sign;
  if (told_ == kNotices) return false;
  const double round = std::fmod(quiet, notice_);
  return round > notice_ - kStacks - 1 || (quiet >= notice_ && !heard_enough());
}

// Or has native code begun to keep the lock since the first of the answers?
bool StallWatch::heard_enough() const {
  return python_.size() == kStacks && std::all_of(python_.begin(), python_.end(), [&](auto& s) {
           return s.keeps_lock == python_.back().keeps_lock;
         });
}

double StallWatch::next_notice() const { return told_ == 0 ? notice_ : told_at_ + kVerdictAfter * notice_; }

void StallWatch::hear_stack(const std::string& text) {
  if (heard_.size() > kMostHeard) heard_.clear();
  heard_ += text;
}

// Answers may come in pieces, several at a time, or never be finished.
void StallWatch::take_stacks(double now) {
  for (;;) {
    const size_t end = heard_.find(gate::kStallEnds), last = heard_.find(';', end);
    if (end == std::string::npos || last == std::string::npos) return;
    const size_t begin = heard_.rfind(gate::kStallBegins, end);
    const size_t mark = end + std::strlen(gate::kStallEnds), space = heard_.find(' ', mark);
    if (begin != std::string::npos && space < last) {
      const std::string place = heard_.substr(space + 1, last - space - 1);
      StallSample sample{frames_of(heard_.substr(begin, end - begin)),
                         marks_of(heard_.substr(mark, space - mark)),
                         place == gate::kInBytecode,
                         place == gate::kKeepsLock,
                         place == gate::kInOneCall,
                         place == gate::kAwaitsAlone,
                         place == gate::kAwaitsThread,
                         place == gate::kWorkersEnd,
                         {}};
      for (std::string& m : sample.marks) {
        sample.unseen.push_back(!m.empty() && m.back() == gate::kUnseen);
        if (sample.unseen.back()) m.pop_back();
      }
      if (!sample.frames.empty() || sample.keeps_lock) {
        python_.push_back(std::move(sample));
        heard_at_ = now;
      }
      if (python_.size() > kStacks) python_.pop_front();
    }
    heard_.erase(0, last + 1);
  }
}

std::string StallWatch::look(const Look& at) {
  quiet_ = at.now - at.last_sign;
  if (!readings_.empty() && at.last_sign > readings_.back().time) {
    readings_.clear();
    python_.clear();
    told_ = 0;
  }
  take_stacks(at.now);
  // What was so before the last `notice` seconds says nothing of them.
  const double window = std::max(notice_, kLeastWindow);
  if (heard_at_ < at.now - window) python_.clear();
  if (auto reading = read_(at.pid, at.now, own_.threads)) {
    reading->alarm = at.alarm;
    readings_.push_back(*reading);
  }
  while (!readings_.empty() && readings_.front().time < at.now - window) readings_.pop_front();
  if (quiet_ < notice_) return {};
  verdict_ = judge_stall(readings_, at.waiting_for_input, python_);
  const bool due = quiet_ >= next_notice() && told_ < kNotices;
  if (due || (timeout_ > 0 && quiet_ >= timeout_)) look_for_ring(at.pid);
  if (!due || !stands_still(verdict_.kind)) return {};
  told_at_ = quiet_;
  ++told_;
  return tell(quiet_);
}

// The kernel's own loop, to which the main thread comes back when a cell ends, must not be taken for an
// await.
bool StallWatch::stays_in_its_loop() const {
  constexpr int kSeen = 3;
  return readings_.size() >= kSeen && std::all_of(readings_.end() - kSeen, readings_.end(), [&](auto& r) {
           return r.doing == Doing::poll && r.wakes == readings_.back().wakes;
         });
}

// What it waits for may be its own: then it comes later, or never.
void StallWatch::look_for_ring(pid_t pid) {
  if (verdict_.kind != StallKind::waiting_for_io && !verdict_.may_be_ring) return;
  const MainWaits main = verdict_.may_be_ring  ? MainWaits::by_polls
                         : stays_in_its_loop() ? MainWaits::in_its_loop
                                               : MainWaits::in_a_call;
  StallVerdict ring = ring_(pid, own_, main);
  if (ring.kind != StallKind::working) verdict_ = std::move(ring);
}

std::string StallWatch::tell(double quiet) const {
  std::string text = fmt::format("plimsoll: no sign of life for {:.0f} s: {}. {}.\n", quiet,
                                 name_of(verdict_.kind), verdict_.text);
  if (!python_.empty() && !python_.back().frames.empty()) {
    text += "  Python is at (innermost first):\n";
    for (const auto& frame : python_.back().frames) text += frame;
  }
  return text + "  Nothing was ended; interrupt the kernel if you do not want to wait.\n";
}

bool StallWatch::must_interrupt() {
  if (interrupted_ || timeout_ <= 0 || quiet_ < timeout_ || !stands_still(verdict_.kind)) return false;
  interrupted_ = true;
  return true;
}

}  // namespace plimsoll::guard
