// Changes JSON as JSON: bytes changed at random seldom leave a text that is still one, and a config that does
// not parse builds no graph.
#include <cstdint>
#include <iterator>
#include "common/json.h"
#include <random>

#include "fuzz.h"
#include "plimsoll/config.h"

namespace {

using Json = nlohmann::ordered_json;
using Random = std::minstd_rand;

size_t pick(Random& random, size_t count) { return random() % count; }

void collect(Json& json, std::vector<Json*>& all) {
  all.push_back(&json);
  if (!json.is_structured()) return;
  for (Json& part : json) collect(part, all);
}

Json extreme(Random& random) {
  static const Json values[] = {
      0,
      1,
      2,
      3,
      7,
      -1,
      -2,
      100,
      65536,
      1 << 30,
      INT64_MAX,
      INT64_MIN,
      UINT64_MAX,
      int64_t{1} << 32,
      0.5,
      1e300,
      true,
      false,
      nullptr,
      "",
      "a",
      Json::array(),
      Json::object(),
      {1, 2},
      {-1, nullptr},
      {{1, 1}, {2, 2}},
      // What stood for a tensor once.
      {{"tensor", 99999999}},
      {{"class_name", "__keras_tensor__"}, {"config", {{"keras_history", {"i", 0, 0}}}}},
      {{"class_name", "__slice__"}, {"config", {{"start", INT64_MIN}, {"stop", INT64_MAX}, {"step", 2}}}},
      {{"class_name", "__ellipsis__"}, {"config", Json::object()}}};
  return values[pick(random, std::size(values))];
}

Json class_name(Random& random) {
  static const std::vector<std::string> layers = plimsoll::object_names(plimsoll::Family::layer);
  static const std::vector<std::string> operations = {
      "Add",     "Matmul",    "Softmax", "Mean",    "Concatenate", "ExpandDims", "Squeeze",
      "Reshape", "Transpose", "Cast",    "GetItem", "Clip",        "Gelu",       "Power"};
  const std::vector<std::string>& names = random() % 2 ? layers : operations;
  return names[pick(random, names.size())];
}

void remove_part(Json& json, size_t at) {
  if (json.is_array())
    json.erase(at);
  else
    json.erase(std::next(json.begin(), static_cast<std::ptrdiff_t>(at)));
}

void change(Json& json, Random& random) {
  std::vector<Json*> all;
  collect(json, all);
  Json& one = *all[pick(random, all.size())];
  const Json other = *all[pick(random, all.size())];
  switch (random() % 8) {
    case 0:
    case 1:
      if (one.is_string() && random() % 2)
        one = class_name(random);
      else
        one = extreme(random);
      break;
    case 2:
      if (one.is_number_integer()) one = one.get<int64_t>() < 8 ? Json(random() % 8) : Json(random() % 300);
      break;
    case 3: one = other; break;
    case 4:
      if (one.is_structured() && !one.empty()) remove_part(one, pick(random, one.size()));
      break;
    case 5:
      if (one.is_array()) one.push_back(one.empty() ? other : Json(one[pick(random, one.size())]));
      break;
    case 6:
      if (one.is_array() && one.size() > 1)
        std::swap(one[pick(random, one.size())], one[pick(random, one.size())]);
      break;
    default:
      if (one.is_object() && other.is_string()) one[other.get<std::string>()] = extreme(random);
      break;
  }
}

}  // namespace

std::string mutate(const std::string& input, uint32_t seed) {
  Json json = Json::parse(input, nullptr, false);
  if (json.is_discarded()) return {};
  Random random(seed);
  for (uint32_t n = 1 + random() % 4; n > 0; --n) change(json, random);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
