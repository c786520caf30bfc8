// Nodes of a program on several streams: what does not touch the same bytes may run at the same time. The
// order of the plan is kept wherever one node writes what another reads or writes, so that sharing memory
// between values stays right.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "api.h"

namespace plimsoll::cuda {

inline constexpr size_t kStreams = 3;

struct Access {
  CUdeviceptr begin, end;
  bool written;
};

// Whether one of them writes what the other reads or writes.
bool conflict(const std::vector<Access>& a, const std::vector<Access>& b);

struct Slot {
  size_t stream;
  std::vector<size_t> waits;  // for these nodes, all of other streams
  bool recorded = false;      // another stream waits for it
};
// One slot per node; `accesses` says what each of them touches, in the order of the plan.
std::vector<Slot> make_schedule(std::span<const std::vector<Access>> accesses);

// Calls queue(node, stream) for all nodes as the schedule says. The stream is being captured; the others join
// it and come back to it.
void queue_scheduled(CUstream stream, std::span<const Slot> schedule,
                     const std::function<void(size_t, CUstream)>& queue);

}  // namespace plimsoll::cuda
