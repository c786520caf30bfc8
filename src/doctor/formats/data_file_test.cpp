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

TEST(DataFile, TablesAsTextAreTablesWhateverIsInThem) {
  const auto table = [](std::string_view text, std::string_view name = "h.csv") {
    return inspect_data(Bytes(text), name);
  };
  EXPECT_EQ(table("a,b,c\n1,2,3\n4,5,6\n").kind, "a table as text (CSV)");
  EXPECT_EQ(table("a,b,c\n1,2,3\n4,5,6\n").whole, "It has 3 columns and 3 rows, the first among them.");
  EXPECT_EQ(table("a\tb\n1\t2\n", "h.tsv").kind, "a table as text (TSV)");
  for (const std::string_view whole :
       {"a\n1\n"sv, "a,b\n\"x, \"\"y\"\"\nz\",2\n"sv, "a;b\n1,5;2\n"sv, "a,b\r\n1,2\r\n\r\n"sv,
        "\xef\xbb\xbf"
        "a,b\n1,2"sv,
        "a,b\n1\n"sv, "n,\xc3\xa9\n1,2\n"sv, "a,b\n5\" disk,2\n"sv})
    EXPECT_EQ(table(whole).trouble, "") << whole;
  EXPECT_EQ(table("a,b\n1,2\n1,2,3\n").trouble, "line 3 has 3 fields, the first 2");
  EXPECT_EQ(table("a,b\n\"1,2\n3,4\n").trouble, "the quote that begins in line 2 does not end");
  EXPECT_EQ(table("a\n\xe9t\xe9\n").trouble, "the byte at 2 is not UTF-8");
  EXPECT_EQ(table("\xff\xfe"
                  "a\0,\0"sv)
                .trouble,
            "it is UTF-16, not UTF-8");
  EXPECT_NE(table("a,b\n1,\0\n"sv).trouble, "");
  EXPECT_EQ(table("").trouble, "it is empty");
  EXPECT_NE(table("<!DOCTYPE html><html>").trouble, "");
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
