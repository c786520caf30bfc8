#include "keras_io/json.h"

#include <gtest/gtest.h>

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
