#include "plimsoll/error.h"

#include <gtest/gtest.h>

#include <string>

#include "plimsoll/shape.h"

namespace plimsoll {
namespace {

TEST(Error, SaysPlaceExpectedAndGot) {
  const Shape shape = {32, 10};
  try {
    require(false, "conv2d", "expected a ", 4, "-D input (NHWC), got shape ", shape);
    ADD_FAILURE() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_STREQ(error.what(), "[conv2d] expected a 4-D input (NHWC), got shape (32, 10)");
  }
}

TEST(Error, PartsAreTextNumbersTypesAndFlags) {
  const std::string text = "text";
  EXPECT_EQ(concat("a ", text, ' ', -3, ' ', size_t{7}, ' ', true, ' ', DType::bf16),
            "a text -3 7 true bfloat16");
}

TEST(Require, CostsNothingWhenAllIsWell) { EXPECT_NO_THROW(require(true, "x", "never built")); }

TEST(ErrorKind, EachHasAName) {
  for (int i = 0; i <= static_cast<int>(ErrorKind::internal); ++i) {
    EXPECT_NE(name_of(static_cast<ErrorKind>(i)), "unknown");
  }
}

}  // namespace
}  // namespace plimsoll
