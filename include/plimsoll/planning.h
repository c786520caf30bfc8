// For a program that says what would do where a model does not fit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace plimsoll {

// While one lives, the models that this thread builds or loads have weights without bytes, and what it
// charges is taken even above the line: enough for forecast() of a model that there is no memory for. Nothing
// else may be asked of such a model.
class Outline {
 public:
  Outline();
  ~Outline();
  Outline(const Outline&) = delete;
  Outline& operator=(const Outline&) = delete;
  static bool active() noexcept;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

// Counts again what the system counts of the process beside what is planned, if a line is drawn; returns how
// much more that may be the next time.
int64_t measure_memory();

// A line to draw: rounded up, so that as much is enough.
std::string line_text(int64_t bytes);

}  // namespace plimsoll
#pragma GCC visibility pop
