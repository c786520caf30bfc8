#include "plimsoll/dtype.h"

#include <gtest/gtest.h>

#include <vector>

namespace plimsoll {
namespace {

std::vector<DType> all_types() {
  std::vector<DType> types;
  for (int i = 0; i < kDTypeCount; ++i) types.push_back(static_cast<DType>(i));
  return types;
}

TEST(DType, NamesAreKerasNamesAndReadBack) {
  EXPECT_EQ(name_of(DType::boolean), "bool");
  EXPECT_EQ(name_of(DType::bf16), "bfloat16");
  EXPECT_EQ(name_of(DType::c64), "complex64");
  for (const DType t : all_types()) EXPECT_EQ(dtype_from_name(name_of(t)), t);
  EXPECT_FALSE(dtype_from_name("float31"));
  EXPECT_FALSE(dtype_from_name(""));
}

TEST(DType, SizesAreThoseOfTheirNames) {
  EXPECT_EQ(size_of(DType::boolean), 1u);
  EXPECT_EQ(size_of(DType::f16), 2u);
  EXPECT_EQ(size_of(DType::u32), 4u);
  EXPECT_EQ(size_of(DType::f64), 8u);
  EXPECT_EQ(size_of(DType::c128), 16u);
}

TEST(DType, EachBelongsToOneFamily) {
  for (const DType t : all_types()) {
    const int families =
        is_float(t) + is_complex(t) + is_signed_int(t) + is_unsigned_int(t) + (t == DType::boolean);
    EXPECT_EQ(families, 1) << name_of(t);
  }
}

TEST(Promote, DoesNotDependOnTheOrder) {
  for (const DType a : all_types()) {
    EXPECT_EQ(promote(a, a), a);
    for (const DType b : all_types())
      EXPECT_EQ(promote(a, b), promote(b, a)) << name_of(a) << " " << name_of(b);
  }
}

TEST(Promote, FollowsJax) {
  EXPECT_EQ(promote(DType::boolean, DType::u8), DType::u8);
  EXPECT_EQ(promote(DType::u8, DType::i8), DType::i16);
  EXPECT_EQ(promote(DType::u16, DType::i8), DType::i32);
  EXPECT_EQ(promote(DType::u32, DType::i32), DType::i64);
  EXPECT_EQ(promote(DType::u8, DType::i32), DType::i32);
  EXPECT_EQ(promote(DType::i64, DType::f16), DType::f16);
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
  EXPECT_EQ(promote(DType::bf16, DType::f64), DType::f64);
  EXPECT_EQ(promote(DType::f64, DType::c64), DType::c128);
  EXPECT_EQ(promote(DType::i32, DType::c64), DType::c64);
}

}  // namespace
}  // namespace plimsoll
