#include "doctor/formats/data_file.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

using namespace std::string_view_literals;

std::string trouble(std::string_view bytes, std::string_view name) {
  return inspect_data(Bytes(bytes), name).trouble;
}

TEST(DataFile, KeepsOrBreaksWhatItPromises) {
  EXPECT_EQ(trouble("PAR1xxPAR1", "a.parquet"), "");
  EXPECT_NE(trouble("PAR1xx", "a.parquet"), "");
  EXPECT_EQ(trouble("{\"a\": [1]}", "a.json"), "");
  EXPECT_NE(trouble("{\"a\": [1", "a.json"), "");
  EXPECT_NE(trouble("\xef\xbb\xbf{}", "a.json"), "");
  EXPECT_EQ(trouble("\x08\x07\x12\x02xx"sv, "a.onnx"), "");
  EXPECT_NE(trouble("\x08\x07\x12\x09xx"sv, "a.onnx"), "");
  EXPECT_EQ(trouble("\x02\0\0\0\0\0\0\0{}"sv, "a.safetensors"), "");
  EXPECT_NE(trouble("<html><body>", "weights.h5"), "");
  EXPECT_EQ(inspect_data(Bytes("hello"sv), "a.txt").kind, "");
}

TEST(DataFile, IsJudgedHoweverShortItIs) {
  for (const std::string_view whole :
       {"\x93NUMPY\x01\0\x10\0{'descr': '<f8'}"sv, "\x93NUMPY\x02\0\xff\xff\xff\xff"sv,
        "SQLite format 3\0\x10\0"sv, "RIFF\xff\xff\xff\xff"sv, "PK\x03\x04"sv, "\x89PNG"sv,
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv}) {
    for (size_t n = 0; n <= whole.size(); ++n) {
      for (const char* name :
           {"a.npy", "a.npz", "a.safetensors", "a.onnx", "a.h5", "a.db", "a.wav", "a.pkl", "a"})
        inspect_data(Bytes(whole.substr(0, n)), name);
    }
  }
}

}  // namespace
}  // namespace plimsoll::doctor
