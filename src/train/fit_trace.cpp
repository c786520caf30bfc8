#include "train/fit_trace.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "common/files.h"
#include "common/json.h"
#include "device/cpu/work_recorder.h"
#include "exec/steps.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;
using Clock = KernelRecorder::Clock;

constexpr size_t kMostEvents = 100'000;
constexpr int kRunsOfEach = 10;  // of a Program, whose kernels are recorded
constexpr uint16_t kCounter = 0xFFFF;

// Workers may still note something when a trace has ended, so that this lives as long as they do.
struct WorkerEvent {
  std::atomic<bool> whole;
  int index;
  uint32_t name;
  Clock::time_point begin, end;
};
constexpr size_t kMostWorkerEvents = 1 << 15;
std::array<WorkerEvent, kMostWorkerEvents> worker_events;
std::atomic<size_t> worker_next{0};
std::atomic<uint32_t> kernel_now{0};  // the name of what runs
std::atomic<bool> taken{false};       // by a trace: one at a time has the workers

void note_work(int index, Clock::time_point begin, Clock::time_point end) {
  const size_t at = worker_next.fetch_add(1, std::memory_order_relaxed);
  if (at >= kMostWorkerEvents) return;
  WorkerEvent& e = worker_events[at];
  e.index = index;
  e.name = kernel_now.load(std::memory_order_relaxed);
  e.begin = begin;
  e.end = end;
  e.whole.store(true, std::memory_order_release);
}

std::vector<int64_t> live_bytes(const Steps& steps) {
  std::vector<int64_t> live(steps.size(), 0);
  for (const ArenaSpan& span : steps.timeline()) {
    const auto last = std::min(static_cast<size_t>(span.last) + 1, live.size());
    for (auto i = static_cast<size_t>(span.first); i < last; ++i) live[i] += span.bytes;
  }
  return live;
}

