#include "doctor/python/dataclass_defaults.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

TEST(DataclassDefaults, FindsADefaultThatCanChange) {
  const char* source =
      "@dataclass\nclass Job:\n    @dataclass\n    class Name:\n        text: str = ''\n\n"
      "    name: Name = Name()\n";
  EXPECT_EQ(mutable_dataclass_default(source), "name: Name");
}

TEST(DataclassDefaults, LeavesWhatCanBeHashedAlone) {
  EXPECT_EQ(mutable_dataclass_default("@dataclass(frozen=True)\nclass A:\n    x: int = 1\n\n"
                                      "@dataclass\nclass B:\n    a: A = A()\n"),
            "");
  EXPECT_EQ(mutable_dataclass_default("class A:\n    pass\n\n@dataclass\nclass B:\n    a: A = A()\n"), "");
  EXPECT_EQ(mutable_dataclass_default(
                "@dataclass\nclass A:\n    x: int = 1\n\n@dataclass\nclass B:\n"
                "    a: A = field(default_factory=A)\n\n    def f(self):\n        b: A = A()\n"),
            "");
}

}  // namespace
}  // namespace plimsoll::doctor
