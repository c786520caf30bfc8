#include "guard/stall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "common/bytes.h"

namespace plimsoll::guard {

namespace {

constexpr double kIdleShare = 0.03, kBusyShare = 0.5;
constexpr double kPressure = 30, kFaultsPerSecond = 200;
constexpr int64_t kMovesBytes = 1 << 20;
constexpr int kSeen = 3;             // in fewer readings, a thread that wakes often may seem not to
constexpr double kLongNap = 1.5;     // seconds; shorter ones are rounds that a thread does
constexpr double kLongLimit = 3;     // seconds; of a wait that is begun again each time
constexpr double kPerWake = 0.0002;  // seconds; one that only asks for a lock takes a tenth of it each time

struct Rates {
  double seconds = 1, cpu = 0, faults = 0, pressure = 0;
  double child_cpu = 0;
  bool children_work = false, threads_work = false;
  int64_t io = 0, memory_moved = 0, wakes = 0;
  double seconds_per_wake = 0;
};

Rates rates_of(const std::deque<StallReading>& readings) {
  Rates r;
  const StallReading& first = readings.front();
  const StallReading& last = readings.back();
  r.seconds = std::max(1e-3, last.time - first.time);
  r.cpu = (last.cpu - first.cpu) / r.seconds;
  r.child_cpu = (last.child_cpu - first.child_cpu) / r.seconds;
  r.faults = static_cast<double>(last.major_faults - first.major_faults) / r.seconds;
  r.io = last.io_bytes - first.io_bytes;
  const StallReading& middle = readings[readings.size() / 2];  // what led to the wait is over by then
  r.wakes = last.wakes - middle.wakes;
  r.seconds_per_wake = (last.time - middle.time) / static_cast<double>(std::max<int64_t>(1, r.wakes));
  // On a loaded machine what works gets little of the processor, but is always found ready to run.
  const auto mostly = [&](auto&& is) {
    return 2 * std::count_if(readings.begin(), readings.end(), is) > static_cast<ptrdiff_t>(readings.size());
  };
  r.children_work = r.child_cpu > kIdleShare || mostly([](auto& x) { return x.child_running; });
  r.threads_work = r.cpu > kIdleShare || mostly([](auto& x) { return x.doing == Doing::running; }) ||
                   mostly([](auto& x) { return x.others_running; });
  for (const auto& reading : readings) {
    r.pressure = std::max(r.pressure, reading.memory_pressure);
    r.memory_moved = std::max(r.memory_moved, std::abs(reading.resident - first.resident));
  }
  return r;
}

bool ends_with(const std::vector<std::string>& frames, const std::vector<std::string>& outer) {
  return frames.size() >= outer.size() && std::equal(outer.rbegin(), outer.rend(), frames.rbegin());
}

// A loop that waits may call a function to look, and is found in it or not: of all stacks the shortest tells
// where the loop is.
const StallSample& shortest(const StallSamples& samples) {
  return *std::min_element(samples.begin(), samples.end(),
                           [](auto& a, auto& b) { return a.frames.size() < b.frames.size(); });
}

bool same_place(const StallSamples& samples) {
  return samples.size() >= 3 && std::all_of(samples.begin(), samples.end(), [&](auto& s) {
           return ends_with(s.frames, shortest(samples).frames);
         });
}

// The marks of the frames that the shortest stack has too.
std::vector<std::string> common_marks(const StallSample& sample, size_t depth) {
  const size_t inner = sample.frames.size() - depth;
  if (sample.marks.size() <= inner) return {};
  return {sample.marks.begin() + static_cast<ptrdiff_t>(inner), sample.marks.end()};
}

bool differ(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return !std::equal(a.begin(), a.begin() + static_cast<ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
}

// A loop that counts or computes changes some variable; one that waits for a flag or the clock changes none.
enum class Values { unknown, same, changing };
Values values_of(const StallSamples& samples) {
  std::vector<std::vector<std::string>> marks;
  for (const auto& s : samples) {
    auto m = common_marks(s, shortest(samples).frames.size());
    if (!m.empty()) marks.push_back(std::move(m));
  }
  if (marks.size() < 2) return Values::unknown;
  const bool change = std::any_of(marks.begin(), marks.end(), [&](auto& m) { return differ(m, marks[0]); });
  return change ? Values::changing : Values::same;
}

// Whether the frame that all have in common may get on though no variable changes.
bool may_get_on_unseen(const StallSamples& samples) {
  return std::any_of(samples.begin(), samples.end(), [&](auto& s) {
    const size_t inner = s.frames.size() - shortest(samples).frames.size();
    return inner < s.unseen.size() && s.unseen[inner];
  });
}

bool moves_on(const StallSamples& samples) {
  const auto moved = [&](auto& s) { return !s.frames.empty() && s.frames != samples.back().frames; };
  return samples.size() >= 2 && !samples.back().frames.empty() &&
         (values_of(samples) == Values::changing || std::any_of(samples.begin(), samples.end(), moved));
}

bool innermost_is(const StallSamples& samples, const char* text) {
  return !samples.empty() && !samples.back().frames.empty() &&
         samples.back().frames[0].find(text) != std::string::npos;
}

bool is_in(const StallSamples& samples, const char* text) {
  if (samples.empty()) return false;
  const auto& frames = samples.back().frames;
  return std::any_of(frames.begin(), frames.end(),
                     [&](auto& f) { return f.find(text) != std::string::npos; });
}

// As asked, or for a time that is limited.
bool sleeps_in_a_coroutine(const StallSamples& samples) {
  return innermost_is(samples, "/asyncio/tasks.py ") &&
         (innermost_is(samples, " in sleep\n") || innermost_is(samples, " in wait_for\n"));
}

bool waits_for_threads(const StallSamples& samples) {
  return innermost_is(samples, "/threading.py ") || innermost_is(samples, "/queue.py ");
}

using Sleepers = std::map<pid_t, int64_t> StallReading::*;

// Whether somebody sleeps, if only now and then.
bool sleeps(const std::deque<StallReading>& readings, Sleepers who) {
  constexpr size_t kLast = 5;
  const size_t count = std::min(readings.size(), kLast);
  return std::any_of(readings.end() - static_cast<ptrdiff_t>(count), readings.end(),
                     [&](auto& r) { return !(r.*who).empty(); });
}

// Whether somebody has slept from one reading to the next but one and not woken. Whoever has just woken from
// a long sleep may be about to do what is waited for.
bool sleeps_long(const std::deque<StallReading>& readings, Sleepers who) {
  for (size_t i = 2; i < readings.size(); ++i) {
    const auto& before = readings[i - 2].*who;
    const auto& then = readings[i].*who;
    const bool any = std::any_of(before.begin(), before.end(), [&](auto& s) {
      const auto same = then.find(s.first);
      return same != then.end() && same->second == s.second;
    });
    if (any) return true;
  }
  return false;
}

// The same by how long it means to sleep. Native code that works a little every two seconds is seen by this.
bool naps_long(const std::deque<StallReading>& readings) {
  return std::any_of(readings.begin(), readings.end(), [](auto& r) { return r.longest_nap >= kLongNap; });
}

// Whether somebody waits for a time and then does what it came for, as each threading.Timer does: it has not
// woken in all the while. One that wakes every ten seconds, as the monitor of a progress bar, does its
// rounds.
bool waits_for_a_time(const std::deque<StallReading>& readings, Sleepers who) {
  struct Seen {
    int64_t wakes = 0;
    int times = 0;
    bool woken = false;
  };
  std::map<pid_t, Seen> all;
  for (const auto& r : readings) {
    for (const auto& [thread, wakes] : r.*who) {
      Seen& s = all[thread];
      s.woken = s.woken || (s.times > 0 && s.wakes != wakes);
      s.wakes = wakes;
      ++s.times;
    }
  }
  return std::any_of(all.begin(), all.end(),
                     [](auto& s) { return s.second.times >= kSeen && !s.second.woken; });
}

// Whether some other thread works, however little of the processor a loaded machine gives it. Threads of
// Python that ask for the interpreter's lock wake two hundred times a second and do no more than ask.
bool another_computes(const std::deque<StallReading>& readings) {
  struct Seen {
    double since = 0, until = 0;
    ThreadUse first, last;
    size_t times = 0;
  };
  std::map<pid_t, Seen> all;
  for (const auto& r : readings) {
    for (const auto& [thread, use] : r.running_threads) {
      Seen& s = all[thread];
      if (s.times++ == 0) s.first = use, s.since = r.time;
      s.last = use, s.until = r.time;
    }
  }
  return std::any_of(all.begin(), all.end(), [&](auto& one) {
    const Seen& s = one.second;
    const double cpu = s.last.cpu - s.first.cpu;
    const bool mostly = 2 * s.times > readings.size();
    const bool much = s.times >= 2 && cpu > kIdleShare * (s.until - s.since);
    return (mostly || much) && cpu >= kPerWake * static_cast<double>(s.last.wakes - s.first.wakes);
  });
}

// The gate's thread has been seen to ask for the interpreter's lock all the time, and not to get it.
bool asked_in_vain(const std::deque<StallReading>& readings) {
  const pid_t asks = readings.back().asks_for_lock;
  return asks != 0 && readings.size() >= kSeen &&
         std::all_of(readings.end() - kSeen, readings.end(),
                     [&](auto& r) { return r.asks_for_lock == asks; });
}

// The main thread mostly does one thing; a reading may fall between two waits.
Doing usual(const std::deque<StallReading>& readings) {
  int counts[kDoings] = {};
  for (const auto& r : readings) ++counts[static_cast<int>(r.doing)];
  return static_cast<Doing>(std::max_element(counts, counts + kDoings) - counts);
}

StallVerdict lock_verdict(const std::deque<StallReading>& readings, const Rates& r,
                          const StallSamples& python) {
  const StallVerdict for_data = {StallKind::waiting_for_io,
                                 "the main thread waits for another thread, and that one for data"};
  const StallReading& last = readings.back();
  if (last.others_wait_for_io && !sleeps(readings, &StallReading::sleeping_threads)) return for_data;
  // A threading.Timer waits with a time limit.
  const bool for_others =
      waits_for_threads(python) && (sleeps(readings, &StallReading::sleeping_threads) ||
                                    sleeps(readings, &StallReading::sleeping_children) ||
                                    waits_for_a_time(readings, &StallReading::timed_threads));
  if (for_others || sleeps_long(readings, &StallReading::sleeping_threads) || naps_long(readings))
    return {StallKind::sleeping, "it waits for a thread or a process that sleeps, as the program asked"};
  if (last.others_wait_for_io || last.others_poll) return for_data;
  return {StallKind::deadlocked, fmt::format("the main thread waits for a lock and nothing runs that "
                                             "could release it ({:.1f} % CPU in {:.0f} s)",
                                             100 * r.cpu, r.seconds)};
}

// Native code that looks for something, sleeps and looks again, and never comes back to Python: it wakes
// between any two readings. What it waits for may be a process of the program's that sleeps.
bool polls_in_one_call(const std::deque<StallReading>& readings, const StallSamples& python) {
  constexpr size_t kLast = 5;
  const auto still = [](auto& a, auto& b) { return b.wakes <= a.wakes; };
  const auto begin = readings.end() - static_cast<ptrdiff_t>(std::min(readings.size(), kLast));
  return python.size() >= 2 && python.back().one_call && python[python.size() - 2].one_call &&
         std::adjacent_find(begin, readings.end(), still) == readings.end() &&
         !sleeps(readings, &StallReading::sleeping_children);
}

// An event loop that waits for a time, if only now and then: a call of its own will come.
bool loop_has_timer(const std::deque<StallReading>& readings) {
  constexpr size_t kLast = 5;
  const auto begin = readings.end() - static_cast<ptrdiff_t>(std::min(readings.size(), kLast));
  return std::any_of(begin, readings.end(), [](auto& r) { return r.has_timer; });
}

// Nobody is there who could set an event of asyncio, or free its lock.
bool awaits_for_ever(const std::deque<StallReading>& readings, const StallSamples& python) {
  const bool in_lock =
      innermost_is(python, "/asyncio/locks.py ") || innermost_is(python, "/asyncio/queues.py ");
  const StallReading& last = readings.back();
  return in_lock && python.back().awaits_alone && !last.others_wait_for_io && !last.others_poll &&
         !sleeps(readings, &StallReading::sleeping_threads) &&
         !sleeps(readings, &StallReading::sleeping_children);
}

// While native code keeps the interpreter's lock, other threads of Python wake only to ask for it. It may
// have threads of its own that work for it, or be one itself.
bool keeps_lock(const std::deque<StallReading>& readings, const StallSamples& python) {
  const bool told = same_place(python) && !moves_on(python) &&
                    std::all_of(python.begin(), python.end(), [](auto& s) { return s.keeps_lock; });
  return (told || asked_in_vain(readings)) && usual(readings) != Doing::running &&
         !another_computes(readings);
}

StallVerdict sleep_verdict(const std::deque<StallReading>& readings, const StallSamples& python) {
  if (polls_in_one_call(readings, python))
    return {StallKind::waiting_for_io,
            "native code looks for something over and over and sleeps in between: it waits for a lock, of a "
            "database "
            "perhaps, or for a device"};
  if ((!python.empty() && python.back().keeps_lock) || asked_in_vain(readings))
    return {StallKind::deadlocked,
            "native code sleeps and keeps the interpreter's lock, so that no Python can run"};
  return {StallKind::sleeping, "it sleeps, as the program asked"};
}

// A wait with a time limit is a sleep, unless it is begun over and over.
Doing plain(Doing doing, const Rates& r) {
  if (doing == Doing::timed_lock)
    return r.wakes == 0 || r.seconds_per_wake >= kLongLimit ? Doing::sleep : Doing::lock;
  if (doing == Doing::timed_poll) return r.wakes == 0 ? Doing::sleep : Doing::poll;
  return doing;
}

// An alarm that rings once limits any wait; one that rings over and over ends those for a signal.
bool alarm_ends_it(const StallReading& last, Doing doing) {
  if (doing == Doing::signal) return last.alarm != Alarm::none || last.has_timer;
  return last.alarm == Alarm::once;
}

StallVerdict idle_verdict(const std::deque<StallReading>& readings, const Rates& r,
                          const StallSamples& python) {
  const Doing found = usual(readings), doing = plain(found, r);
  if (alarm_ends_it(readings.back(), doing)) return {StallKind::sleeping, "its alarm clock is set"};
  if (doing == Doing::lock) return lock_verdict(readings, r, python);
  if (doing == Doing::sleep || sleeps_in_a_coroutine(python)) return sleep_verdict(readings, python);
  if (doing == Doing::poll && loop_has_timer(readings))
    return {StallKind::sleeping, "its event loop waits for a time, as the program asked"};
  const bool for_a_thread =
      innermost_is(python, "/asyncio/threads.py ") || (!python.empty() && python.back().awaits_thread);
  if (for_a_thread && sleeps(readings, &StallReading::sleeping_threads))
    return {StallKind::sleeping, "it awaits a thread that sleeps, as the program asked"};
  if (doing == Doing::file_lock) {
    const std::string& holder = readings.back().lock_holder;
    return {StallKind::waiting_for_io,
            "it waits for the lock on a file" +
                (holder.empty() ? ", which somebody else holds" : ", which process " + holder + " holds")};
  }
  if (doing == Doing::signal) return {StallKind::waiting_for_io, "it waits for a signal that nobody sends"};
  if (awaits_for_ever(readings, python))
    return {StallKind::deadlocked,
            "it awaits an event or a lock of asyncio, and no other task is there to set or release it"};
  if (doing == Doing::disk)
    return {StallKind::waiting_for_io, "it waits for a disk or a network file system"};
  const bool for_a_child =
      doing == Doing::child || (doing == Doing::poll && is_in(python, "/subprocess.py "));
  if (for_a_child && sleeps(readings, &StallReading::sleeping_children))
    return {StallKind::sleeping, "it waits for a process that sleeps, as the program asked"};
  if ((doing == Doing::io || doing == Doing::child) && r.wakes > 0)
    return {StallKind::slow, fmt::format("data comes in, slowly ({} times)", r.wakes)};
  if (doing == Doing::child)
    return {StallKind::waiting_for_io, "it waits for a child process, or for a pipe"};
  if (found == Doing::timed_poll)
    return {StallKind::sleeping, "it looks for data now and then, as the program asked", true};
  if (doing == Doing::io || doing == Doing::poll)
    return {StallKind::waiting_for_io, "it waits for a network connection, a pipe or a child process"};
  return {StallKind::waiting_for_io, "it uses no processor time and waits for something outside"};
}

// One worker may be killed, and its task be lost; those that end from one second to the next do no tasks.
bool workers_end(const StallSamples& python) {
  return python.size() >= 2 && python.back().workers_end && python[python.size() - 2].workers_end;
}

// Whoever waits in vain, by threads and pipes perhaps, while a process that it started is stopped, waits for
// that.
StallVerdict or_stopped(StallVerdict verdict, const std::string& child) {
  if (child.empty() || (verdict.kind != StallKind::deadlocked && verdict.kind != StallKind::waiting_for_io))
    return verdict;
  return {StallKind::stopped,
          fmt::format("it waits, and process {} that it started was stopped (SIGSTOP or a debugger); "
                      "`kill -CONT {}` lets that go on",
                      child, child.substr(0, child.find(' ')))};
}

}  // namespace

const char* name_of(StallKind kind) {
  constexpr const char* kNames[] = {"working",        "slow",           "spinning",          "deadlocked",
                                    "memory-stalled", "waiting on I/O", "waiting for input", "sleeping",
                                    "GPU hang",       "stopped"};
  return kNames[static_cast<size_t>(kind)];
}

StallVerdict judge_stall(const std::deque<StallReading>& readings, bool waiting_for_input,
                         const StallSamples& python) {
  if (waiting_for_input) return {StallKind::waiting_for_input, "it waits for you to type something"};
  if (readings.size() < 3) return {};
  if (readings.back().doing == Doing::stopped)
    return {StallKind::stopped,
            "something stopped the process (SIGSTOP or a debugger); `kill -CONT` lets it go on"};
  if (workers_end(python))
    return {StallKind::deadlocked,
            "the worker processes of its pool end one after another, and it starts others for ever: an "
            "initializer that fails, perhaps"};
  const Rates r = rates_of(readings);
  if (r.cpu < kBusyShare && (r.faults > kFaultsPerSecond || r.pressure > kPressure)) {
    return {StallKind::memory_stalled, fmt::format("it waits for memory: {:.0f} pages a second from disk, "
                                                   "{:.0f} % of the time lost to memory pressure",
                                                   r.faults, r.pressure)};
  }
  const bool moves = r.io > kMovesBytes || r.memory_moved > kMovesBytes || r.children_work;
  const bool stands = same_place(python);
  const bool bytecode = std::all_of(python.begin(), python.end(), [](auto& s) { return s.bytecode; });
  if (readings.back().gpu_in_use && stands && !bytecode && !moves) {
    return {StallKind::gpu_hang,
            fmt::format("it has waited for the GPU at the same line for {:.0f} s", r.seconds)};
  }
  const bool kept = keeps_lock(readings, python);
  const bool idle = kept || (!r.threads_work && !moves_on(python));
  if (idle && !r.children_work && r.io <= kMovesBytes)
    return or_stopped(idle_verdict(readings, r, python), readings.back().stopped_child);
  if (usual(readings) == Doing::running && stands && bytecode && values_of(python) == Values::same &&
      !may_get_on_unseen(python) && !moves) {
    return {StallKind::spinning,
            fmt::format(
                "one line of Python runs over and over, and nothing else changes ({:.0f} % CPU in {:.0f} s)",
                100 * r.cpu, r.seconds)};
  }
  return {StallKind::slow,
          fmt::format("it works: {:.0f} % CPU, {} read and written, memory moved by {}",
                      100 * (r.cpu + r.child_cpu), bytes_text(r.io), bytes_text(r.memory_moved))};
}

}  // namespace plimsoll::guard
