// A small training that keeps a backup: resume_run FOLDER SAVE_FREQ. FOLDER gets the trained weights (out), a
// log and the backup. Killed and started again with the same arguments, it goes on where it was.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

using namespace plimsoll;

namespace {

void train(const std::string& folder, int64_t save_freq) {
  std::filesystem::create_directories(folder);
  set_random_seed(5);
  std::vector<float> x, y;
  for (int i = 0; i < 600 * 8; ++i) x.push_back(static_cast<float>((i * 37) % 101) / 101.0f);
  for (int i = 0; i < 600; ++i)
    y.push_back(x[static_cast<size_t>(8 * i)] - 2 * x[static_cast<size_t>(8 * i + 3)]);
  Sequential model({Input({8}), Dense(32, {.activation = "relu"}), Dropout(0.3), Dense(1)});
  model.compile({.optimizer = Adam(0.01), .loss = "mse", .metrics = {"mae"}});
  // Every callback whose later doings depend on what it saw before; the backup first, where it would miss
  // theirs.
  const std::vector<CallbackPtr> callbacks = {
      BackupAndRestore(folder + "/backup", {.save_freq = save_freq}),
      LearningRateScheduler([](int64_t epoch, double rate) { return epoch < 2 ? rate * 0.9 : rate; }),
      ReduceLROnPlateau({.monitor = "loss", .factor = 0.5, .patience = 1, .min_delta = 0.002}),
      ModelCheckpoint(folder + "/best.weights.h5",
                      {.monitor = "val_loss", .save_best_only = true, .save_weights_only = true}),
      CSVLogger(folder + "/log.csv"),
      EarlyStopping({.monitor = "val_mae", .min_delta = 0.01, .patience = 2, .restore_best_weights = true})};
  model.fit(Tensor::from<float>(x, {600, 8}), Tensor::from<float>(y, {600, 1}),
            {.batch_size = 32, .epochs = 12, .verbose = 0, .callbacks = callbacks, .validation_split = 0.1});
  std::ofstream out(folder + "/out", std::ios::binary);
  for (const Tensor& w : model.get_weights()) {
    out.write(static_cast<const char*>(w.data()),
              static_cast<std::streamsize>(byte_size(w.dtype(), w.shape())));
  }
  if (!out.flush()) fail(ErrorKind::io, folder, "could not be written");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  train(argv[1], std::atoi(argv[2]));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
