#include "schedule.h"

#include <algorithm>
#include <array>

#include "fault.h"
#include "libraries.h"

namespace plimsoll::cuda {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// Streams and events that live as long as a capture.
class Helpers {
 public:
  ~Helpers() {
    for (const CUevent event : events_) driver().event_destroy(event);
    for (const CUstream stream : streams_)
      if (stream != nullptr) driver().stream_destroy(stream);
  }
  CUstream stream(size_t i) {
    if (streams_[i] == nullptr) check(driver().stream_create(&streams_[i], kNonBlocking), "a stream");
    return streams_[i];
  }
  CUevent record(CUstream stream) {
    constexpr unsigned kNoTiming = 2;
    CUevent event = nullptr;
    check(driver().event_create(&event, kNoTiming), "an event");
    events_.push_back(event);
    check(driver().event_record(event, stream), "an event");
    return event;
  }

 private:
  std::array<CUstream, kStreams> streams_{};
  std::vector<CUevent> events_;
};

void wait(CUstream stream, CUevent event) {
  check(driver().stream_wait_event(stream, event, 0), "waiting in a graph");
}

}  // namespace

bool conflict(const std::vector<Access>& a, const std::vector<Access>& b) {
  for (const Access& x : a)
    for (const Access& y : b)
      if ((x.written || y.written) && x.begin < y.end && y.begin < x.end) return true;
  return false;
}

std::vector<Slot> make_schedule(std::span<const std::vector<Access>> accesses) {
  std::vector<Slot> slots(accesses.size());
  std::array<size_t, kStreams> last;  // node of each stream
  last.fill(kNone);
  std::array<std::array<size_t, kStreams>, kStreams>
      seen{};  // by a stream, of another: nodes below this number
  for (size_t n = 0; n < accesses.size(); ++n) {
    std::array<size_t, kStreams> needed;
    needed.fill(kNone);
    size_t latest = kNone;
    for (size_t m = n; m-- > 0;) {
      if (needed[slots[m].stream] != kNone || !conflict(accesses[n], accesses[m])) continue;
      needed[slots[m].stream] = m;
      if (latest == kNone) latest = m;
    }
    // Behind what it waits for, if nothing has come there yet; else on the stream that has been idle for
    // longest.
    Slot& slot = slots[n];
    if (latest != kNone && last[slots[latest].stream] == latest)
      slot.stream = slots[latest].stream;
    else
      slot.stream = static_cast<size_t>(
          std::ranges::min_element(last, {}, [](size_t node) { return node + 1; }) - last.begin());
    for (size_t s = 0; s < kStreams; ++s) {
      if (s == slot.stream || needed[s] == kNone || needed[s] < seen[slot.stream][s]) continue;
      slot.waits.push_back(needed[s]);
      slots[needed[s]].recorded = true;
      seen[slot.stream][s] = needed[s] + 1;
    }
    last[slot.stream] = n;
  }
  return slots;
}

void queue_scheduled(CUstream stream, std::span<const Slot> schedule,
                     const std::function<void(size_t, CUstream)>& queue) {
  Helpers helpers;
  std::array<CUstream, kStreams> streams{stream};
  std::vector<CUevent> events(schedule.size(), nullptr);
  const CUevent begin = helpers.record(stream);
  for (size_t n = 0; n < schedule.size(); ++n) {
    const Slot& slot = schedule[n];
    CUstream& own = streams[slot.stream];
    if (own == nullptr) {
      own = helpers.stream(slot.stream);
      wait(own, begin);
    }
    for (const size_t m : slot.waits) wait(own, events[m]);
    queue(n, own);
    if (slot.recorded) events[n] = helpers.record(own);
  }
  for (size_t s = 1; s < kStreams; ++s)
    if (streams[s] != nullptr) wait(stream, helpers.record(streams[s]));
}

}  // namespace plimsoll::cuda
