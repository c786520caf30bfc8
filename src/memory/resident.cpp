#include "memory/resident.h"

#include <algorithm>
#include <atomic>

#include "memory/account.h"
#include "memory/images.h"
#include "memory/pool.h"
#include "memory/readings.h"

namespace plimsoll::resident {
namespace {

// What a worker of the pool or a reader touches of its stack; measured, see 0052.
constexpr int64_t kStack = 32 << 10;
// For code that a first step brings in after everything is made (0.4 to 1.7 MB with the bench's models), and
// slack of the heap.
constexpr int64_t kSpare = 2 << 20;

std::atomic<int> threads{0};
std::atomic<bool> settled{false}, whole{false};

// Nobody else's bytes: the whole process less what is charged to others. What is charged but has not been
// touched yet, and is not known to be, makes it too small.
int64_t unknown(int64_t untouched = 0) {
  const auto process = readings::process();
  if (!process) return 0;
  const int64_t charged = account::used() - account::used(Owner::process) - untouched;
  return std::max<int64_t>(process->resident - charged, 0);
}

// In a process that counts as a whole: what was there at the start, beside the engine's images.
std::atomic<int64_t> at_start{0};

}  // namespace

Parts parts(int64_t untouched) {
  Parts p{.images = images::in_memory(), .threads = threads * kStack, .pool = pool::cached()};
  if (whole) p.rest = std::max<int64_t>(at_start, unknown(untouched) - p.sum());
  return p;
}

void settle(bool keep, int64_t untouched) {
  const int64_t bytes = parts(untouched).sum();
  account::set_measured(Owner::process,
                        keep ? std::max(bytes, account::used(Owner::process)) : bytes + kSpare);
  settled = true;
}

void ensure() {
  if (!settled) settle();
}

void count_whole_process() {
  at_start = std::max<int64_t>(unknown() - images::in_memory(), 0);
  whole = true;
  settle();
}

int64_t whole_process() noexcept { return whole ? account::used(Owner::process) : 0; }

namespace {
std::atomic<int64_t> old_peak{0};

int64_t peak_now() {
  const auto process = readings::process();
  return process ? process->peak_resident : 0;
}
}  // namespace

int64_t new_peak() {
  if (!whole) return 0;
  const int64_t peak = peak_now();
  return peak != old_peak ? peak : 0;
}
void forget_peak() { old_peak = peak_now(); }

void add_thread() noexcept { ++threads; }
void remove_thread() noexcept { --threads; }

}  // namespace plimsoll::resident
