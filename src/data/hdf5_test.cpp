#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "h5/program/handle.h"
#include "memory/account.h"
#include "plimsoll/data.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

class Hdf5 : public ::testing::Test {
 protected:
  // x: (n, 4) with 4 i + j, in chunks; y: (n,) with i.
  void write(hsize_t n) {
    const h5::Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    std::vector<float> x(n * 4);
    std::iota(x.begin(), x.end(), 0.0f);
    const hsize_t sizes[] = {n, 4};
    const hsize_t chunk[] = {16, 4};
    const h5::Handle space(H5Screate_simple(2, sizes, nullptr), H5Sclose);
    const h5::Handle plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(plan, 2, chunk);
    const h5::Handle set(H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, plan, H5P_DEFAULT),
                         H5Dclose);
    H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data());
    std::vector<int32_t> y(n);
    std::iota(y.begin(), y.end(), 0);
    const h5::Handle line(H5Screate_simple(1, sizes, nullptr), H5Sclose);
    const h5::Handle labels(
        H5Dcreate2(file, "y", H5T_NATIVE_INT32, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    H5Dwrite(labels, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, y.data());
  }
  ~Hdf5() override { std::filesystem::remove(path_); }
  std::string path_ = concat(::testing::TempDir(), "hdf5_test_", ::getpid(), ".h5");
};

TEST_F(Hdf5, RecordsComeInEveryOrder) {
  write(100);
  const int64_t before = account::used();
  {
    const Dataset data = Dataset::hdf5(path_).batch(7).prefetch(2);
    EXPECT_EQ(data.records(), 100);
    for (const Dataset& order : {data, data.shuffle(1), data.shuffle(1, 20)}) {
      int64_t sum = 0;
      const auto reader = order.read();
      for (Batch batch; reader->next(batch);) {
        for (int64_t i = 0; i < batch.size(); ++i) {
          const int32_t record = batch.y[0].data<int32_t>()[i];
          sum += record;
          EXPECT_EQ(batch.x[0].data<float>()[4 * i + 3], static_cast<float>(4 * record + 3));
        }
      }
      EXPECT_EQ(sum, 99 * 50);
    }
  }
  EXPECT_EQ(account::used(), before);
}

TEST_F(Hdf5, ReadersOfOneFileMayRunAtOnce) {
  write(200);
  const Dataset data = Dataset::hdf5(path_).batch(10).prefetch(3);
  const auto a = data.shuffle(1).read();
  const auto b = Dataset::hdf5(path_).batch(10).prefetch(3).read();
  Batch one, two;
  int64_t batches = 0;
  while (a->next(one) && b->next(two)) {
    EXPECT_EQ(two.y[0].data<int32_t>()[0], batches * 10);
    ++batches;
  }
  EXPECT_EQ(batches, 20);
}

