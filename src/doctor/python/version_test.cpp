#include "doctor/python/version.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

bool matches(std::string_view specifiers, std::string_view version) {
  const auto s = Specifiers::parse(specifiers);
  const auto v = Version::parse(version);
  EXPECT_TRUE(s && v) << specifiers << " " << version;
  return s && v && s->contains(*v);
}

TEST(Version, OrdersAsPep440Says) {
  // The chain of PEP 440's own example, with a few more.
  const char* ordered[] = {"1.dev0",
                           "1.0.dev456",
                           "1.0a1",
                           "1.0a2.dev456",
                           "1.0a12.dev456",
                           "1.0a12",
                           "1.0b1.dev456",
                           "1.0b2",
                           "1.0b2.post345.dev456",
                           "1.0b2.post345",
                           "1.0rc1.dev456",
                           "1.0rc1",
                           "1.0",
                           "1.0+abc.5",
                           "1.0+abc.7",
                           "1.0+5",
                           "1.0.post456.dev34",
                           "1.0.post456",
                           "1.1.dev1",
                           "1!0.1"};
  for (size_t i = 0; i + 1 < std::size(ordered); ++i) {
    const auto a = Version::parse(ordered[i]), b = Version::parse(ordered[i + 1]);
    ASSERT_TRUE(a && b) << ordered[i];
    EXPECT_LT(*a, *b) << ordered[i] << " " << ordered[i + 1];
  }
}

TEST(Version, ReadsOtherSpellings) {
  EXPECT_EQ(*Version::parse("v1.0"), *Version::parse("1.0.0"));
  EXPECT_EQ(*Version::parse("1.0-rc.1"), *Version::parse("1.0rc1"));
  EXPECT_EQ(*Version::parse("1.0-2"), *Version::parse("1.0.post2"));
  EXPECT_EQ(*Version::parse("1.0.ALPHA3"), *Version::parse("1.0a3"));
}

TEST(Version, RefusesWhatIsNoVersion) {
  for (const char* text : {"", "abc", "1..0", "1.0+", "1.0+a..b", "1.0x", "1!", "1.0 2"}) {
    EXPECT_FALSE(Version::parse(text)) << text;
  }
}

TEST(Version, NumbersTooLongDoNotOverflow) {
  EXPECT_LT(*Version::parse("2"), *Version::parse("99999999999999999999999999"));
}

TEST(Specifiers, MatchAsPep440Says) {
  EXPECT_TRUE(matches(">=1.26,<3,!=2.0.*", "2.1"));
  EXPECT_FALSE(matches(">=1.26,<3,!=2.0.*", "2.0.4"));
  EXPECT_TRUE(matches("==2.1.*", "2.1.0rc1"));
  EXPECT_TRUE(matches("~=2.2", "2.9"));
  EXPECT_FALSE(matches("~=2.2.1", "2.3"));
  EXPECT_TRUE(matches("==2.5", "2.5.0+cpu"));
  EXPECT_FALSE(matches("==2.5+cu12", "2.5+cpu"));
  EXPECT_FALSE(matches("<3", "3.0rc1"));
  EXPECT_FALSE(matches(">2", "2.post1"));
  EXPECT_TRUE(matches(">2", "2.1"));
}

}  // namespace
}  // namespace plimsoll::doctor
