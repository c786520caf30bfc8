#include "keras_io/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

ErrorKind kind_of_error(std::string_view text) {
  try {
    parse_json(text, "test.json");
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("test.json"), std::string::npos);
    return e.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::internal;
}

TEST(Json, KeepsTheOrderOfKeys) {
  EXPECT_EQ(to_text(parse_json(R"({"b":1,"a":[true,null,"x"]})", "t")),
            R"({"b": 1, "a": [true, null, "x"]})");
}

TEST(Json, WritesWhatPythonWrites) {
  EXPECT_EQ(to_text(parse_json(R"({"a":"é\n","b":[],"c":{},"d":1e-07,"e":0.001,"f":1.0})", "t")),
            R"({"a": "\u00e9\n", "b": [], "c": {}, "d": 1e-07, "e": 0.001, "f": 1.0})");
}

TEST(Json, PythonsWordsForNumbersAreNumbers) {
  const std::string text = R"({"a": [NaN, Infinity, -Infinity], "NaN": "Infinity \\\" NaN", "b": -1.5})";
  const Json json = parse_json(text, "t");
  EXPECT_TRUE(std::isnan(json["a"][0].get<double>()));
  EXPECT_EQ(json["a"][1].get<double>(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(json["a"][2].get<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(json["NaN"], "Infinity \\\" NaN");
  EXPECT_EQ(to_text(json), text);
  for (const char* bad : {"{NaN: 1}x", "[1 NaN]", "Nan", "[-NaN]", "[NaNa]"})
    EXPECT_EQ(kind_of_error(bad), ErrorKind::bad_file) << bad;
}

TEST(Json, BadTextIsABadFile) {
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\" 1}", "\xff\xfe", "\"\xc3\""}) {
    EXPECT_EQ(kind_of_error(text), ErrorKind::bad_file) << text;
  }
}

TEST(Json, DepthIsLimited) {
  const auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_NO_THROW(parse_json(nested(200), "t"));
  EXPECT_EQ(kind_of_error(nested(300)), ErrorKind::bad_file);
  EXPECT_EQ(kind_of_error(std::string(1u << 20, '[')), ErrorKind::bad_file);
}

}  // namespace
}  // namespace plimsoll::keras_io