// Packed in chunks, in the other byte order, and a bool: read by the process; a plain one: straight from the
// file.
TEST_F(Hdf5, RecordsOfEveryLayoutAreTheSame) {
  constexpr hsize_t kRecords = 1000, kWidth = 300;  // more than the process sends at once
  std::vector<float> values(kRecords * kWidth);
  std::iota(values.begin(), values.end(), 0.0f);
  std::vector<int8_t> odd(kRecords);
  for (size_t i = 0; i < odd.size(); ++i) odd[i] = static_cast<int8_t>(i % 2);
  {
    const h5::Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t sizes[] = {kRecords, kWidth}, chunk[] = {64, 100};
    const h5::Handle space(H5Screate_simple(2, sizes, nullptr), H5Sclose),
        line(H5Screate_simple(1, sizes, nullptr), H5Sclose), plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose),
        boolean(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
    H5Pset_chunk(plan, 2, chunk);
    H5Pset_deflate(plan, 1);
    const int8_t no = 0, yes = 1;
    H5Tenum_insert(boolean, "FALSE", &no);
    H5Tenum_insert(boolean, "TRUE", &yes);
    const auto add = [&](const char* name, hid_t type, hid_t shape, hid_t how, hid_t memory,
                         const void* from) {
      const h5::Handle set(H5Dcreate2(file, name, type, shape, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
      ASSERT_GE(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, from), 0);
    };
    add("plain", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5T_NATIVE_FLOAT, values.data());
    add("packed", H5T_IEEE_F32LE, space, plan, H5T_NATIVE_FLOAT, values.data());
    add("turned", H5T_IEEE_F32BE, space, H5P_DEFAULT, H5T_NATIVE_FLOAT, values.data());
    add("odd", boolean, line, H5P_DEFAULT, boolean, odd.data());
  }
  const Dataset data = Dataset::hdf5(path_, {.x = {"plain", "packed", "turned"}, .y = {"odd"}}).batch(333);
  for (const Dataset& order : {data, data.shuffle(3)}) {
    const auto reader = order.read();
    int64_t seen = 0;
    for (Batch batch; reader->next(batch); seen += batch.size()) {
      for (int64_t i = 0; i < batch.size(); ++i) {
        const float first = batch.x[0].data<float>()[i * static_cast<int64_t>(kWidth)];
        EXPECT_EQ(batch.y[0].data<bool>()[i], static_cast<int64_t>(first) / 300 % 2 == 1);
      }
      for (size_t c = 1; c < 3; ++c) {
        EXPECT_EQ(std::memcmp(batch.x[c].data(), batch.x[0].data(),
                              static_cast<size_t>(batch.size()) * kWidth * sizeof(float)),
                  0);
      }
    }
    EXPECT_EQ(seen, static_cast<int64_t>(kRecords));
  }
}

// Whatever becomes of the process that reads, this one gets an error.
TEST_F(Hdf5, AProcessThatDiesOrMisspeaksIsAnError) {
  write(20);
  const std::filesystem::path folder = concat(::testing::TempDir(), "libexec_", ::getpid());
  std::filesystem::create_directories(folder);
  for (const char* words :
       {"exit 3", "kill -SEGV $$", "printf b", "printf 'k\\377\\377'; head -c 100 /dev/zero",
        "printf 'k\\013\\001'; head -c 100 /dev/zero | tr '\\0' '\\377'"}) {
    std::ofstream(folder / "plimsoll-h5") << "#!/bin/sh\n" << words << "\n";
    std::filesystem::permissions(folder / "plimsoll-h5", std::filesystem::perms::owner_all);
    ::setenv("PLIMSOLL_LIBEXEC", folder.c_str(), 1);
    EXPECT_THROW(Dataset::hdf5(path_), Error) << words;
  }
  ::unsetenv("PLIMSOLL_LIBEXEC");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(Dataset::hdf5(path_).records(), 20);
}

TEST_F(Hdf5, DamagedFilesAreErrorsOrRead) {
  write(200);
  std::ostringstream whole;
  whole << std::ifstream(path_, std::ios::binary).rdbuf();
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 80; ++round) {
    std::string bytes = whole.str();
    for (int i = 0; i < 12; ++i)
      bytes[random() % std::min<size_t>(bytes.size(), 4096)] = static_cast<char>(random());
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      const auto reader = Dataset::hdf5(path_).batch(64).read();
      for (Batch batch; reader->next(batch);) continue;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
}

TEST_F(Hdf5, ANameThatIsNotThereListsThoseThereAre) {
  write(20);
  try {
    Dataset::hdf5(path_, {.y = {"labels_of_another"}});
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("labels_of_another: no data set of this name; there are: "),
              std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find("x"), std::string::npos) << e.what();
  }
}

TEST_F(Hdf5, WhatIsNoHdf5IsABadFile) {
  write(20);
  const auto kind = [&](const Hdf5Options& options) {
    try {
      Dataset::hdf5(path_, options);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(path_), std::string::npos);
      return e.kind();
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind({.y = {"z"}}), ErrorKind::bad_file);
  std::filesystem::resize_file(path_, 300);
  EXPECT_EQ(kind({}), ErrorKind::bad_file);
  std::filesystem::remove(path_);
  EXPECT_EQ(kind({}), ErrorKind::not_found);
}

}  // namespace
}  // namespace plimsoll
