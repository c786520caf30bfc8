// Requests for memory failed one by one inside nlohmann's code: the process goes on. Without common/json.h
// the library's destructor asks for memory while a failed parse is being cleared away, and that ends the
// process.
#include <gtest/gtest.h>

#include <new>
#include <string>

#include "allocations/hooks.h"
#include "keras_io/json.h"
#include "plimsoll/error.h"

namespace plimsoll::testing {
namespace {

// Every kind of value, containers inside each other.
std::string document(int depth) {
  std::string text =
      R"([1, 2.5, true, null, "a string that is longer than a short one", {"key": [1, 2, 3]}])";
  for (int i = 0; i < depth; ++i)
    text = R"({"name of a layer that is long": )" + text + R"(, "more": [[], {}, [7]]})";
  return text;
}

struct FailInJson {
  FailInJson() { fail_in_json(true); }
  ~FailInJson() {
    fail_nth_new(0);
    fail_in_json(false);
  }
};

// Whether the n-th request failed, and the process lived on.
template <class Call>
bool fails_at(int64_t n, const Call& call) {
  fail_nth_new(n);
  try {
    call();
  } catch (const std::bad_alloc&) {
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory) << e.what();
  }
  const bool failed = has_failed();
  fail_nth_new(0);
  return failed;
}

template <class Call>
void each_fails(const Call& call) {
  const FailInJson scope;
  int64_t n = 1;
  while (fails_at(n, call)) ++n;
  EXPECT_GT(n, 20);
}

TEST(FailingJson, EndsNothingWhileItIsParsed) {
  const std::string text = document(6);
  each_fails([&] { keras_io::parse_json(text, "test"); });
}

TEST(FailingJson, EndsNothingWhileItIsCopied) {
  const keras_io::Json json = keras_io::parse_json(document(6), "test");
  each_fails([&] { keras_io::Json copy = json; });
}

TEST(FailingJson, IsFreedWithoutAskingForMemory) {
  auto json = std::make_unique<keras_io::Json>(keras_io::parse_json(document(60), "test"));
  start_counting();
  json = nullptr;
  for (const auto& [library, count] : stop_counting()) EXPECT_EQ(count, 0) << library;
}

}  // namespace
}  // namespace plimsoll::testing
