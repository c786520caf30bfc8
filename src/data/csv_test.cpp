#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "memory/account.h"
#include "plimsoll/data.h"
#include "plimsoll/error.h"
#include "plimsoll/npy.h"

namespace plimsoll {
namespace {

class Csv : public ::testing::Test {
 protected:
  ~Csv() override { std::filesystem::remove(path_); }
  Dataset csv(const std::string& text, const CsvOptions& options = {}) const {
    std::ofstream(path_, std::ios::binary) << text;
    return Dataset::csv(path_, options);
  }
  std::string path_ = concat(::testing::TempDir(), "csv_test_", ::getpid(), ".csv");
};

std::vector<double> values(const Tensor& t) {
  std::vector<double> all;
  for (int64_t i = 0; i < t.shape().elements(); ++i) {
    if (t.dtype() == DType::f32)
      all.push_back(t.data<float>()[i]);
    else if (t.dtype() == DType::f64)
      all.push_back(t.data<double>()[i]);
    else if (t.dtype() == DType::i32)
      all.push_back(t.data<int32_t>()[i]);
    else
      all.push_back(static_cast<double>(t.data<int64_t>()[i]));
  }
  return all;
}

Batch all_of(const Dataset& data) {
  Batch batch;
  data.batch(1000).read()->next(batch);
  return batch;
}

using Values = std::vector<double>;

void expect_bad(const Dataset& data, const std::string& what) {
  try {
    all_of(data);
    ADD_FAILURE() << "no error, expected one with: " << what;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::bad_file);
    EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
  }
}

TEST_F(Csv, ColumnsGoByNameAndNumber) {
  const std::string text = "a,b,c,d\n1,2,3,4\n5,6,7,8\n";
  const Batch all = all_of(csv(text, {.label = {"d"}}));
  EXPECT_EQ(values(all.x[0]), (Values{1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(values(all.y[0]), (Values{4, 8}));
  EXPECT_EQ(all.y[0].shape(), (Shape{2}));
  const Batch some = all_of(csv(text, {.label = {"-1", "0"}, .columns = {"c", "b"}, .dtype = DType::f64}));
  EXPECT_EQ(values(some.x[0]), (Values{3, 2, 7, 6}));
  EXPECT_EQ(values(some.y[0]), (Values{4, 1, 8, 5}));
  EXPECT_EQ(some.x[0].dtype(), DType::f64);
  const Batch weighted = all_of(csv(text, {.label = {"a"}, .weight = "b"}));
  EXPECT_EQ(values(weighted.weights[0]), (Values{2, 6}));
  EXPECT_EQ(values(weighted.x[0]), (Values{3, 4, 7, 8}));
  const Batch bare = all_of(csv("1;2\n3;4", {.label = {"1"}, .delimiter = ';', .header = false}));
  EXPECT_EQ(values(bare.x[0]), (Values{1, 3}));
}

TEST_F(Csv, Utf16IsNamed) {
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF"}) {
    try {
      csv(mark + "a,b\n1,2\n", {.label = {"b"}});
      FAIL();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("UTF-16"), std::string::npos) << e.what();
    }
  }
}

TEST_F(Csv, QuotesLineEndsBlanksAndMarksAreUnderstood) {
  const Dataset data =
      csv("\xEF\xBB\xBF\"a\",\"b \"\"x\"\"\",\"c\nd\"\r\n\"1\", 2 ,3\r\n\r\n\n+4,-5e-1,\"6\"\r",
          {.label = {"c\nd"}, .columns = {"a", "b \"x\""}});
  const Batch all = all_of(data);
  EXPECT_EQ(values(all.x[0]), (Values{1, 2, 4, -0.5}));
  EXPECT_EQ(values(all.y[0]), (Values{3, 6}));
}

TEST_F(Csv, NumbersAreThoseOfTheirText) {
  const Batch all = all_of(csv("a\n0.1\n1e400\n-1e-400\ninf\nTrue\nfalse\n", {.dtype = DType::f64}));
  EXPECT_EQ(values(all.x[0]), (Values{0.1, HUGE_VAL, 0, HUGE_VAL, 1, 0}));
  const Batch whole = all_of(csv("a,b\n9007199254740993,3\n-7,4.0\n",
                                 {.label = {"a"}, .dtype = DType::i32, .label_dtype = DType::i64}));
  EXPECT_EQ(whole.y[0].data<int64_t>()[0], 9007199254740993);
  EXPECT_EQ(values(whole.x[0]), (Values{3, 4}));
}

TEST_F(Csv, MissingValuesStandForWhatTheOptionSays) {
  const std::string text = "a,b\n1,\nNA,2\n,null\n";
  expect_bad(csv(text), "line 2, column 1 ('b'): a missing value");
  EXPECT_EQ(values(all_of(csv(text, {.missing = -1})).x[0]), (Values{1, -1, -1, 2, -1, -1}));
  EXPECT_TRUE(std::isnan(values(all_of(csv(text, {.missing = NAN})).x[0])[1]));
}

TEST_F(Csv, ABadRowNamesLineAndColumn) {
  expect_bad(csv("a,b\n1,2\n\n3,red\n"), "line 4, column 1 ('b'): expected a number, got 'red'");
  expect_bad(csv("a,b\n1,2\n3\n"), "line 3: expected 2 fields, got 1");
  expect_bad(csv("a,b\n1,2,3\n"), "line 2: expected 2 fields, got 3");
  expect_bad(csv("a,b\n1,\"2\n3,4\n"), "line 2: a quote that does not end");
  expect_bad(csv("a\n1.5\n", {.dtype = DType::i64}), "expected int64, got '1.5'");
  expect_bad(csv("a\n3000000000\n", {.dtype = DType::i32}), "expected int32");
  expect_bad(csv("a\n0x10\n"), "0x10");
  expect_bad(csv("a\n1 2\n"), "1 2");
}

TEST_F(Csv, BadRowsAreSkippedIfAsked) {
  const Dataset data = csv("a,b\n1,2\n3,red\n5,6\n7\n8,9\n").skip_bad().batch(2);
  const auto reader = data.read();
  Batch batch;
  ASSERT_TRUE(reader->next(batch));
  EXPECT_EQ(values(batch.x[0]), (Values{1, 2, 5, 6}));
  ASSERT_TRUE(reader->next(batch));
  EXPECT_EQ(values(batch.x[0]), (Values{8, 9}));
  EXPECT_FALSE(reader->next(batch));
  EXPECT_EQ(reader->skipped(), 2);
}

TEST_F(Csv, WrongOptionsAndFilesAreRefusedAtOnce) {
  EXPECT_THROW(csv("a,b\n1,2\n", {.label = {"c"}}), Error);
  EXPECT_THROW(csv("a,b\n1,2\n", {.label = {"a"}, .columns = {"a"}}), Error);
  EXPECT_THROW(csv("a,b\n1,2\n", {.label = {"a", "b"}}), Error);
  EXPECT_THROW(csv("a,b\n1,2\n", {.delimiter = '"'}), Error);
  EXPECT_THROW(csv("a,b\n1,2\n", {.dtype = DType::bf16}), Error);
  EXPECT_THROW(csv(""), Error);
  EXPECT_THROW(csv("\n\n"), Error);
  EXPECT_THROW(Dataset::csv("/nowhere.csv"), Error);
  EXPECT_EQ(all_of(csv("a,b\n")).size(), 0);
}

// Rows of many lengths, so that blocks of the file end everywhere in them.
TEST_F(Csv, ALargeFileStreamsInLittleMemory) {
  {
    std::ofstream out(path_);
    out << "i,j,text\n";
    for (int i = 0; i < 60'000; ++i)
      out << i << ',' << 2 * i << ",\"" << std::string(static_cast<size_t>(i % 40), 'x') << "\"\n";
  }
  const int64_t before = account::used();
  account::reset_peak();
  const Dataset data =
      Dataset::csv(path_, {.label = {"i"}, .columns = {"j"}, .label_dtype = DType::i32}).batch(1000);
  for (const int threads : {0, 2}) {
    int32_t want = 0;
    const auto reader = data.map([](Record&) {}, threads).prefetch(threads).read();
    for (Batch batch; reader->next(batch);) {
      for (int64_t i = 0; i < batch.size(); ++i, ++want) {
        ASSERT_EQ(batch.y[0].data<int32_t>()[i], want);
        ASSERT_EQ(batch.x[0].data<float>()[i], static_cast<float>(2 * want));
      }
    }
    EXPECT_EQ(want, 60'000);
  }
  EXPECT_LT(account::peak() - before, 4 << 20);
  int64_t seen = 0;
  const auto shuffled = data.shuffle(1, 500).read(0, 20);
  for (Batch batch; shuffled->next(batch);) seen += batch.size();
  EXPECT_EQ(seen, 40'000);
}

TEST_F(Csv, WritesWhatReadsBackExactly) {
  const std::vector<float> numbers = {0.1f, -1e-30f, 3.4e38f, 16777216, 1.0f / 3, 0};
  write_csv(path_, Tensor::from<float>(numbers, {3, 2}), {"a", "b,\"c\""});
  const Batch all = all_of(Dataset::csv(path_, {.columns = {"a", "b,\"c\""}}));
  EXPECT_EQ(values(all.x[0]), Values(numbers.begin(), numbers.end()));
  write_csv(path_, Tensor::from<int64_t>(std::vector<int64_t>{INT64_MIN, INT64_MAX}, {2}));
  const Batch whole = all_of(Dataset::csv(path_, {.header = false, .dtype = DType::i64}));
  EXPECT_EQ(whole.x[0].data<int64_t>()[0], INT64_MIN);
  EXPECT_EQ(whole.x[0].data<int64_t>()[1], INT64_MAX);
  EXPECT_THROW(write_csv(path_, Tensor::zeros(DType::f32, {2, 2}), {"one"}), Error);
  EXPECT_THROW(write_csv(path_, Tensor::zeros(DType::c64, {2})), Error);
}

}  // namespace
}  // namespace plimsoll
