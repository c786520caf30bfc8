// Small kernels as one launch: nodes that run the same text on tensors of different sizes, such as the
// updates of all variables, or the casts of all weights.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "build.h"
#include "schedule.h"

namespace plimsoll::cuda {

// Nodes in the order of a plan, as lists of those that run together. Node n may join an earlier one with the
// same key if nothing from there to n touches the same bytes as n; `most[n]` of a key at a time. An empty key
// stays alone.
std::vector<std::vector<size_t>> make_bundles(std::span<const std::vector<Access>> accesses,
                                              std::span<const std::string> keys,
                                              std::span<const size_t> most);

// Kernels with the same bundle_text() can be one launch, at most bundle_size() of them.
std::string bundle_text(const EachKernel& kernel);
size_t bundle_size(const EachKernel& kernel);

class Bundle {
 public:
  // The steps live as long as the bundle.
  explicit Bundle(std::vector<const KernelStep*> members);
  void set(CUfunction function) { function_ = function; }
  // All members read and write values, no scratch.
  void run(CUstream stream, const CUdeviceptr* values);
  size_t size() const { return members_.size(); }

 private:
  std::vector<const KernelStep*> members_;
  unsigned blocks_ = 0;
  std::vector<uint64_t> words_;
  CUfunction function_ = nullptr;
};

}  // namespace plimsoll::cuda
