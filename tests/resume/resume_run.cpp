// A small training that keeps a backup: resume_run FOLDER OUT. Writes the trained weights to OUT. Killed and
// started again with the same arguments, it goes on where it was.
#include <cstdio>
#include <fstream>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

using namespace plimsoll;

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    set_random_seed(5);
    std::vector<float> x, y;
    for (int i = 0; i < 600 * 8; ++i) x.push_back(static_cast<float>((i * 37) % 101) / 101.0f);
    for (int i = 0; i < 600; ++i)
      y.push_back(x[static_cast<size_t>(8 * i)] - 2 * x[static_cast<size_t>(8 * i + 3)]);
    Sequential model({Input({8}), Dense(32, {.activation = "relu"}), Dropout(0.3), Dense(1)});
    model.compile({.optimizer = Adam(0.01), .loss = "mse", .metrics = {"mae"}});
    model.fit(Tensor::from<float>(x, {600, 8}), Tensor::from<float>(y, {600, 1}),
              {.batch_size = 32,
               .epochs = 6,
               .verbose = 0,
               .callbacks = {ReduceLROnPlateau({.monitor = "loss", .factor = 0.5, .patience = 1}),
                             BackupAndRestore(argv[1], {.save_freq = 5})},
               .validation_split = 0.1});
    std::ofstream out(argv[2], std::ios::binary);
    for (const Tensor& w : model.get_weights()) {
      out.write(static_cast<const char*>(w.data()),
                static_cast<std::streamsize>(byte_size(w.dtype(), w.shape())));
    }
    return out.flush() ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
