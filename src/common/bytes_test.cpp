#include "common/bytes.h"

#include <gtest/gtest.h>

#include <cstdint>

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

}  // namespace plimsoll
