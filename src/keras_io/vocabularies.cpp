#include "keras_io/vocabularies.h"

#include <charconv>
#include <map>

#include "keras_io/weight_paths.h"
#include "layers/base/parts.h"
#include "keras_io/json.h"
#include "layers/base/json_parts.h"

namespace plimsoll::keras_io {
namespace {

constexpr uint64_t kMostText = uint64_t{1} << 30;

std::vector<int64_t> read_integers(const ZipReader& zip, const ZipReader::Member& member,
                                   const std::string& name) {
  const std::string text = zip.read(member, kMostText);
  std::vector<int64_t> values;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    if (*at == '\n' || *at == '\r') {
      ++at;
      continue;
    }
    int64_t value = 0;
    const auto [after, wrong] = std::from_chars(at, end, value);
    if (wrong != std::errc() || (after < end && *after != '\n' && *after != '\r'))
      fail(ErrorKind::bad_file, name, "expected an integer in each line");
    values.push_back(value);
    at = after;
  }
  return values;
}

// The list begins with the tokens for what is masked and what is not known; the config names them otherwise.
void add_vocabulary(Json& config, const ZipReader& zip, const std::string& name) {
  const ZipReader::Member* member = zip.find(name.c_str());
  if (member == nullptr) return;
  std::vector<int64_t> values = read_integers(zip, *member, name);
  const Json* unknown = find(config, "num_oov_indices");
  const std::string mode = text_of(config, "output_mode");
  int64_t special = unknown ? int64_of(*unknown).value_or(1) : 1;
  if (find(config, "mask_token") && (mode.empty() || mode == "int")) ++special;
  if (special < 0 || special > std::ssize(values))
    fail(ErrorKind::bad_file, name, "expected a vocabulary with ", special, " special tokens, got ",
         values.size(), " tokens");
  values.erase(values.begin(), values.begin() + special);
  config["vocabulary"] = std::move(values);
}

}  // namespace

void add_vocabularies(Json& model, const ZipReader& zip, const std::string& folder) {
  Json* config = model.is_object() && model.contains("config") ? &model["config"] : nullptr;
  if (config == nullptr || !config->is_object() || !config->contains("layers") ||
      !(*config)["layers"].is_array())
    return;
  std::map<std::string, int> used;
  for (Json& layer : (*config)["layers"]) {
    const std::string kind = text_of(layer, "class_name");
    std::string path = concat(folder, "/layers/", snake_name(kind));
    if (const int number = used[kind]++; number > 0) path += concat("_", number);
    add_vocabularies(layer, zip, path);
    const bool looks_up = kind == "IntegerLookup" && find(layer, "config") != nullptr;
    if (looks_up && find(layer["config"], "vocabulary") == nullptr)
      add_vocabulary(layer["config"], zip, path + "/vocabulary.txt");
  }
}

}  // namespace plimsoll::keras_io
