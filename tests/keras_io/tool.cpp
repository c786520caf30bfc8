// What the Python tests ask of model files:
//   keras_io_tool predict MODEL IN.npz OUT.npz     inputs x0, x1, ... to outputs y0, y1, ...
//   keras_io_tool fit MODEL IN.npz OUT STEPS       train_on_batch with x0, ... and y0, ..., then save
//   keras_io_tool convert MODEL OUT                load and save
//   keras_io_tool weights MODEL WEIGHTS OUT        load, load weights from another file, save
//   keras_io_tool board MODEL IN.npz FOLDER        two epochs of fit() with a TensorBoard callback
//   keras_io_tool symbols OUT                      a model of x[...] and arithmetic on Symbols
//   keras_io_tool names                            what there is and what is refused: lines "FAMILY NAME
//   [REASON]"
#include <cstdio>
#include <cstdlib>
#include <map>

#include "layers/base/refused.h"
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

int print_names() {
  for (const Family family :
       {Family::layer, Family::initializer, Family::regularizer, Family::constraint, Family::loss,
        Family::metric, Family::optimizer, Family::schedule, Family::callback}) {
    const std::string kind(name_of(family));
    for (const std::string& name : object_names(family)) std::printf("%s %s\n", kind.c_str(), name.c_str());
    for (const std::string_view name : refused_names(family)) {
      std::printf("%s %s %s\n", kind.c_str(), std::string(name).c_str(),
                  std::string(refusal(family, name)).c_str());
    }
  }
  return 0;
}

// Of two inputs (4, 6): what keras_io/test_written_models.py writes in Python.
void save_symbols(const std::string& path) {
  const Symbol x = Input({4, 6}, {.name = "x"}), y = Input({4, 6}, {.name = "y"});
  const Symbol positive = absolute(x) + 1.0;
  Model({x, y}, {x[{Slice{}, 0}], x[{Ellipsis, Slice{1, 3}}], x[{Slice{}, Slice{.step = 2}, -1}],
                 x[{Slice{}, NewAxis, Slice{.step = -1}}], y / positive, 2.0 / positive, x / 3.0, 3.0 - x,
                 power(positive, 2.0), power(positive, x), maximum(x, y) - minimum(x, y),
                 matmul(x, transpose(y, {0, 2, 1})), exp(x) * sqrt(positive) + log(positive), mean(x, {1}),
                 sum(square(x), {1, 2}, true), max(x, {-1}) + min(x, {-1})})
      .save(path);
}

int run(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "names") return print_names();
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "symbols" && argc == 3) {
    save_symbols(argv[2]);
    return 0;
  }
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
  } else if (command == "board" && argc == 5) {
    const NamedTensors in = read_npz(argv[3]);
    model.fit(in["x0"], in["y0"],
              {.batch_size = 4,
               .epochs = 2,
               .verbose = 0,
               .callbacks = {TensorBoard(argv[4], {.update_freq = 2})},
               .validation_split = 0.25,
               .shuffle = false});
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
