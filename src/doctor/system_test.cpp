#include "doctor/system.h"

#include <gtest/gtest.h>

#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

TEST(CpuFeatures, ComeFromTheFirstProcessorOfEitherKind) {
  EXPECT_TRUE(parse_cpu_features("processor\t: 0\nflags\t\t: sse2 avx\nprocessor: 1\nflags : avx512f\n")
                  .contains("avx"));
  EXPECT_TRUE(parse_cpu_features("Features\t: fp asimd\n").contains("asimd"));
  EXPECT_TRUE(parse_cpu_features("nothing").empty());
}

TEST(System, KnowsTheLevelOfAProcessor) {
  System s;
  EXPECT_EQ(s.x86_level(), 0);
  s.cpu_features = {"sse2"};
  EXPECT_EQ(s.x86_level(), 1);
  for (const char* f : {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})
    s.cpu_features.insert(f);
  EXPECT_EQ(s.x86_level(), 2);
  for (const char* f : {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"})
    s.cpu_features.insert(f);
  EXPECT_EQ(s.x86_level(), 3);
}

TEST(System, SurvivesItsOwnJson) {
  System s;
  s.os = "linux";
  s.machine = "x86_64";
  s.cpu_features = {"avx"};
  s.memory_total = 1u << 30;
  s.limits["nofile"] = 1024;
  s.disks.push_back({"home", "/home", 100, 10});
  s.environment["KERAS_BACKEND"] = "jax";
  const System copy = System::from_json(s.json());
  EXPECT_EQ(copy.json(), s.json());
  EXPECT_EQ(copy.variable("KERAS_BACKEND"), "jax");
  EXPECT_FALSE(copy.swap_total.has_value());
  EXPECT_THROW(System::from_json("[1, 2"), Error);
  EXPECT_THROW(System::from_json("{\"limits\": 3}"), Error);
}

TEST(Bytes, AreShownAsPeopleSayThem) {
  EXPECT_EQ(show_bytes(512), "512 bytes");
  EXPECT_EQ(show_bytes(1536u << 20), "1.5 GiB");
  EXPECT_EQ(show_bytes(64u << 20), "64 MiB");
}

}  // namespace
}  // namespace plimsoll::doctor
