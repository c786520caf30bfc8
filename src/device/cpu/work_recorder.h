// (optional) Who is told, on the thread of a worker of the pool, what it has just run for someone: the
// worker's index and when. One for the process. Must not throw, wait or allocate, and must stay callable for
// ever.
#pragma once

#include <chrono>

namespace plimsoll {

using WorkRecorder = void (*)(int index, std::chrono::steady_clock::time_point begin,
                              std::chrono::steady_clock::time_point end);
void set_work_recorder(WorkRecorder recorder) noexcept;  // nullptr: nobody

}  // namespace plimsoll
