#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>

#include "memory/account.h"
#include "plimsoll/data.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// x: (n, 2) with (i, -i); y: (n,) with i.
Dataset numbers(int64_t n) {
  std::vector<float> x;
  std::vector<int32_t> y(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) x.insert(x.end(), {static_cast<float>(i), static_cast<float>(-i)});
  std::iota(y.begin(), y.end(), 0);
  return Dataset::arrays({Tensor::from<float>(x, {n, 2})}, {Tensor::from<int32_t>(y, {n})});
}

// The same as a stream.
Dataset stream(int64_t n) {
  const auto open = [n](int64_t) -> Dataset::Generator {
    return [n, i = int64_t{0}](Record& record) mutable {
      if (i == n) return false;
      record.x = {Tensor::from<float>(std::vector{static_cast<float>(i), static_cast<float>(-i)}, {2})};
      record.y = {Tensor::from<int32_t>(std::vector{static_cast<int32_t>(i)}, {})};
      ++i;
      return true;
    };
  };
  return Dataset::generator(open, {.x = {{DType::f32, {2}}}, .y = {{DType::i32, {}}}});
}

std::vector<std::vector<int32_t>> batches_of(BatchReader& reader) {
  std::vector<std::vector<int32_t>> all;
  for (Batch batch; reader.next(batch);) {
    const int32_t* y = batch.y[0].data<int32_t>();
    all.emplace_back(y, y + batch.size());
    const float* x = batch.x[0].data<float>();
    for (int64_t i = 0; i < batch.size(); ++i) {
      EXPECT_EQ(x[2 * i], static_cast<float>(y[i]));
      EXPECT_EQ(x[2 * i + 1], -static_cast<float>(y[i]));
    }
  }
  return all;
}

std::vector<int32_t> labels(const Dataset& data, int64_t epoch = 0, int64_t first_batch = 0) {
  std::vector<int32_t> all;
  const auto reader = data.read(epoch, first_batch);
  for (const auto& batch : batches_of(*reader)) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

std::vector<int32_t> sorted(std::vector<int32_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<int32_t> counting(int32_t n, int32_t from = 0) {
  std::vector<int32_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), from);
  return values;
}

void leave_out_multiples_of_7(Record& record) {
  if (record.x[0].data<float>()[0] > 0 && record.y[0].data<int32_t>()[0] % 7 == 0) {
    fail(ErrorKind::bad_file, "test", "record ", record.position);
  }
}

TEST(Dataset, ReadsInOrderAndEndsWithASmallerBatch) {
  const Dataset data = numbers(10).batch(4);
  EXPECT_EQ(data.records(), 10);
  EXPECT_EQ(data.batches(), 3);
  const auto all = batches_of(*data.read());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2], (std::vector<int32_t>{8, 9}));
  EXPECT_EQ(labels(data), counting(10));
}

TEST(Dataset, DropRemainderLeavesOutTheSmallerBatch) {
  for (const Dataset& data : {numbers(10).batch(4, true), stream(10).batch(4, true).prefetch(1)}) {
    EXPECT_EQ(labels(data), counting(8));
  }
  EXPECT_EQ(numbers(10).batch(4, true).batches(), 2);
}

TEST(Dataset, ShuffleIsAFunctionOfSeedAndEpoch) {
  for (const int64_t window : {0, 1, 7, 30, 100, 500}) {
    const Dataset data = numbers(100).shuffle(5, window).batch(9);
    const auto epoch0 = labels(data, 0);
    EXPECT_EQ(sorted(epoch0), counting(100)) << window;
    EXPECT_EQ(labels(data, 0), epoch0);
    EXPECT_EQ(labels(data.prefetch(3), 0), epoch0);
    EXPECT_NE(labels(data, 1), epoch0) << window;
    EXPECT_NE(labels(numbers(100).shuffle(6, window), 0), epoch0);
  }
}

TEST(Dataset, StreamsAreShuffledInAWindow) {
  const Dataset data = stream(100).shuffle(5, 10).batch(9);
  const auto epoch0 = labels(data, 0);
  EXPECT_EQ(sorted(epoch0), counting(100));
  EXPECT_NE(epoch0, counting(100));
  EXPECT_EQ(labels(data.prefetch(2), 0), epoch0);
  EXPECT_NE(labels(data, 1), epoch0);
  // Record i cannot leave before it has come in.
  for (size_t i = 0; i < epoch0.size(); ++i) EXPECT_LT(epoch0[i], static_cast<int32_t>(i) + 10);
}

TEST(Dataset, ResumesInTheMiddleOfAnEpoch) {
  const auto bad = [](const Dataset& d) { return d.map(leave_out_multiples_of_7).skip_bad(); };
  const std::vector<Dataset> all = {numbers(100).shuffle(1),         numbers(100).shuffle(1, 8),
                                    stream(100).shuffle(1, 8),       stream(100),
                                    bad(numbers(100).shuffle(1)),    bad(stream(100)).prefetch(2),
                                    numbers(50).shuffle(2).repeat(2)};
  for (size_t d = 0; d < all.size(); ++d) {
    const Dataset data = all[d].batch(6);
    const auto whole = batches_of(*data.read(3));
    for (const size_t first : {size_t{0}, size_t{1}, size_t{5}, whole.size(), whole.size() + 3}) {
      const auto rest = batches_of(*data.read(3, static_cast<int64_t>(first)));
      const std::vector<std::vector<int32_t>> want(
          whole.begin() + static_cast<ptrdiff_t>(std::min(first, whole.size())), whole.end());
      EXPECT_EQ(rest, want) << "data set " << d << " from batch " << first;
    }
  }
}

