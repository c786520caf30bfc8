#include "common/bytes.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "plimsoll/error.h"

namespace plimsoll {

TEST(BytesText, PicksTheUnitThatReadsBest) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(int64_t{5} << 30), "5.0 GiB");
  EXPECT_EQ(bytes_text(-2048), "-2.0 KiB");
}

TEST(BytesText, NeverPrints1024OfAUnit) {
  EXPECT_EQ(bytes_text((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(bytes_text(INT64_MAX), "8.0 EiB");
}

TEST(BytesText, RoundsUpToWhatIsEnoughWhenTypedAgain) {
  EXPECT_EQ(bytes_text_up(1023), "1023 B");
  EXPECT_EQ(bytes_text_up(1 << 20), "1.0 MiB");
  EXPECT_EQ(bytes_text_up((1 << 20) + 1), "1.1 MiB");
  EXPECT_EQ(bytes_text_up((int64_t{1} << 30) + 1), "1.001 GiB");
  for (int64_t bytes = 1; bytes < int64_t{1} << 45; bytes += bytes / 7 + 1) {
    const int64_t typed = parse_bytes(bytes_text_up(bytes), 0);
    EXPECT_GE(typed, bytes);
    if (bytes > 10 << 20) {
      EXPECT_LE(typed, bytes + bytes / 100 + 1);
    }
  }
}

TEST(ParseBytes, ReadsSizesAsPeopleWriteThem) {
  EXPECT_EQ(parse_bytes("4GiB", 0), int64_t{4} << 30);
  EXPECT_EQ(parse_bytes("1.5g", 0), int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("500 MB", 0), 500'000'000);
  EXPECT_EQ(parse_bytes("1024", 0), 1024);
  EXPECT_EQ(parse_bytes("60%", 1000), 600);
  for (const char* bad : {"", "GiB", "-1G", "0", "120%", "4 parsecs", "nan", "1e40", "2GiBx", "0x100MiB"}) {
    EXPECT_THROW(parse_bytes(bad, 1000), Error) << bad;
  }
}

}  // namespace plimsoll
