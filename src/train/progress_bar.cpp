#include "train/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "memory/budget.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "train/trainer.h"

namespace plimsoll {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr int64_t kBarWidth = 20;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

template <class... Values>
std::string text(const char* form, Values... values) {
  char line[64];
  std::snprintf(line, sizeof line, form, values...);
  return line;
}

std::string value_text(double value) {
  return std::abs(value) > 1e-3 || value == 0 ? text("%.4f", value) : text("%.4e", value);
}

std::string time_text(double seconds) {
  const auto s = static_cast<long long>(seconds + 0.5);
  if (s >= 3600) return text("%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  if (s >= 60) return text("%lld:%02lld", s / 60, s % 60);
  return text("%llds", s);
}

std::string step_text(double seconds) {
  if (seconds >= 1) return text("%.0fs/step", seconds);
  if (seconds >= 1e-3) return text("%.0fms/step", seconds * 1e3);
  return text("%.0fus/step", seconds * 1e6);
}

// Against the nearest line: of this fit(), or the process.
std::string held_text() {
  const std::shared_ptr<Budget>& own = Budget::current();
  if (own && own->limit() != account::kNoLimit)
    return concat(memory_text(own->used()), " of ", memory_text(own->limit()));
  const std::string held = memory_text(account::used());
  return account::limit() == account::kNoLimit ? held : concat(held, " of ", memory_text(account::limit()));
}

// Columns on a terminal: bytes that begin a character.
size_t width_of(const std::string& line) {
  return static_cast<size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

ProgressBar::ProgressBar(const Trainer& trainer, int verbose, int64_t steps, int64_t epochs)
    : trainer_(&trainer),
      verbose_(verbose),
      live_(verbose == 1 && ::isatty(STDOUT_FILENO) == 1),
      steps_(steps),
      epochs_(epochs) {}

void ProgressBar::begin_epoch(int64_t epoch) {
  if (verbose_ > 0) print(concat("Epoch ", epoch + 1, "/", epochs_, "\n"));
  begin_pass();
}

void ProgressBar::begin_pass() {
  done_ = 0;
  drawn_ = 0;
  begin_ = std::chrono::steady_clock::now();
  next_draw_ = begin_ + kRedraw;
}

void ProgressBar::step(int64_t done) {
  done_ = done;
  if (!live_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + kRedraw;
  draw(done, trainer_->logs(), false);
}

std::string ProgressBar::bar(int64_t done) const {
  const std::string total = steps_ > 0 ? std::to_string(steps_) : "Unknown";
  std::string count = std::to_string(done);
  if (count.size() < total.size() && steps_ > 0) count.insert(0, total.size() - count.size(), ' ');
  std::string line = concat(count, "/", total);
  if (!live_ || steps_ == 0) return line;
  const int64_t full = std::min(kBarWidth, kBarWidth * done / steps_);
  line += " \033[32m";
  for (int64_t i = 0; i < full; ++i) line += "━";
  line += "\033[0m\033[37m";
  for (int64_t i = full; i < kBarWidth; ++i) line += "━";
  return line + "\033[0m";
}

std::string ProgressBar::pace(int64_t done, bool finished) const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double each = done > 0 ? seconds / static_cast<double>(done) : 0;
  const double shown =
      finished || steps_ == 0 ? seconds : each * static_cast<double>(std::max<int64_t>(steps_ - done, 0));
  return concat(time_text(shown), " ", step_text(each));
}

void ProgressBar::draw(int64_t done, const Logs& logs, bool finished) {
  std::string line = concat(bar(done), live_ ? " " : " - ", pace(done, finished));
  for (const auto& [name, value] : logs) line += concat(" - ", name, ": ", value_text(value));
  line += " - memory: " + held_text();
  const size_t width = width_of(line);
  if (!live_) return print(line + "\n");
  const std::string blank(drawn_ > width ? drawn_ - width : 0, ' ');
  drawn_ = finished ? 0 : width;
  print(concat("\r", line, blank, finished ? "\n" : ""));
}

void ProgressBar::end_epoch(const Logs& logs) {
  if (verbose_ > 0) draw(done_, logs, true);
}

}  // namespace plimsoll
