// How losses and metrics of samples become one number: keras/src/losses/loss.py and
// metrics/reduction_metrics.py.
#pragma once

#include <string_view>

#include "plimsoll/metrics.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// The weight with the mask in it. For the reductions that divide by the number of samples ("mean",
// "sum_over_batch_size"), what is left weighs more, so that the mean is over what is not masked. Undefined:
// neither.
Tensor apply_mask(const Tensor& weight, const Tensor& mask, DType dtype, std::string_view reduction);
// A scalar; with the reduction "none" the weighted values.
Tensor reduce_weighted(const Tensor& values, const Tensor& weight, const Tensor& mask,
                       std::string_view reduction);

// Adds values (weighted) to the states "total" and "count", as Keras's Mean does. `mask` is of the values.
void add_to_mean(MetricScope& s, const Tensor& values, const Tensor& weight, const Tensor& mask = {});

}  // namespace plimsoll
