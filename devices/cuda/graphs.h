// CUDA graphs of a program, one for each set of buffers that it runs on.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "api.h"

namespace plimsoll::cuda {

// What `queue` puts on the stream as a CUDA graph, ready to be launched. Throws Error{device}.
CUgraphExec capture_graph(CUstream stream, const std::function<void()>& queue);

class GraphCache {
 public:
  GraphCache() = default;
  ~GraphCache();
  GraphCache(const GraphCache&) = delete;
  GraphCache& operator=(const GraphCache&) = delete;

  void prepare(size_t addresses);  // of a set of buffers
  // Launches the graph of these buffers and returns true. If they are seen for the second time, it is made
  // from what `queue` puts on the stream; if for the first time, nothing is launched.
  bool launch(CUstream stream, const std::vector<CUdeviceptr>& buffers, const std::function<void()>& queue);

 private:
  struct Entry {
    std::vector<CUdeviceptr> buffers;
    CUgraphExec exec = nullptr;
    uint64_t used = 0;
  };

  // Inputs take turns between two buffers, outputs may; what changes more often than that is launched by
  // itself.
  std::array<Entry, 6> entries_;
  uint64_t clock_ = 0;
};

}  // namespace plimsoll::cuda
