// What the watches of fit() report: numbers that are not finite, and training that does not come on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plimsoll/error.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// The numbers of one tensor.
struct ValueRange {
  std::string name = {};       // "x0", "dense/kernel", or the op that made it
  std::string type = {};       // "float32(32, 10)"
  double least = 0, most = 0;  // of those that are finite
  int64_t nans = 0, infinite = 0, count = 0;
  int64_t first_bad = -1;  // the index of the first that is not finite, in row-major order; -1: none
  std::string str() const;
};

// Where numbers that are not finite come from: the first operation whose results are not, though all it reads
// is; or something the step was given.
struct NonFinite {
  std::string layer = {}, op = {};  // op empty: `result` was given: a batch, a weight
  ValueRange result = {};
  std::vector<ValueRange> inputs = {};  // of the operation
  std::string str() const;
};

// Of kind invalid_argument. Thrown by fit() with on_nan = "raise".
class NonFiniteError : public Error {
 public:
  NonFiniteError(std::string_view message, NonFinite found);
  const NonFinite& found() const noexcept { return *found_; }

 private:
  std::shared_ptr<const NonFinite> found_;  // an exception is copied without failing
};

// What does not come on, as seen from outside of it.
struct StallReport {
  std::string doing = {};           // "waiting for data", "running", "in a callback"
  std::string layer = {}, op = {};  // of the operation that runs, where one does
  double silent = 0;                // seconds since the last sign of life, of which
  double counted = 0;               // these count: others are the machine's, which had no processor for us
  double allowed = 0;               // of these
  bool deadline = false;            // the time given for a step is over; else no sign of life
  std::vector<std::string> threads = {};  // "12345 plimsoll: sleeps"
  std::string memory = {};                // pressure and swap
  std::string str() const;
};

// Of kind device. Thrown by fit() with on_stall = "raise", when what stalled has come back.
class StallError : public Error {
 public:
  explicit StallError(StallReport report);
  const StallReport& report() const noexcept { return *report_; }

 private:
  std::shared_ptr<const StallReport> report_;
};

}  // namespace plimsoll
#pragma GCC visibility pop
