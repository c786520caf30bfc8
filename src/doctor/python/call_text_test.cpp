#include "doctor/python/call_text.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

using Names = std::vector<std::string>;

TEST(CallText, ASignatureHasPlacesNamesAndDefaults) {
  const auto s = read_signature("def f(a, /, b: dict[str, int] = {1: 2}, *args, c, d=(1, 2), **kw) -> list[int]:");
  ASSERT_TRUE(s);
  ASSERT_EQ(s->parameters.size(), 4u);
  EXPECT_FALSE(s->parameters[0].by_name);
  EXPECT_FALSE(s->parameters[0].optional);
  EXPECT_TRUE(s->parameters[1].by_name && s->parameters[1].by_position && s->parameters[1].optional);
  EXPECT_FALSE(s->parameters[2].by_position || s->parameters[2].optional);
  EXPECT_TRUE(s->parameters[3].optional);
  EXPECT_EQ(s->rest, "args");
  EXPECT_EQ(s->keywords, "kw");
}

TEST(CallText, ASignatureThatCannotBeToldIsNone) {
  EXPECT_FALSE(read_signature("def f(a=lambda x, y: x):"));
  EXPECT_FALSE(read_signature("def f[T](a: T):"));
  EXPECT_TRUE(read_signature("def f():"));
}

TEST(CallText, ArgumentsAreCountedOutsideOfBrackets) {
  const Arguments a = read_arguments("x, [1, 2], g(a=1), b == c, key=lambda p, q=2: p, *more, n = 3");
  EXPECT_EQ(a.by_position, 4u);
  EXPECT_EQ(a.names, (Names{"key", "n"}));
  EXPECT_TRUE(a.unpacks);
}

TEST(CallText, AGeneratorIsOneArgument) {
  EXPECT_EQ(read_arguments("a for a, b in c if a == b").by_position, 1u);
  EXPECT_EQ(read_arguments("f(lambda x: x), 1").by_position, 2u);
}

TEST(CallText, AStatementBindsItsTargets) {
  EXPECT_EQ(bound_by("a, (b, c.d) = x = f(k=1)"), (Names{"a", "b", "c", "x"}));
  EXPECT_EQ(bound_by("a: T.b = 1"), (Names{"a"}));
  EXPECT_EQ(bound_by("for i, j in x: k = 2"), (Names{"i", "j", "k"}));
  EXPECT_EQ(bound_by("with open() as f, g() as h:"), (Names{"f", "h"}));
  EXPECT_EQ(bound_by("if (n := f(a=1)) == 2: pass"), (Names{"n"}));
  EXPECT_TRUE(bound_by("f(a=1) == g(b=2)").empty());
}

}  // namespace
}  // namespace plimsoll::doctor
