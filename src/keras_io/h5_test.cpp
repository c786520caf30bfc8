#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include "h5/program/handle.h"
#include "keras_io/h5_stream.h"
#include "keras_io/h5_tree.h"
#include "keras_io/h5_writer.h"
#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

class H5 : public ::testing::Test {
 protected:
  void SetUp() override { path_ = concat(::testing::TempDir(), "h5_test_", ::getpid(), ".h5"); }
  void TearDown() override { std::remove(path_.c_str()); }

  std::string bytes() const {
    const FileSource file = FileSource::open(path_);
    return file.text(0, file.size());
  }

  std::string path_;
};

FileSource source_of(std::string_view bytes) {
  NamelessFile file;
  file.append(bytes.data(), bytes.size());
  return std::move(file).source("test.h5");
}

Tensor ramp(DType dtype, const Shape& shape) {
  Tensor t = Tensor::zeros(dtype, shape);
  const int64_t bytes = byte_size(dtype, shape);
  for (int64_t i = 0; i < bytes; ++i) {
    static_cast<unsigned char*>(t.data())[i] =
        static_cast<unsigned char>(dtype == DType::boolean ? i % 2 : i * 7);
  }
  return t;
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.type(), b.type());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(byte_size(a.dtype(), a.shape()))), 0);
}

TEST_F(H5, ReadsWhatItWrites) {
  const DType types[] = {DType::boolean, DType::u8,   DType::i16, DType::u32, DType::i64,
                         DType::f16,     DType::bf16, DType::f32, DType::f64};
  {
    H5Writer w(path_);
    for (const DType t : types) w.dataset(concat("layers/dense/vars/", t), ramp(t, {3, 2}));
    w.dataset("scalar", ramp(DType::f32, {}));
    w.dataset("empty", ramp(DType::f32, {0, 3}));
    w.group("a/b");
    w.attribute("", "backend", std::string_view("tensorflow"));
    w.attribute("a/b", "epoch", 3);
    w.attribute("a", "names", std::vector<std::string>{"x", "", "longer"});
    w.attribute("layers/dense", "none", std::vector<std::string>{});
    w.close();
  }
  const H5File file = H5File::read(path_);
  for (const DType t : types) {
    const H5Dataset* d = file.root().dataset(concat("layers/dense/vars/", t));
    ASSERT_NE(d, nullptr) << name_of(t);
    EXPECT_EQ(d->place, wire::Place::file) << name_of(t);
    expect_equal(file.read(*d), ramp(t, {3, 2}));
  }
  expect_equal(file.read(*file.root().dataset("scalar")), ramp(DType::f32, {}));
  expect_equal(file.read(*file.root().dataset("empty")), ramp(DType::f32, {0, 3}));
  EXPECT_EQ(*file.root().text("backend"), "tensorflow");
  EXPECT_EQ(file.root().group("a/b")->attributes.at("epoch").numbers, std::vector<double>{3});
  EXPECT_EQ(file.root().group("a")->texts("names"), (std::vector<std::string>{"x", "", "longer"}));
  EXPECT_TRUE(file.root().group("layers/dense")->attributes.at("none").is_array);
  EXPECT_EQ(file.root().group("a/c"), nullptr);
  EXPECT_EQ(file.root().dataset("a/b/c"), nullptr);
}

