#include "plimsoll/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "data/npy_header.h"
#include "memory/account.h"
#include "memory/readings.h"
#include "plimsoll/data.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

class Npy : public ::testing::Test {
 protected:
  Npy() { std::filesystem::create_directories(folder_); }
  ~Npy() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string contents(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_ = concat(::testing::TempDir(), "npy_test_", ::getpid());
};

Tensor counting(DType dtype, const Shape& shape) {
  Tensor t = Tensor::zeros(dtype, shape);
  auto* bytes = static_cast<unsigned char*>(t.data());
  for (int64_t i = 0; i < byte_size(dtype, shape); ++i) {
    bytes[i] = static_cast<unsigned char>(dtype == DType::boolean ? i % 2 : i * 7);
  }
  return t;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(byte_size(a.dtype(), a.shape()))) == 0;
}

// A .npy file of version 1 with this header text.
std::string npy(const std::string& header, const std::string& data) {
  std::string text = std::string("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  return text + header + data;
}

ErrorKind kind_of(const std::function<void()>& act, const std::string& what = "") {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
    return e.kind();
  }
  ADD_FAILURE() << "no error, expected one with: " << what;
  return ErrorKind::internal;
}

TEST_F(Npy, EveryTypeIsReadAsItWasWritten) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::bf16) continue;
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0, 4}, Shape{1, 2, 3, 4, 5, 1, 1, 2}}) {
      const Tensor t = counting(dtype, shape);
      write_npy(path("a.npy"), t);
      EXPECT_TRUE(same(read_npy(path("a.npy")), t)) << t.type().str();
      EXPECT_EQ(contents("a.npy").find('\n') % 64, 63u);
    }
  }
  write_npy(path("b.npy"), Tensor::full(DType::bf16, {2}, 1.5));
  EXPECT_EQ(read_npy(path("b.npy")).data<float>()[1], 1.5f);
}

TEST_F(Npy, BigEndianAndFortranOrderAreUnderstood) {
  write("big.npy", npy("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", {"\0\0\1\2\0\0\3\4", 8}));
  const Tensor big = read_npy(path("big.npy"));
  EXPECT_EQ(big.data<int32_t>()[0], 258);
  EXPECT_EQ(big.data<int32_t>()[1], 772);
  write("fortran.npy", npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "adbecf"));
  const Tensor fortran = read_npy(path("fortran.npy"));
  EXPECT_EQ(std::string(static_cast<const char*>(fortran.data()), 6), "abcdef");
  Batch batch;
  ASSERT_TRUE(Dataset::npy(path("fortran.npy"), path("big.npy")).read()->next(batch));
  EXPECT_EQ(std::string(static_cast<const char*>(batch.x[0].data()), 6), "abcdef");
  EXPECT_EQ(batch.y[0].data<int32_t>()[1], 772);
}

TEST_F(Npy, DamagedHeadersAreBadFilesWithThePlace) {
  const std::string eight(8, 'x');
  for (const char* header : {
           "",
           "{",
           "{}",
           "{'descr': '<f4'}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
           "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693951,)}",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
           "{'descr: '<f4'}",
           "{'descr': '<f4', 'other': False, 'shape': (2,)}",
       }) {
    const std::string file = write("bad.npy", npy(header, eight));
    EXPECT_EQ(kind_of([&] { read_npy(file); }, "bad.npy"), ErrorKind::bad_file) << header;
  }
  EXPECT_EQ(kind_of([&] { read_npy(write("bad.npy", "PK no array")); }, "mark"), ErrorKind::bad_file);
  EXPECT_EQ(kind_of([&] { read_npy(path("none.npy")); }, "none.npy"), ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { read_npy(folder_.string()); }), ErrorKind::io);
}

TEST_F(Npy, WhatHasNoTypeIsUnsupported) {
  for (const char* descr : {"'|O'", "'<U5'", "'<M8[ns]'", "[('a', '<f4')]", "'<f16'", "'|V2'"}) {
    const std::string header = concat("{'descr': ", descr, ", 'fortran_order': False, 'shape': (2,)}");
    const std::string file = write("other.npy", npy(header, std::string(64, 'x')));
    EXPECT_EQ(kind_of([&] { read_npy(file); }, "other.npy"), ErrorKind::unsupported) << descr;
  }
  const std::string deep = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}";
  EXPECT_EQ(kind_of([&] { read_npy(write("deep.npy", npy(deep, "x"))); }), ErrorKind::unsupported);
}

TEST_F(Npy, EveryCutIsABadFile) {
  write_npy(path("a.npy"), counting(DType::f32, {3, 2}));
  const std::string whole = contents("a.npy");
  for (size_t size = 0; size < whole.size(); ++size) {
    write("cut.npy", whole.substr(0, size));
    EXPECT_EQ(kind_of([&] { read_npy(path("cut.npy")); }, "cut.npy"), ErrorKind::bad_file) << size;
    EXPECT_EQ(kind_of([&] { Dataset::npy(path("cut.npy")); }), ErrorKind::bad_file) << size;
  }
}

