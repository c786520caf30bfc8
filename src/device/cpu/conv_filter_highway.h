// The plan of our own kernel for conv_grad_filter; see conv_filter_highway.cpp.
#pragma once

#include "device/cpu/conv_segments.h"

namespace plimsoll {

struct FilterPlan {
  ConvSegments segments;
  int64_t panel = 0;         // filters side by side: two vectors
  int64_t group_panels = 0;  // panels of one group
  int64_t rows = 0;          // window points x channels of a group
  int64_t block = 1;         // segments multiplied at a time
  int64_t task_panels = 1;   // panels of one task: they share the gathered input
  int64_t group_tasks = 1;   // tasks of one group and slice
  int64_t slices = 1;
  bool packed = true;  // panels of dy are copied together; else dy is read where it lies
  int threads = 1;
  // Layout of scratch, in elements: sums of each task (per panel: the rows, then the bias), then one work
  // area per thread.
  int64_t panel_elements = 0, task_elements = 0, thread_elements = 0;
  int64_t strip_at = 0;  // of packed dy in a work area, behind the gathered input

  int64_t slice_tasks() const { return group_tasks * segments.g.groups; }
  int64_t tasks() const { return slices * slice_tasks(); }
  int64_t block_points() const { return block * segments.points(); }
};

// T is float or double.
template <class T>
FilterPlan plan_filter(const ConvGeometry& g, int threads);
template <class T>
int64_t filter_scratch_bytes(const FilterPlan& p);
// dbias may be null.
template <class T>
void run_filter(const FilterPlan& p, const T* x, const T* dy, T* dkernel, T* dbias, T* scratch);

}  // namespace plimsoll
