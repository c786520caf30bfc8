// docs/layers.md lists what the registry has. Run with PLIMSOLL_WRITE_DOCS=1 to write it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include "common/json.h"
#include <sstream>

#include "layers/base/class_list.h"
#include "layers/base/config_json.h"
#include "layers/base/refused.h"
#include "plimsoll/activations.h"
#include "plimsoll/layer.h"

namespace plimsoll {
namespace {

constexpr std::string_view kHead = R"(# Layers, losses, metrics, optimizers

What Plimsoll has of Keras 3.15, with the arguments and their defaults; *required* stands where Keras gives none. In C++ and in YAML the names are the same.

- All layers take `name`, `dtype` (a policy such as `mixed_bfloat16`) and `activity_regularizer` too.
- In YAML `- Dense: 10` sets the argument that Keras's class takes first.
- A name of Keras that is not here is refused, with the reason: [the list](#names-of-keras-that-are-refused).
- Every argument listed works, but for these, which are refused by name: `quantization_config`; `synchronized`, `renorm` and `renorm_clipping` of BatchNormalization; `rms_scaling`
  of LayerNormalization; a `fill_mode` of Resizing other than `constant`; `reverse_dtype` of ReversibleEmbedding; `sparse`, `idf_weights` and `salt` of the
  layers of categories; `from_sorted_ids` of SparseTopKCategoricalAccuracy; several `thresholds` in one Precision. `unroll` changes nothing.
- Not listed, since a config holds them only where they are given: `axis` of Dice and Tversky, `thresholds` and `label_weights` of AUC, `gain` of Identity; and
  `axis` of SparseCategoricalCrossentropy, which Keras's configs leave out.
- Callbacks and their options are in [callbacks.h](../include/plimsoll/callbacks.h).

The tables are printed by the program (`src/layers/docs_test.cpp`) and compared with Keras's signatures (`tests/python/layers/test_signatures.py`).

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
  constexpr std::pair<Family, std::string_view> kTables[] = {{Family::layer, "Layers"},
                                                             {Family::loss, "Losses"},
                                                             {Family::metric, "Metrics"},
                                                             {Family::optimizer, "Optimizers"},
                                                             {Family::schedule, "Schedules"},
                                                             {Family::initializer, "Initializers"},
                                                             {Family::regularizer, "Regularizers"},
                                                             {Family::constraint, "Constraints"}};
  for (const auto& [family, title] : kTables) {
    std::map<std::string, std::string> rows;
    for (const ClassFile file : class_files()) {
      for (const ClassDef& row : file()) {
        const bool is_class =
            std::isupper(static_cast<unsigned char>(row.name[0])) != 0;  // else a word for one
        if (is_class && row.family == family) rows[std::string(row.name)] = arguments_of(family, *row.make());
      }
    }
    out << "## " << title << "\n\n| " << name_of(family) << " | arguments and defaults |\n|---|---|\n";
    for (const auto& [name, arguments] : rows) out << "| " << name << " | " << arguments << " |\n";
    out << "\n";
  }
  out << "## Activations\n\n";
  for (const std::string& name : activation_names()) out << "- `" << name << "`\n";
  out << "\n## Names of Keras that are refused\n\n| name | why |\n|---|---|\n";
  for (int i = 0; i <= static_cast<int>(Family::callback); ++i) {
    const auto family = static_cast<Family>(i);
    for (const std::string_view name : refused_names(family))
      out << "| " << name_of(family) << " " << name << " | " << refusal(family, name) << " |\n";
  }
  return out.str();
}

TEST(Docs, ListEveryClass) {
  const std::filesystem::path path = std::filesystem::path(PLIMSOLL_GOLDEN_FOLDER) / "../../docs/layers.md";
  const std::string text = printed();
  if (std::getenv("PLIMSOLL_WRITE_DOCS") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  const std::string held((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(held, text);
}

}  // namespace
}  // namespace plimsoll
