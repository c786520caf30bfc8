#include "doctor/python/metadata.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

TEST(Headers, StopAtTheBodyAndJoinFoldedLines) {
  const Headers h = parse_headers("Name: numpy\nRequires-Dist: a\nRequires-Dist: b;\n  c\n\nName: body\n");
  EXPECT_EQ(first_of(h, "name"), "numpy");
  EXPECT_EQ(all_of(h, "requires-dist"), (std::vector<std::string_view>{"a", "b; c"}));
  EXPECT_EQ(first_of(h, "version"), "");
}

TEST(Headers, GoOnAfterALineOfBlanksInAFoldedField) {
  const Headers h = parse_headers("License: text\n        \n        more\nRequires-Dist: numpy<2\n");
  EXPECT_EQ(first_of(h, "requires-dist"), "numpy<2");
}

TEST(Record, ReadsQuotesAndMissingSizes) {
  const auto rows =
      parse_record("a/b.py,sha256=xyz,12\n\"c,\"\"d\"\".py\",sha256=q,3\r\ne.pyc,,\nf,sha256=z,1x\n");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].size, 12u);
  EXPECT_EQ(rows[1].path, "c,\"d\".py");
  EXPECT_EQ(rows[1].size, 3u);
  EXPECT_FALSE(rows[2].size.has_value());
  EXPECT_FALSE(rows[3].size.has_value());
}

TEST(WheelTag, HasThreeParts) {
  const auto tag = WheelTag::parse("cp311-abi3-manylinux_2_28_x86_64");
  ASSERT_TRUE(tag);
  EXPECT_EQ(tag->abi, "abi3");
  EXPECT_FALSE(WheelTag::parse("cp311-cp311"));
}

TEST(KeyValues, ReadPyvenvCfg) {
  const Headers h = parse_key_values("home = /usr/bin\nVersion = 3.11.7\nno equals sign\n");
  EXPECT_EQ(first_of(h, "home"), "/usr/bin");
  EXPECT_EQ(first_of(h, "version"), "3.11.7");
}

}  // namespace
}  // namespace plimsoll::doctor
