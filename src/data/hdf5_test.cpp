#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "common/h5_handle.h"
#include "memory/account.h"
#include "plimsoll/data.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

class Hdf5 : public ::testing::Test {
 protected:
  // x: (n, 4) with 4 i + j, in chunks; y: (n,) with i.
  void write(hsize_t n) {
    const H5Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    std::vector<float> x(n * 4);
    std::iota(x.begin(), x.end(), 0.0f);
    const hsize_t sizes[] = {n, 4};
    const hsize_t chunk[] = {16, 4};
    const H5Handle space(H5Screate_simple(2, sizes, nullptr), H5Sclose);
    const H5Handle plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(plan, 2, chunk);
    const H5Handle set(H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, plan, H5P_DEFAULT),
                       H5Dclose);
    H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data());
    std::vector<int32_t> y(n);
    std::iota(y.begin(), y.end(), 0);
    const H5Handle line(H5Screate_simple(1, sizes, nullptr), H5Sclose);
    const H5Handle labels(
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
