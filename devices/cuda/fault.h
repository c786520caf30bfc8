// Failures inside the plug-in are exceptions; at its border they become a plimsoll_error.
#pragma once

#include <cstdio>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "api.h"
#include "plimsoll/device.h"
#include "plimsoll/error.h"

namespace plimsoll::cuda {

// A call of the driver that failed. After some of them (a kernel that faulted, a lost GPU) nothing in this
// process can use the device again.
class Fault : public Error {
 public:
  Fault(CUresult result, std::string_view place, std::string_view message);
  bool lost() const { return lost_; }

 private:
  bool lost_;
};

// Throws the Fault of a result that is not success.
void check_slow(CUresult result, const char* what);
inline void check(CUresult result, const char* what) {
  if (result != kSuccess) [[unlikely]]
    check_slow(result, what);
}

// A failure in a node of a graph.
struct NodeError {
  std::exception_ptr cause;
  plimsoll_program* program;
  int32_t node;
};

// Fills in what the exception in flight says, and returns its kind.
int32_t report_current(plimsoll_error* error) noexcept;

// Runs f(), which returns nothing or a pointer; returns the kind of the error that it throws, or a null
// pointer.
template <class F>
auto guarded(plimsoll_error* error, F&& f) noexcept {
  using Result = std::conditional_t<std::is_void_v<decltype(f())>, int32_t, decltype(f())>;
  try {
    if constexpr (!std::is_void_v<decltype(f())>) return f();
    f();
    return Result{};
  } catch (...) {
    const int32_t kind = report_current(error);
    if constexpr (std::is_pointer_v<Result>)
      return Result{nullptr};
    else
      return kind;
  }
}

}  // namespace plimsoll::cuda