TEST(Dataset, TakeSkipAndRepeatWorkOnWhatStandsBefore) {
  for (const Dataset& data : {numbers(10), stream(10)}) {
    EXPECT_EQ(labels(data.take(3)), counting(3));
    EXPECT_EQ(labels(data.skip(8)), counting(2, 8));
    EXPECT_EQ(labels(data.skip(20)), counting(0));
    EXPECT_EQ(labels(data.take(2).repeat(2)), (std::vector<int32_t>{0, 1, 0, 1}));
    EXPECT_EQ(labels(data.repeat(0)), counting(0));
    EXPECT_EQ(sorted(labels(data.skip(5).shuffle(1, 3))), counting(5, 5));
  }
  EXPECT_EQ(numbers(10).skip(4).repeat(3).records(), 18);
  // Training and validation parts of one shuffle are apart.
  const Dataset shuffled = numbers(10).shuffle(4);
  auto both = labels(shuffled.take(7));
  const auto rest = labels(shuffled.skip(7));
  both.insert(both.end(), rest.begin(), rest.end());
  EXPECT_EQ(sorted(both), counting(10));
  // Each repetition has an order of its own.
  const auto twice = labels(shuffled.repeat(2));
  EXPECT_FALSE(std::equal(twice.begin(), twice.begin() + 10, twice.begin() + 10));
}

TEST(Dataset, BadRecordsAreLeftOutAndCountedAndBatchesStayFull) {
  for (const int threads : {0, 1, 3}) {
    for (const Dataset& source : {numbers(50), stream(50)}) {
      const Dataset data = source.map(leave_out_multiples_of_7, threads).skip_bad().batch(5);
      EXPECT_FALSE(data.batches().has_value());
      const auto reader = data.read();
      const auto all = batches_of(*reader);
      EXPECT_EQ(reader->skipped(), 7);
      ASSERT_EQ(all.size(), 9u);
      for (size_t i = 0; i < 8; ++i) EXPECT_EQ(all[i].size(), 5u);
      std::vector<int32_t> joined;
      for (const auto& batch : all) joined.insert(joined.end(), batch.begin(), batch.end());
      std::vector<int32_t> want = counting(50);
      std::erase_if(want, [](int32_t i) { return i > 0 && i % 7 == 0; });
      EXPECT_EQ(joined, want);
    }
  }
}

TEST(Dataset, ABadRecordEndsTheReadingWithItsError) {
  for (const int threads : {0, 1, 3}) {
    const auto reader = numbers(50).map(leave_out_multiples_of_7, threads).batch(5).prefetch(threads).read();
    Batch batch;
    EXPECT_TRUE(reader->next(batch));
    for (int i = 0; i < 2; ++i) {  // and stays so
      try {
        reader->next(batch);
        ADD_FAILURE() << "no error";
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_file);
        EXPECT_STREQ(e.what(), "[test] record 7");
      }
    }
  }
}

TEST(Dataset, ForeignExceptionsReachTheReader) {
  const auto open = [](int64_t) -> Dataset::Generator {
    return [](Record&) -> bool { throw std::bad_alloc(); };
  };
  const Dataset data = Dataset::generator(open, {.x = {{DType::f32, {2}}}}).skip_bad();
  for (const int64_t prefetch : {0, 2}) {
    Batch batch;
    EXPECT_THROW(data.prefetch(prefetch).read()->next(batch), std::bad_alloc);
  }
}

TEST(Dataset, MapChangesValuesAndTypes) {
  const auto change = [](Record& record) {
    record.x[0].data<float>()[1] += 1;
    record.y = {Tensor::full(DType::f64, {3}, record.y[0].item())};
  };
  for (const int threads : {0, 2}) {
    const Dataset data = numbers(20).map(change, threads).batch(8);
    EXPECT_EQ(data.y_types()[0].str(), "float64(3,)");
    const auto reader = data.read();
    Batch batch;
    ASSERT_TRUE(reader->next(batch));
    EXPECT_EQ(batch.x[0].data<float>()[2 * 5 + 1], -4);
    EXPECT_EQ(batch.y[0].shape(), (Shape{8, 3}));
    EXPECT_EQ(batch.y[0].data<double>()[3 * 7 + 2], 7);
  }
}

TEST(Dataset, ColumnsMayChangePlaces) {
  const Tensor a = Tensor::full(DType::f32, {3, 2}, 1);
  const Tensor b = Tensor::full(DType::f32, {3, 2}, 2);
  const Dataset data = Dataset::arrays({a}, {b}).map([](Record& r) { std::swap(r.x, r.y); });
  Batch batch;
  ASSERT_TRUE(data.read()->next(batch));
  EXPECT_EQ(batch.x[0].data<float>()[5], 2);
  EXPECT_EQ(batch.y[0].data<float>()[5], 1);
}

