// fashion_mnist [data.npz [epochs]]
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "fashion_mnist.h"

int main(int argc, char** argv) {
  plimsoll::examples::FashionOptions options;
  if (argc > 1) options.data = argv[1];
  if (argc > 2) options.epochs = std::atoi(argv[2]);
  try {
    plimsoll::examples::train_fashion_mnist(options, stdout);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fashion_mnist: %s\n", e.what());
    return 1;
  }
  return 0;
}
