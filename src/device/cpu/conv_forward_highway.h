// The plan of our own forward convolution, which is the data gradient too; see conv_forward_highway.cpp.
#pragma once

#include "device/cpu/conv_kernels.h"
#include "device/cpu/conv_segments.h"

namespace plimsoll {

struct ForwardPlan {
  ConvSegments segments;
  int64_t panel = 0;         // filters side by side: two vectors
  int64_t group_panels = 0;  // panels of one group
  int64_t rows = 0;          // window points x channels of a group: the length of each sum
  // Stretches of rows that lie next to each other in the input: {offset, length}.
  struct Run {
    int64_t offset, length;
  };
  std::vector<Run> runs;
  bool turned = false;  // the kernel is that of the convolution whose data gradient this is
  int threads = 1;
  // Layout of scratch, in elements: the packed kernel, then one buffer per thread.
  int64_t packed_elements = 0, thread_elements = 0;

  int64_t panels() const { return group_panels * segments.g.groups; }
};

// What is done to a sum before it is stored; null pointers are left out.
template <class T>
struct Epilogue {
  const T* bias = nullptr;
  const T* scale = nullptr;
  const T* residual = nullptr;  // laid out as y
  Activation activation = Activation::linear;
};

// T is float or double. `turned`: g is the data gradient (data_gradient()) of a convolution with the kernel
// given to run.
template <class T>
ForwardPlan plan_forward(const ConvGeometry& g, bool turned, int threads);
template <class T>
int64_t forward_scratch_bytes(const ForwardPlan& p);
template <class T>
void run_forward(const ForwardPlan& p, const T* x, const T* kernel, const Epilogue<T>& epilogue, T* y,
                 T* scratch);

// The convolution that makes dx of g from dy: with the kernel's window turned round, channels and filters
// swapped. Its pads may be negative.
ConvGeometry data_gradient(const ConvGeometry& g);

}  // namespace plimsoll