TEST(Dataset, RandomNumbersOfRecordsDependOnEpochAndPosition) {
  const auto change = [](Record& r) { r.y = {Tensor::from<uint64_t>(std::vector{r.random}, {})}; };
  const auto randoms = [&](int64_t epoch, int threads) {
    const auto reader = numbers(40).map(change, threads).read(epoch);
    std::set<uint64_t> seen;
    for (Batch batch; reader->next(batch);) {
      for (int64_t i = 0; i < batch.size(); ++i) seen.insert(batch.y[0].data<uint64_t>()[i]);
    }
    return seen;
  };
  EXPECT_EQ(randoms(0, 0).size(), 40u);
  EXPECT_EQ(randoms(0, 0), randoms(0, 3));
  EXPECT_NE(randoms(0, 0), randoms(1, 0));
}

TEST(Dataset, ReusesTheBatchesBuffersUnlessTheyAreHeld) {
  const auto reader = numbers(40).batch(10).read();
  Batch batch;
  ASSERT_TRUE(reader->next(batch));
  const Tensor held = batch.y[0];
  ASSERT_TRUE(reader->next(batch));
  ASSERT_TRUE(reader->next(batch));
  EXPECT_EQ(held.data<int32_t>()[9], 9);
}

TEST(Dataset, BuffersAreBoundedAndChargedAndGivenBack) {
  const int64_t before = account::used();
  {
    const int64_t n = 1 << 16;
    const Dataset data = Dataset::arrays({Tensor::zeros(DType::f32, {n, 64})}).batch(1024).prefetch(2);
    const int64_t with_data = account::used();
    account::reset_peak();
    const auto reader = data.read();
    for (Batch batch; reader->next(batch);) continue;
    const int64_t batch_bytes = 1024 * 64 * 4;
    EXPECT_LE(account::peak() - with_data, 4 * (batch_bytes + batch_bytes / 4));
    EXPECT_GE(account::peak() - with_data, batch_bytes);
  }
  EXPECT_EQ(account::used(), before);
}

TEST(Dataset, StopsEarlyWithItsThreads) {
  std::atomic<int> calls = 0;
  for (int round = 0; round < 20; ++round) {
    const auto reader = numbers(1000).map([&](Record&) { ++calls; }, 3).batch(10).prefetch(4).read();
    Batch batch;
    if (round % 2 == 0) {
      EXPECT_TRUE(reader->next(batch));
    }
  }
  EXPECT_LT(calls, 20 * 1000);
}

TEST(Dataset, InMemoryTurnsAStreamIntoArrays) {
  int64_t skipped = 0;
  const Dataset data = stream(50).map(leave_out_multiples_of_7).skip_bad().batch(8).in_memory(&skipped);
  EXPECT_EQ(skipped, 7);
  EXPECT_EQ(data.records(), 43);
  EXPECT_EQ(data.batch_size(), 8);
  EXPECT_EQ(sorted(labels(data.shuffle(1))).size(), 43u);
  EXPECT_EQ(labels(numbers(10).batch(4, true).in_memory().batch(4)), counting(10));
}

TEST(Dataset, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Dataset::arrays({}), Error);
  EXPECT_THROW(Dataset::arrays({Tensor()}), Error);
  EXPECT_THROW(Dataset::arrays({Tensor::zeros(DType::f32, {})}), Error);
  EXPECT_THROW(Dataset::arrays({Tensor::zeros(DType::f32, {3})}, {Tensor::zeros(DType::f32, {4})}), Error);
  EXPECT_THROW(numbers(3).batch(0), Error);
  EXPECT_THROW(numbers(3).batch(INT64_MAX), Error);
  EXPECT_THROW(numbers(3).repeat(INT64_MAX), Error);
  EXPECT_THROW(numbers(3).shuffle(1, -1), Error);
  EXPECT_THROW(numbers(3).map(nullptr), Error);
  EXPECT_THROW(numbers(3).read(-1), Error);
  EXPECT_THROW(stream(3).shuffle(1).read(), Error);
  EXPECT_THROW(numbers(3).map([](Record& r) { r.x.clear(); }), Error);
}

TEST(Dataset, NoRecordsAreNoBatches) {
  for (const int64_t prefetch : {0, 2}) {
    EXPECT_EQ(labels(numbers(0).shuffle(1).repeat(3).prefetch(prefetch)), counting(0));
    EXPECT_EQ(labels(stream(0).prefetch(prefetch)), counting(0));
  }
}

TEST(Dataset, NoMoreBatchesAreHeldThanThereAre) {
  const Tensor x = Tensor::zeros(DType::f32, {10, 4});
  const auto held = [&](int64_t batch) { return Dataset::arrays({x}).prefetch(4).batch(batch).batches_held(); };
  EXPECT_EQ(held(1), 6);
  EXPECT_EQ(held(5), 3);
  EXPECT_EQ(held(100), 2);
}

}  // namespace
}  // namespace plimsoll
