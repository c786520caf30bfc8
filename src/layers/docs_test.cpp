// docs/layers.md lists what the registry has. Run with PLIMSOLL_WRITE_DOCS=1 to write it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include "common/json.h"
#include <sstream>

#include "layers/base/class_list.h"
#include "layers/base/config_json.h"
#include "plimsoll/activations.h"
#include "plimsoll/layer.h"

namespace plimsoll {
namespace {

constexpr std::string_view kHead = R"(# Layers

Keras 3.15's classes that Plimsoll has, with the arguments their configs hold and the defaults; an argument that Keras gives
no default is required. The table is printed from the registry (`src/layers/docs_test.cpp` checks that it is current). In the YAML of
layers, `- Dense: 10` sets what Keras's class takes first (`tests/python/layers/test_signatures.py` compares every
layer with Keras's signature). Every argument listed works, but for these, which are refused by name: `quantization_config`; `synchronized`, `renorm` and `renorm_clipping` of BatchNormalization; `rms_scaling`
of LayerNormalization; a `fill_mode` of Resizing other than `constant`; `reverse_dtype` of ReversibleEmbedding; `sparse`, `idf_weights` and `salt` of the
layers of categories. `unroll` changes nothing. Classes of Keras that are not in the table are refused by name with the reason (`src/layers/base/refused.cpp`). All layers take `name`,
`dtype` (a policy such as `mixed_bfloat16`) and `activity_regularizer` too.

)";

std::string default_text(const ConfigJson& value) {
  if (value.is_object() && value.contains("class_name")) return value["class_name"].get<std::string>();
  return value.dump();
}

std::string arguments_of(Family family, Configurable& object) {
  std::string text;
  const std::vector<std::string> required = required_arguments(family, object.class_name());
  const ConfigJson config = config_to_json(object);
  for (const auto& [key, value] : config.items()) {
    const bool of_every_layer = key == "name" || key == "trainable" || key == "dtype";
    if (of_every_layer) continue;
    const bool has_default = std::find(required.begin(), required.end(), key) == required.end();
    text += (text.empty() ? "`" : ", `") + key + "` " + (has_default ? default_text(value) : "required");
  }
  return text;
}

std::string printed() {
  std::ostringstream out;
  out << kHead;
  for (const Family family : {Family::layer, Family::initializer, Family::regularizer, Family::constraint}) {
    std::map<std::string, std::string> rows;
    for (const ClassFile file : class_files()) {
      for (const ClassDef& row : file()) {
        if (row.family == family) rows[std::string(row.name)] = arguments_of(family, *row.make());
      }
    }
    out << "| " << name_of(family) << " | arguments and defaults |\n|---|---|\n";
    for (const auto& [name, arguments] : rows) out << "| " << name << " | " << arguments << " |\n";
    out << "\n";
  }
  out << "Activations:";
  for (const std::string& name : activation_names()) out << " `" << name << "`";
  out << ".\n";
  return out.str();
}

TEST(Docs, ListEveryLayer) {
  const std::filesystem::path path = std::filesystem::path(PLIMSOLL_GOLDEN_FOLDER) / "../../docs/layers.md";
  const std::string text = printed();
  if (std::getenv("PLIMSOLL_WRITE_DOCS") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  const std::string held((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(held, text);
}

}  // namespace
}  // namespace plimsoll
