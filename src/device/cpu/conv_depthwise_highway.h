// Our own kernels for depthwise convolutions: as many groups as channels and as filters. Vectors run along
// the channels. Results do not depend on the number of threads.
#pragma once

#include "device/cpu/conv_segments.h"

namespace plimsoll {

struct DepthwisePlan {
  ConvSegments segments;
  bool turned = false;  // the kernel is that of the convolution whose data gradient this is
  int64_t slices = 1;   // of the segments, for sums over points
  int threads = 1;
  int64_t thread_elements = 0;  // one buffer per thread; before them, for sums, one table per slice
};

bool is_depthwise(const ConvGeometry& g);
// T is float or double. `turned`: g is data_gradient() of a convolution with the kernel given to run.
template <class T>
DepthwisePlan plan_depthwise(const ConvGeometry& g, bool turned, bool sums, int threads);
template <class T>
int64_t depthwise_scratch_bytes(const DepthwisePlan& p, bool sums);
template <class T>
void run_depthwise(const DepthwisePlan& p, const T* x, const T* kernel, T* y, T* scratch);
// dbias may be null.
template <class T>
void run_depthwise_filter(const DepthwisePlan& p, const T* x, const T* dy, T* dkernel, T* dbias, T* scratch);

}  // namespace plimsoll