double micros(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

Json thread_name(int pid, int thread, const std::string& name) {
  return {{"name", "thread_name"}, {"ph", "M"}, {"pid", pid}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

FitTrace::FitTrace(std::filesystem::path path) : path_(std::move(path)) {
  const std::filesystem::path folder = path_.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    fail(ErrorKind::io, "trace", "there is no folder ", folder.string());
  charge_.set(Owner::programs, static_cast<int64_t>(kMostEvents * sizeof(Event)));
  events_.reserve(kMostEvents);
  const uint32_t nothing = id_of("(nothing of this fit)");
  in_use_ = id_of("in use in the arena");
  run_ = id_of("run of a Program");
  if (!taken.exchange(true)) {
    for (WorkerEvent& e : worker_events) e.whole.store(false, std::memory_order_relaxed);
    worker_next = 0;
    kernel_now = nothing;
    first_worker_event_ = 0;
    set_work_recorder(note_work);
  } else {
    first_worker_event_ = kMostWorkerEvents;
  }
}

FitTrace::~FitTrace() {
  if (first_worker_event_ == kMostWorkerEvents) return;
  set_work_recorder(nullptr);
  taken = false;
}

int64_t FitTrace::since_start(Clock::time_point t) const {
  return std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::nanoseconds>(t - start_).count());
}

uint32_t FitTrace::id_of(const std::string& name) {
  const auto [place, added] = ids_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (added) names_.push_back(name);
  return place->second;
}

bool FitTrace::room(size_t events) noexcept { return events_.size() + events <= kMostEvents; }

void FitTrace::put(const Event& e) noexcept {
  if (room(1))
    events_.push_back(e);  // there is room: nothing is allocated
  else
    ++left_out_;
}

void FitTrace::add(std::string_view name, Clock::time_point begin, Clock::time_point end) noexcept {
  try {
    put({since_start(begin), since_start(end) - since_start(begin), id_of(std::string(name)), 0});
  } catch (const std::bad_alloc&) {
    ++left_out_;
  }
}

void FitTrace::count_memory() noexcept try {
  const int64_t now = since_start(Clock::now());
  for (int i = 0; i < kOwnerCount; ++i) {
    const auto owner = static_cast<Owner>(i);
    put({now, account::used(owner), id_of(std::string(name_of(owner))), kCounter});
  }
} catch (const std::bad_alloc&) {
  ++left_out_;
}

bool FitTrace::begin_run(const Steps& steps) noexcept try {
  now_ = nullptr;
  Recorded& r = recorded_[&steps];
  if (r.names.size() != steps.size()) {  // new, or another one where one was
    r = {};
    for (size_t i = 0; i < steps.size(); ++i)
      r.names.push_back(id_of(steps.step_name(i) + (steps.runs_again(i) ? " (again)" : "")));
    r.live = live_bytes(steps);
  }
  if (r.runs >= kRunsOfEach || !room(2 * steps.size())) return false;
  ++r.runs;
  now_ = &r;
  run_since_ = Clock::now();
  kernel_now.store(r.names.empty() ? 0 : r.names[0], std::memory_order_relaxed);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void FitTrace::kernel(size_t step, Clock::time_point begin, Clock::time_point end) noexcept {
  const int64_t at = since_start(begin);
  put({at, since_start(end) - at, now_->names[step], 0});
  put({at, now_->live[step], in_use_, kCounter});
  const size_t next = step + 1;
  kernel_now.store(next < now_->names.size() ? now_->names[next] : 0, std::memory_order_relaxed);
}

void FitTrace::end_run() noexcept {
  const int64_t at = since_start(run_since_);
  put({at, since_start(Clock::now()) - at, run_, 0});
  put({since_start(Clock::now()), 0, in_use_, kCounter});
  count_memory();
}

std::string FitTrace::json() const {
  const int pid = static_cast<int>(::getpid());
  std::vector<Event> all = events_;
  const size_t noted = std::min(worker_next.load(), kMostWorkerEvents);
  int most_workers = 0;
  for (size_t i = first_worker_event_; i < noted; ++i) {
    const WorkerEvent& e = worker_events[i];
    if (!e.whole.load(std::memory_order_acquire)) continue;
    const int64_t at = since_start(e.begin);
    all.push_back({at, since_start(e.end) - at, e.name, static_cast<uint16_t>(e.index)});
    most_workers = std::max(most_workers, e.index);
  }
  // Of those that begin together the longest is outside.
  std::ranges::stable_sort(all, [](const Event& a, const Event& b) {
    const auto length = [](const Event& e) { return e.thread == kCounter ? 0 : e.length; };
    return a.begin != b.begin ? a.begin < b.begin : length(a) > length(b);
  });
  std::string text = "{\"displayTimeUnit\":\"ms\",\"otherData\":";
  text += Json{{"events_left_out", left_out_}}.dump() + ",\"traceEvents\":[\n";
  text +=
      Json{{"name", "process_name"}, {"ph", "M"}, {"pid", pid}, {"tid", 0}, {"args", {{"name", "plimsoll"}}}}
          .dump();
  text += ",\n" + thread_name(pid, 0, "fit").dump();
  for (int i = 1; i <= most_workers; ++i) text += ",\n" + thread_name(pid, i, concat("worker ", i)).dump();
  for (const Event& e : all) {
    Json event;
    if (e.thread == kCounter) {
      event = {{"name", concat("memory: ", names_[e.name])},
               {"ph", "C"},
               {"ts", micros(e.begin)},
               {"pid", pid},
               {"args", {{"bytes", e.length}}}};
    } else {
      event = {{"name", names_[e.name]},  {"ph", "X"},  {"ts", micros(e.begin)},
               {"dur", micros(e.length)}, {"pid", pid}, {"tid", e.thread}};
    }
    text += ",\n" + event.dump();
  }
  return text + "\n]}\n";
}

void FitTrace::write() const {
  const std::string text = json();
  write_atomically(path_, [&](NewFile& file) { file.write(text.data(), text.size()); });
}

}  // namespace plimsoll
