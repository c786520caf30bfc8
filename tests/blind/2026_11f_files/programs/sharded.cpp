// Weights in shards, as keras.Model.save_weights(max_shard_size=) writes them: FOLDER/shards.weights.json
#include <string>
#include "plimsoll/model.h"
#include "plimsoll/npy.h"
#include "plimsoll/ops.h"
using namespace plimsoll;
int main(int, char** argv) {
  const std::string d = std::string(argv[1]) + "/sharded/";
  Sequential m({Input({50}), Dense(300, {.activation = "relu"}), Dense(400, {.activation = "relu"}), Dense(3)});
  m.load_weights(d + "shards.weights.json");
  return max(absolute(m.predict(read_npz(d + "x.npz")["x"]) - read_npz(d + "want.npz")["out0"])).item() < 1e-4 ? 0 : 1;
}
