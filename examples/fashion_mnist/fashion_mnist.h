// Trains a small CNN on Fashion-MNIST through the graph API, as `plimsoll demo` does.
#pragma once

#include <cstdio>
#include <string>

namespace plimsoll::examples {

struct FashionOptions {
  std::string data = "data/fashion_mnist_12k.npz";
  int epochs = 3;
  int threads = 0;
};

// Prints the memory plan, a line per epoch and what was measured. Returns the accuracy on the test images. Throws Error
// or std::runtime_error if the data cannot be read.
double train_fashion_mnist(const FashionOptions& options, std::FILE* out);

}  // namespace plimsoll::examples
