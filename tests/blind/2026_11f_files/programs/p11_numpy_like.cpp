// Arithmetic and indexing on values as with NumPy.
#include <cmath>
#include <iostream>
#include <vector>
#include "plimsoll/ops.h"
#include "plimsoll/tensor.h"
#include "plimsoll/indexing.h"
using namespace plimsoll;
int main() {
  Tensor a = Tensor::of({{1, 2, 3}, {4, 5, 6}});
  Tensor b = (a - mean(a, {0})) / (sqrt(var(a, {0})) + 1e-7);
  std::cout << b << "\n" << matmul(a, transpose(a)) << "\n" << a[{Slice{}, Slice{1, {}}}] << "\n";
  std::cout << reshape(a, {3, 2}) << argmax(a, 1) << concatenate({a, a}, 0).shape() << a.shape()[1] << a.dtype() << "\n";
  std::vector<float> v = a.to_vector<float>();
  Tensor c = where(a > 2.0, a, -a);
  std::cout << sum(c).item() << " " << v.size() << "\n";
  return v.size() == 6 && sum(c).item() == 15 ? 0 : 1;
}