TEST_F(H5, ManyNamesAreCutAsKerasCutsThem) {
  std::vector<std::string> names;
  for (int i = 0; i < 9000; ++i) names.push_back(concat("block_", i, "/kernel:0"));
  {
    H5Writer w(path_);
    w.attribute("", "weight_names", names);
    w.attribute("", "model_config", std::string(300'000, 'c'));
    w.close();
  }
  const H5File file = H5File::read(path_);
  EXPECT_EQ(file.root().attributes.count("weight_names"), 0u);
  EXPECT_EQ(file.root().attributes.count("weight_names2"), 1u);
  EXPECT_EQ(file.root().texts("weight_names"), names);
  EXPECT_EQ(file.root().text("model_config")->size(), 300'000u);
}

ErrorKind kind_of_failure(const std::function<void()>& what, std::string_view word) {
  try {
    what();
  } catch (const Error& e) {
    EXPECT_NE(std::string_view(e.what()).find(word), std::string_view::npos) << e.what();
    return e.kind();
  }
  ADD_FAILURE() << "no error with " << word;
  return ErrorKind::internal;
}

TEST_F(H5, WhatCannotBeWrittenIsTold) {
  EXPECT_EQ(kind_of_failure([] { H5Writer("/no/such/folder/a.h5"); }, "/no/such/folder/a.h5"), ErrorKind::io);
  EXPECT_EQ(kind_of_failure(
                [&] {
                  H5Writer w(path_);
                  w.dataset("a", ramp(DType::f32, {2}));
                  w.dataset("a", ramp(DType::f32, {2}));
                },
                "cannot write a"),
            ErrorKind::io);
  EXPECT_EQ(kind_of_failure(
                [&] {
                  H5Writer w(path_);
                  w.attribute("absent", "name", 1);
                  w.close();
                },
                "attribute name of absent"),
            ErrorKind::io);
  EXPECT_EQ(kind_of_failure([&] { H5Writer(path_).dataset("z", ramp(DType::c64, {2})); }, "z"),
            ErrorKind::unsupported);
}

TEST_F(H5, PackedAndTurnedDataIsStreamed) {
  std::vector<float> values(64 * 50);
  std::iota(values.begin(), values.end(), 0.0f);
  {
    const h5::Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t dims[] = {64, 50}, chunk[] = {10, 50};
    const h5::Handle space(H5Screate_simple(2, dims, nullptr), H5Sclose),
        plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(plan, 2, chunk);
    H5Pset_deflate(plan, 6);
    const h5::Handle packed(H5Dcreate2(file, "packed", H5T_IEEE_F32LE, space, H5P_DEFAULT, plan, H5P_DEFAULT),
                            H5Dclose);
    H5Dwrite(packed, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    const h5::Handle turned(
        H5Dcreate2(file, "turned", H5T_IEEE_F64BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    H5Dwrite(turned, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  const H5File file = H5File::read(path_);
  for (const char* name : {"packed", "turned"}) {
    const H5Dataset& d = *file.root().dataset(name);
    EXPECT_EQ(d.place, wire::Place::stream);
    const Tensor t = file.read(d);
    for (size_t i = 0; i < values.size(); ++i) {
      const double got = t.dtype() == DType::f32 ? t.data<float>()[i] : t.data<double>()[i];
      ASSERT_EQ(got, values[i]) << name << " " << i;
    }
  }
}

TEST_F(H5, AMemberOfAnArchiveIsReadInPlace) {
  {
    H5Writer w(path_);
    w.dataset("x", ramp(DType::f32, {5}));
    w.close();
  }
  const std::string inner = bytes(), outer = std::string(12345, 'z') + inner + "tail";
  const H5File file = H5File::read(source_of(outer).part(12345, inner.size(), "test.h5"));
  expect_equal(file.read(*file.root().dataset("x")), ramp(DType::f32, {5}));
}

TEST_F(H5, AnUnwrittenGiantIsRefusedBeforeItIsAllocated) {
  {
    const h5::Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t dims[] = {hsize_t{1} << 40};
    const h5::Handle space(H5Screate_simple(1, dims, nullptr), H5Sclose);
    const h5::Handle giant(
        H5Dcreate2(file, "giant", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  }
  try {
    H5File::read(path_);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::bad_file) << e.what();
  }
}

TEST_F(H5, ACircleOfGroupsAndALinkToAFileAreRefused) {
  for (const bool circle : {true, false}) {
    {
      const h5::Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
      const h5::Handle group(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
      if (circle)
        H5Lcreate_hard(file, "/", group, "again", H5P_DEFAULT, H5P_DEFAULT);
      else
        H5Lcreate_external("/etc/passwd", "/", group, "outside", H5P_DEFAULT, H5P_DEFAULT);
    }
    EXPECT_THROW(H5File::read(path_), Error);
  }
}

// Whatever libhdf5 makes of a damaged file (it crashes on some), the answer is a tree or an Error{bad_file}.
TEST_F(H5, DamagedFilesAreBadFiles) {
  {
    H5Writer w(path_);
    w.dataset("layers/dense/vars/0", ramp(DType::f32, {4, 4}));
    w.attribute("layers/dense", "name", std::string_view("dense"));
    w.attribute("layers", "names", std::vector<std::string>{"a", "b"});
    w.close();
  }
  const std::string whole = bytes();
  std::mt19937 random(3);
  int bad = 0;
  for (int round = 0; round < 60; ++round) {
    std::string damaged = whole;
    if (round % 3 == 0)
      damaged.resize(random() % whole.size());
    else
      for (int n = 0; n < 6; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const H5File file = H5File::read(source_of(damaged));
      if (const H5Dataset* d = file.root().dataset("layers/dense/vars/0")) file.read(*d);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::bad_file) << e.what();
      EXPECT_NE(std::string(e.what()).find("test.h5"), std::string::npos) << e.what();
      ++bad;
    }
  }
  EXPECT_GT(bad, 20);
}

TEST(H5Stream, ALengthThatWasMadeUpAllocatesNothing) {
  // A root with one attribute of 2^63 texts, then nothing.
  std::string stream("G\0\0\0\0A\1\0\0\0at\0", 13);
  stream += std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
  size_t at = 0;
  const ReadBytes read = [&](void* into, uint64_t count) {
    if (count > stream.size() - at) fail(ErrorKind::bad_file, "test", "the end");
    std::memcpy(into, stream.data() + at, count);
    at += count;
  };
  EXPECT_THROW(parse_h5_stream(read, 100, "test"), Error);
}

}  // namespace
}  // namespace plimsoll::keras_io
