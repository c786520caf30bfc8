#pragma once

#include <vector>

namespace plimsoll {

// The boundaries of `bins` bins that hold about as many of the values each, as Keras's Discretization finds
// them in an adapt(): by quantiles of a summary of about 1 / epsilon points. Requires: some values, bins > 1,
// 0 < epsilon <= 1.
std::vector<double> bin_boundaries_of(std::vector<float> values, int bins, double epsilon);

}  // namespace plimsoll
