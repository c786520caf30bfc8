#include "doctor/formats/sha256.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

// Values of Python's hashlib, around the sizes where padding changes.
TEST(Sha256, GivesTheValuesOfPython) {
  EXPECT_EQ(sha256_base64(""), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
  EXPECT_EQ(sha256_base64("abc"), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
  EXPECT_EQ(sha256_base64(std::string(55, 'a')), "n0OQ-NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg");
  EXPECT_EQ(sha256_base64(std::string(56, 'a')), "s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o");
  EXPECT_EQ(sha256_base64(std::string(64, 'a')), "_-BU_nrgy23GXDr5th1SCfQ5hR20PQulmXM33xVGaOs");
  EXPECT_EQ(sha256_base64(std::string(100000, 'a')), "bRzyLXzAmwhd_CXuGh864CZYBMYHvCB0rSU7zIL9ge4");
}

TEST(Sha256, GivesTheSameWithAndWithoutTheProcessorsInstructions) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(sha256(text), sha256(text, true)) << i;
    text += static_cast<char>(i * 7);
  }
}

}  // namespace
}  // namespace plimsoll::doctor
