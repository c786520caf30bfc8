// WithoutInitialValues: while one lives, weights made on this thread have no values yet, because a file that
// brings them all is being read. Drawing millions of numbers for nothing is most of the time of loading a
// model.
#pragma once

namespace plimsoll {

class WithoutInitialValues {
 public:
  WithoutInitialValues();
  ~WithoutInitialValues();
  WithoutInitialValues(const WithoutInitialValues&) = delete;
  WithoutInitialValues& operator=(const WithoutInitialValues&) = delete;
  static bool active();
};

}  // namespace plimsoll
