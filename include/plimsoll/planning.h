// For a program that says what would do where a model does not fit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace plimsoll {

class Dataset;
class Model;
struct FitArgs;

// While one lives, the models that this thread builds or loads have weights without bytes, arrays of files
// that are held in memory have none either, and what it charges is taken even above the line: enough for
// forecast() of a model that there is no memory for. Nothing else may be asked of such a model.
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

// Plans the steps of fit(data, args) under the lines there are, and makes none: throws the MemoryLineError that
// fit() would throw. An outline is enough. Requires: the model knows its inputs.
void check_fit(const Model& model, const Dataset& data, const FitArgs& args);

// Counts again what the system counts of the process beside what is planned, if a line is drawn; returns how
// much more that may be the next time.
int64_t measure_memory();

// A line to draw: rounded up, so that as much is enough.
std::string line_text(int64_t bytes);

}  // namespace plimsoll
#pragma GCC visibility pop
