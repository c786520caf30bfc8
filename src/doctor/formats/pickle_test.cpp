#include "doctor/formats/pickle.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

using namespace std::string_view_literals;
using Names = std::vector<std::pair<std::string, std::string>>;

TEST(Pickle, TellsWhatIsAskedForInOldAndNewProtocols) {
  EXPECT_EQ(read_pickle(Bytes("\x80\x02"
                              "c__main__\nModel\nq\x00)\x81q\x01."sv))
                .names,
            (Names{{"__main__", "Model"}}));
  const auto framed =
      read_pickle(Bytes("\x80\x04\x95\x1b\0\0\0\0\0\0\0\x8c\x05mod.a\x94\x8c\x01X\x94\x93\x94)\x81\x94."sv));
  EXPECT_EQ(framed.names, (Names{{"mod.a", "X"}}));
  EXPECT_TRUE(framed.is_object);
}

TEST(Pickle, FindsNamesThatWereRemembered) {
  // (mod.a, mod.Y) where the module's text is taken from the memo the second time.
  const auto twice =
      "\x80\x04]\x94(\x8c\x05mod.a\x94\x8c\x01X\x94\x93\x94h\x01\x8c\x01Y\x94\x93\x94"
      "e."sv;
  const auto contents = read_pickle(Bytes(twice));
  EXPECT_EQ(contents.names, (Names{{"mod.a", "X"}, {"mod.a", "Y"}}));
  EXPECT_FALSE(contents.is_object);
}

TEST(Pickle, TakesNoTextOfDataForAPlace) {
  const auto storage =
      "\x80\x02(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
      "0X\x06\0\0\0cuda:0K\x0ctQ."sv;
  EXPECT_TRUE(read_pickle(Bytes(storage)).on_gpu);
  EXPECT_FALSE(read_pickle(Bytes("\x80\x02}X\x06\0\0\0deviceX\x06\0\0\0cuda:0s."sv)).on_gpu);
}

TEST(Pickle, KnowsTheVersionOfAnEstimator) {
  EXPECT_EQ(read_pickle(Bytes("\x80\x04}\x94\x8c\x10_sklearn_version\x94\x8c\x05"
                              "1.2.2\x94s."sv))
                .scikit_learn,
            "1.2.2");
  EXPECT_EQ(read_pickle(Bytes("\x80\x02}X\x10\0\0\0_sklearn_versionq\x01X\x06\0\0\0"
                              "0.24.2q\x02s."sv))
                .scikit_learn,
            "0.24.2");
  EXPECT_EQ(read_pickle(Bytes("_sklearn_version\x94\x8c"sv)).scikit_learn, "");
}

TEST(Pickle, GivesUpAtWhatIsNoOpcode) {
  EXPECT_EQ(read_pickle(Bytes("\x80\x02"
                              "cmod\nX\n\xff\xff\xff"sv))
                .names,
            (Names{{"mod", "X"}}));
  EXPECT_TRUE(read_pickle(Bytes("\x80\x02"
                                "cmod"sv))
                  .names.empty());
  EXPECT_TRUE(read_pickle(Bytes("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"sv)).names.empty());
}

TEST(Pickle, ReadsSeveralInOneFile) {
  EXPECT_EQ(read_pickles(Bytes("\x80\x02K\x01.\x80\x02"
                               "ca\nB\n.more"sv))
                .names,
            (Names{{"a", "B"}}));
}

}  // namespace
}  // namespace plimsoll::doctor
