#include "layers/base/quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plimsoll {
namespace {

// Points in order, and how many values each stands for.
struct Summary {
  std::vector<double> points, weights;
};

// NumPy's interp of one place: linear between, the ends beyond.
double between(double at, const std::vector<double>& x, const std::vector<double>& y) {
  const auto after = static_cast<size_t>(std::upper_bound(x.begin(), x.end(), at) - x.begin());
  if (after == 0) return y.front();
  if (after == x.size()) return y.back();
  const double slope = (y[after] - y[after - 1]) / (x[after] - x[after - 1]);
  return slope * (at - x[after - 1]) + y[after - 1];
}

// About 1 / epsilon points, by interpolation. Kept as floats, as Keras does.
Summary compressed(const Summary& s, double epsilon) {
  if (static_cast<double>(s.points.size()) * epsilon < 1) return s;
  std::vector<double> sums, shares;
  double sum = 0;
  for (const double weight : s.weights) sums.push_back(sum += weight);
  for (const double part : sums) shares.push_back(part / sum);
  Summary made;
  double before = 0;
  const auto count = static_cast<size_t>(std::ceil(1 / epsilon));
  for (size_t i = 0; i < count; ++i) {
    const double share = epsilon + static_cast<double>(i) * epsilon;
    const double upto = between(share, shares, sums);
    made.points.push_back(static_cast<float>(between(share, shares, s.points)));
    made.weights.push_back(static_cast<float>(upto - before));
    before = upto;
  }
  return made;
}

}  // namespace

std::vector<double> bin_boundaries_of(std::vector<float> values, int bins, double epsilon) {
  std::sort(values.begin(), values.end());
  const double step = std::max(static_cast<double>(values.size()) * epsilon, 1.0);
  Summary all;
  for (auto i = static_cast<size_t>(step - 1); i < values.size(); i += static_cast<size_t>(step)) {
    all.points.push_back(values[i]);
    all.weights.push_back(static_cast<float>(step));
  }
  std::vector<double> points = compressed(compressed(all, epsilon), 1.0 / bins).points;
  points.pop_back();
  return points;
}

}  // namespace plimsoll
