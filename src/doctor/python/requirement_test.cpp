#include "doctor/python/requirement.h"

#include <gtest/gtest.h>

#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

const MarkerValues kLinux = {{"python_version", "3.11"},     {"python_full_version", "3.11.7"},
                             {"sys_platform", "linux"},      {"platform_system", "Linux"},
                             {"platform_machine", "x86_64"}, {"os_name", "posix"}};

TEST(Requirement, ReadsNameExtrasSpecifierAndMarker) {
  const auto r = Requirement::parse("jax[cuda12, Pip_Extra] (>=0.4,<1) ; python_version >= '3.10'");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->name, "jax");
  EXPECT_EQ(r->extras, (std::vector<std::string>{"cuda12", "pip-extra"}));
  EXPECT_TRUE(r->specifiers.contains(*Version::parse("0.5")));
  EXPECT_EQ(r->marker, "python_version >= '3.10'");
}

TEST(Requirement, TakesUrlsAndBareNames) {
  EXPECT_EQ(Requirement::parse("pip @ https://example.org/a;b.whl ; os_name == 'posix'")->marker,
            "os_name == 'posix'");
  EXPECT_TRUE(Requirement::parse("numpy")->specifiers.empty());
  EXPECT_FALSE(Requirement::parse(">=3"));
  EXPECT_FALSE(Requirement::parse("numpy[extra"));
  EXPECT_FALSE(Requirement::parse("numpy nonsense"));
}

TEST(Marker, ComparesVersionsAsVersionsAndTextAsText) {
  EXPECT_EQ(marker_holds("python_version < '3.9'", kLinux), false);  // as text it would hold
  EXPECT_EQ(marker_holds("sys_platform == 'linux' and platform_machine != 'arm64'", kLinux), true);
  EXPECT_EQ(
      marker_holds("(os_name == 'nt' or os_name == 'posix') and python_full_version >= '3.11.2'", kLinux),
      true);
  EXPECT_EQ(marker_holds("'linux' in sys_platform", kLinux), true);
  EXPECT_EQ(marker_holds("platform_system not in 'Darwin Windows'", kLinux), true);
}

TEST(Marker, ExtraIsOffUnlessAsked) {
  EXPECT_EQ(marker_holds("extra == 'test'", kLinux), false);
  EXPECT_EQ(marker_holds("extra == 'my_test'", kLinux, "my-test"), true);
}

TEST(Marker, NonsenseHasNoAnswer) {
  EXPECT_FALSE(marker_holds("python_version >", kLinux).has_value());
  EXPECT_FALSE(marker_holds("weather == 'fine'", kLinux).has_value());
  EXPECT_FALSE(marker_holds("os_name == 'posix' garbage", kLinux).has_value());
  EXPECT_FALSE(marker_holds(std::string(100000, '('), kLinux).has_value());
}

TEST(Names, CompareAsTheIndexDoes) {
  EXPECT_EQ(normal_name("Tensorflow_CPU"), "tensorflow-cpu");
  EXPECT_EQ(normal_name("ruamel.yaml__x"), "ruamel-yaml-x");
}

}  // namespace
}  // namespace plimsoll::doctor
