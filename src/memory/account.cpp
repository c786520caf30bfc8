#include "memory/account.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "common/bytes.h"
#include "common/fork.h"
#include "memory/planning.h"
#include "plimsoll/error.h"

namespace plimsoll {

std::string_view name_of(Owner owner) {
  constexpr std::array<std::string_view, kOwnerCount> kNames = {
      "weights", "state", "arena", "scratch", "staging", "data", "programs", "tensors", "process"};
  return kNames[static_cast<size_t>(owner)];
}

namespace account {
namespace {

std::array<std::atomic<int64_t>, kOwnerCount> by_owner{};
std::atomic<int64_t> total{0};
std::atomic<int64_t> highest{0};
std::atomic<int64_t> line{kNoLimit};
std::atomic<int64_t> charge_count{0};
std::atomic<int64_t> fail_countdown{0};

std::atomic<int64_t>& of(Owner owner) { return by_owner[static_cast<size_t>(owner)]; }

void raise_peak(int64_t now) {
  int64_t seen = highest.load(std::memory_order_relaxed);
  while (now > seen && !highest.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

// Never destroyed: what is in static storage may end after any destructor of ours.
struct Reclaimers {
  ForkMutex mutex{LockOrder::reclaim};
  std::vector<Reclaimer*> list;
  std::atomic<int64_t> begun{0},
      ended{0};  // things given up, and those of them whose destructors are through
};
Reclaimers& reclaimers() {
  static auto* const all = new Reclaimers;
  return *all;
}

thread_local int planning = 0;

// Checked and taken in one exchange: a charge that is refused is never seen by another thread.
bool take(int64_t bytes) {
  int64_t now = total.load(std::memory_order_relaxed);
  do {
    const int64_t most = planning > 0 ? kNoLimit : line.load(std::memory_order_relaxed);
    if (now > most || bytes > most - now) [[unlikely]]
      return false;
  } while (!total.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  raise_peak(now + bytes);
  return true;
}

bool chosen_to_fail() {
  int64_t left = fail_countdown.load(std::memory_order_relaxed);
  while (left > 0) {
    if (fail_countdown.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) return left == 1;
  }
  return false;
}

}  // namespace

void charge(Owner owner, int64_t bytes) {
  require(bytes >= 0, "memory", "expected a size to charge that is not negative, got ", bytes);
  charge_count.fetch_add(1, std::memory_order_relaxed);
  if (chosen_to_fail()) [[unlikely]] {
    fail(ErrorKind::out_of_memory, "memory", bytes_text(bytes), " for ", name_of(owner),
         " refused by the test that asked for it");
  }
  if (!take_or_reclaim([&] { return take(bytes); })) {
    fail(ErrorKind::out_of_memory, "memory", bytes_text(bytes), " for ", name_of(owner),
         " would cross the line of ", bytes_text(limit()), ": ", bytes_text(used()), " are in use");
  }
  of(owner).fetch_add(bytes, std::memory_order_relaxed);
}

void release(Owner owner, int64_t bytes) noexcept {
  of(owner).fetch_sub(bytes, std::memory_order_relaxed);
  total.fetch_sub(bytes, std::memory_order_relaxed);
}

void hand_over(Owner from, Owner to, int64_t bytes) noexcept {
  of(from).fetch_sub(bytes, std::memory_order_relaxed);
  of(to).fetch_add(bytes, std::memory_order_relaxed);
}

Planning::Planning() noexcept { ++planning; }
Planning::~Planning() { --planning; }

void set_measured(Owner owner, int64_t bytes) noexcept {
  const int64_t before = of(owner).exchange(bytes, std::memory_order_relaxed);
  raise_peak(total.fetch_add(bytes - before, std::memory_order_relaxed) + bytes - before);
}

void Reclaimer::begin_reclaiming() {
  const std::lock_guard lock(reclaimers().mutex);
  reclaimers().list.push_back(this);
}

void Reclaimer::end_reclaiming() noexcept {
  const std::lock_guard lock(reclaimers().mutex);
  std::erase(reclaimers().list, this);
}

namespace {

// Whether a thing that another thread is giving up, one of those before `begun`, has ended. Not waited for
// long: that thread may be waiting for this one.
bool another_ended(int64_t begun) {
  constexpr int kMostWaits = 1000;
  for (int i = 0; i < kMostWaits && reclaimers().ended < begun; ++i)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  return reclaimers().ended >= begun;
}

}  // namespace

// The lock is held while they are asked, so that none of them ends meanwhile, and no longer: what is given up
// may wait in its destructor for a thread that is itself about to charge something.
bool reclaim() noexcept {
  Reclaimers& all = reclaimers();
  std::unique_ptr<Reclaimer::Thing> given_up;
  std::unique_lock lock(all.mutex);
  for (Reclaimer* r : all.list) {
    given_up = r->give_up_one();
    if (given_up != nullptr) break;
  }
  const int64_t begun = given_up ? ++all.begun : all.begun.load();
  const bool others = all.ended < begun;
  lock.unlock();
  if (given_up == nullptr) return others && another_ended(begun);
  given_up.reset();
  ++all.ended;
  return true;
}

int64_t used(Owner owner) noexcept { return of(owner).load(std::memory_order_relaxed); }
int64_t used() noexcept { return total.load(std::memory_order_relaxed); }
int64_t peak() noexcept { return highest.load(std::memory_order_relaxed); }
void reset_peak() noexcept { highest.store(used(), std::memory_order_relaxed); }
int64_t limit() noexcept { return line.load(std::memory_order_relaxed); }
void set_limit(int64_t bytes) noexcept { line.store(bytes < 0 ? 0 : bytes, std::memory_order_relaxed); }

void fail_nth_charge(int64_t n) noexcept { fail_countdown.store(n < 0 ? 0 : n, std::memory_order_relaxed); }
int64_t charges() noexcept { return charge_count.load(std::memory_order_relaxed); }

}  // namespace account
}  // namespace plimsoll
