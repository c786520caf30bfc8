// What the Python tests ask of model files:
//   keras_io_tool predict MODEL IN.npz OUT.npz     inputs x0, x1, ... to outputs y0, y1, ...
//   keras_io_tool fit MODEL IN.npz OUT STEPS       train_on_batch with x0, ... and y0, ..., then save
//   keras_io_tool convert MODEL OUT                load and save
//   keras_io_tool weights MODEL WEIGHTS OUT        load, load weights from another file, save
#include <cstdio>
#include <cstdlib>
#include <map>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/npy.h"

using namespace plimsoll;

namespace {

std::vector<Tensor> arrays(const NamedTensors& all, const std::string& prefix) {
  std::map<std::string, Tensor> by_name(all.begin(), all.end());
  std::vector<Tensor> list;
  for (size_t i = 0; by_name.count(concat(prefix, i)); ++i) list.push_back(by_name.at(concat(prefix, i)));
  return list;
}

int run(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[1] : "";
  Model model = load_model(argc > 2 ? argv[2] : "");
  if (command == "convert" && argc == 4) {
    model.save(argv[3]);
  } else if (command == "weights" && argc == 5) {
    model.load_weights(argv[3]);
    model.save(argv[4]);
  } else if (command == "predict" && argc == 5) {
    const std::vector<Tensor> ys = model.predict_on_batch(arrays(read_npz(argv[3]), "x"));
    NamedTensors out;
    for (size_t i = 0; i < ys.size(); ++i) out.emplace_back(concat("y", i), ys[i]);
    write_npz(argv[4], out);
  } else if (command == "fit" && argc == 6) {
    const NamedTensors in = read_npz(argv[3]);
    for (int step = 0; step < std::atoi(argv[5]); ++step)
      model.train_on_batch(arrays(in, "x"), arrays(in, "y"));
    model.save(argv[4]);
  } else {
    std::fprintf(stderr, "keras_io_tool: see the top of tests/keras_io/tool.cpp\n");
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& e) {
    std::fprintf(stderr, "%s: %s\n", std::string(name_of(e.kind())).c_str(), e.what());
    return 1;
  }
}
