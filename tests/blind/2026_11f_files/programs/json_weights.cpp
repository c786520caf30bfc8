// Architecture and weights apart, as tf.keras 2 wrote them.
#include <fstream>
#include <sstream>
#include <string>
#include "plimsoll/model.h"
#include "plimsoll/npy.h"
#include "plimsoll/ops.h"
using namespace plimsoll;
int main(int, char** argv) {
  const std::string d = std::string(argv[1]) + "/tf215_weights_only_h5/";
  std::stringstream text;
  text << std::ifstream(d + "model.json").rdbuf();
  Model m = model_from_json(text.str());
  m.load_weights(d + "old_weights.h5");
  return max(absolute(m.predict(read_npz(d + "x.npz")["x"]) - read_npz(d + "want.npz")["out0"])).item() < 1e-4 ? 0 : 1;
}