TEST_F(Npy, AFileCutWhileItIsReadIsAnError) {
  write_npy(path("a.npy"), counting(DType::f32, {1000, 100}));
  const auto reader = Dataset::npy(path("a.npy")).batch(100).read();
  Batch batch;
  ASSERT_TRUE(reader->next(batch));
  std::filesystem::resize_file(path("a.npy"), 100'000);
  EXPECT_EQ(kind_of(
                [&] {
                  while (reader->next(batch)) continue;
                },
                "a.npy"),
            ErrorKind::bad_file);
}

TEST_F(Npy, ARefusedSizeIsNotAllocated) {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1073741824,)}";
  write("large.npy", npy(header, ""));
  std::filesystem::resize_file(path("large.npy"), (int64_t{1} << 30) + 4096);
  const int64_t limit = account::limit();
  account::set_limit(account::used() + (64 << 20));
  EXPECT_EQ(kind_of([&] { read_npy(path("large.npy")); }), ErrorKind::out_of_memory);
  account::set_limit(limit);
}

TEST_F(Npy, NpzHoldsNamedArrays) {
  const Tensor x = counting(DType::f32, {4, 3});
  const Tensor y = counting(DType::u8, {4});
  write_npz(path("a.npz"), {{"x", x}, {"y", y}, {"empty", Tensor::zeros(DType::f32, {0})}});
  const NamedTensors all = read_npz(path("a.npz"));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].first, "y");
  EXPECT_TRUE(same(all[0].second, x));
  EXPECT_TRUE(same(all[1].second, y));
  EXPECT_EQ(npz_types(path("a.npz"))[0].second, x.type());

  const Dataset data = Dataset::npz(path("a.npz")).batch(3);
  EXPECT_TRUE(data.random_access());
  const auto reader = data.read(0, 1);
  Batch batch;
  ASSERT_TRUE(reader->next(batch));
  EXPECT_EQ(batch.x[0].data<float>()[2], x.data<float>()[11]);
  EXPECT_EQ(batch.y[0].data<uint8_t>()[0], y.data<uint8_t>()[3]);
  EXPECT_EQ(kind_of([&] { Dataset::npz(path("a.npz"), {.x = {"images"}}); }, "'x', 'y'"),
            ErrorKind::not_found);
  EXPECT_EQ(kind_of([&] { Dataset::npz(path("a.npz"), {.y = {"empty"}}); }, "empty"), ErrorKind::bad_file);
}

TEST_F(Npy, ATrainingFileOfTwentyGigabytesIsReadInLittleMemory) {
  const int64_t records = 80'000;
  const std::string header = data::npy_header({DType::f32, {records, 1 << 16}});  // 256 KiB each
  write("huge.npy", header);
  std::filesystem::resize_file(path("huge.npy"),
                               header.size() + static_cast<uint64_t>(records) * (256 << 10));
  const auto resident = [] { return readings::process().value().resident; };
  [[maybe_unused]] const int64_t before = resident();
  account::reset_peak();
  const int64_t charged = account::used();
  int64_t most = 0;
  int64_t seen = 0;
  const auto reader = Dataset::npy(path("huge.npy")).shuffle(1).take(1600).batch(32).prefetch(2).read();
  for (Batch batch; reader->next(batch); seen += batch.size()) most = std::max(most, resident());
  EXPECT_EQ(seen, 1600);
  const int64_t batch_bytes = 32 * (256 << 10);
  EXPECT_LE(account::peak() - charged, 4 * batch_bytes + (1 << 20));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they hold memory of their own
  EXPECT_LE(most - before, 5 * batch_bytes + (16 << 20));
#endif
}

TEST_F(Npy, AModelTrainsOnTwentyGigabytesInThreeHundredMegabytes) {
  const int64_t records = 320'000;
  const std::string x = data::npy_header({DType::f32, {records, 1 << 14}});  // 64 KiB each
  const std::string y = data::npy_header({DType::f32, {records, 1}});
  std::filesystem::resize_file(write("x.npy", x), x.size() + static_cast<uint64_t>(records) * (64 << 10));
  std::filesystem::resize_file(write("y.npy", y), y.size() + static_cast<uint64_t>(records) * sizeof(float));
  Sequential model({Input({1 << 14}), Dense(4, {.activation = "relu"}), Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  const Dataset train =
      Dataset::npy(path("x.npy"), path("y.npy")).shuffle(1).take(1600).batch(32).prefetch(2);
  const History history = model.fit(train, {.epochs = 2, .verbose = 0});
  EXPECT_EQ(history["loss"].size(), 2u);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(readings::process().value().peak_resident, int64_t{300'000'000});
#endif
}

}  // namespace
}  // namespace plimsoll
