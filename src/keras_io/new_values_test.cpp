// load_weights() is all or nothing: whatever is wrong with a file, wherever it ends, the weights and the
// optimizer are what they were.
#include "keras_io/new_values.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "keras_io/h5_writer.h"
#include "keras_io/weights_file.h"
#include "memory/account.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/layers.h"
#include "plimsoll/model.h"
#include "train/model_body.h"

namespace plimsoll::keras_io {
namespace {

namespace fs = std::filesystem;

class LoadWeights : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / concat("load_weights_", ::getpid());
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

Model made(uint64_t seed, int64_t last = 3) {
  set_random_seed(seed);
  Sequential model(
      {Input({6}), Dense(5, {.name = "a"}), BatchNormalization({.name = "b"}), Dense(last, {.name = "c"})});
  model.compile({.optimizer = "adam", .loss = "mse"});
  return model;
}

Model trained(uint64_t seed) {
  Model model = made(seed);
  model.train_on_batch({Tensor::full(DType::f32, {4, 6}, 0.5)}, {Tensor::full(DType::f32, {4, 3}, 0.25)});
  return model;
}

std::string state_of(const Model& model) {
  std::string all;
  std::vector<VariablePtr> variables = model.network()->all_variables();
  for (const VariablePtr& v : model.body().trainer.optimizer().variables()) variables.push_back(v);
  for (const VariablePtr& v : variables) {
    all.append(static_cast<const char*>(read_bytes(v->value)),
               static_cast<size_t>(byte_size(v->value.dtype(), v->value.shape())));
  }
  return all;
}

void expect_refused(const fs::path& file, ErrorKind kind = ErrorKind::bad_file) {
  Model model = trained(2);
  const std::string before = state_of(model);
  const int64_t used = account::used();
  try {
    model.load_weights(file);
    ADD_FAILURE() << "was read: " << file;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
  }
  EXPECT_EQ(state_of(model), before);
  EXPECT_EQ(account::used(), used);
}

TEST_F(LoadWeights, BringsTheOptimizerToo) {
  const Model source = trained(1);
  source.save_weights(folder_ / "w.weights.h5");
  Model model = trained(2);
  model.load_weights(folder_ / "w.weights.h5");
  EXPECT_EQ(state_of(model), state_of(source));
}

TEST_F(LoadWeights, OfACutFileChangesNothing) {
  for (const char* name : {"whole.weights.h5", "whole.h5", "whole.keras"}) {
    const fs::path whole = folder_ / name, cut = folder_ / concat("cut_", name);
    trained(1).save(whole);
    const auto size = static_cast<int64_t>(fs::file_size(whole));
    for (int64_t length = 0; length < size; length += size / 17) {
      fs::copy_file(whole, cut, fs::copy_options::overwrite_existing);
      fs::resize_file(cut, static_cast<uintmax_t>(length));
      expect_refused(cut);
    }
  }
}

// The first layers fit, the last does not.
TEST_F(LoadWeights, OfAnotherShapeAtTheEndChangesNothing) {
  for (const char* name : {"other.weights.h5", "other.h5", "other.keras"}) {
    made(1, 4).save(folder_ / name);
    expect_refused(folder_ / name);
  }
}

// The file loses its end once its tree has been read.
TEST_F(LoadWeights, OfAFileThatShrinksChangesNothing) {
  const fs::path path = folder_ / "w.weights.h5";
  trained(1).save_weights(path);
  const FileSource source = FileSource::open(path);
  const H5File file = H5File::read(source);
  uint64_t last = 0;
  for (const char* at : {"layers/dense/vars/0", "layers/dense_1/vars/0", "layers/batch_normalization/vars/0"})
    last = std::max(last, file.root().dataset(at)->offset);
  fs::resize_file(path, last + 4);
  Model model = trained(2);
  const std::string before = state_of(model);
  NewValues values(Write::together);
  EXPECT_THROW(read_weights(file, model.network(), values), Error);
  EXPECT_EQ(state_of(model), before);
}

// What libhdf5 has no numbers for stands where a weight should be.
TEST_F(LoadWeights, WithoutNumbersAtTheEndChangesNothing) {
  const fs::path path = folder_ / "w.weights.h5";
  trained(1).save_weights(path);
  H5File file = H5File::read(path);
  H5Group root = file.root();
  H5Group& vars = const_cast<H5Group&>(*root.group("layers/dense_1/vars"));
  vars.datasets[1].value.place = wire::Place::none;
  vars.datasets[1].value.why_not = "a compound type";
  const H5File changed(FileSource::open(path), root);
  Model model = trained(2);
  const std::string before = state_of(model);
  NewValues values(Write::at_once);
  try {
    read_weights(changed, model.network(), values);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("a compound type"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("'c'"), std::string::npos) << e.what();
  }
  EXPECT_EQ(state_of(model), before);
}

TEST_F(LoadWeights, WithoutTheMemoryForThemAllChangesNothing) {
  trained(1).save_weights(folder_ / "w.weights.h5");
  Model model = trained(2);
  const std::string before = state_of(model);
  // What is kept of Programs and kernels would be given up for them.
  account::set_limit(account::used() - account::used(Owner::programs) + 512);
  try {
    model.load_weights(folder_ / "w.weights.h5");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory) << e.what();
  }
  account::set_limit(INT64_MAX);
  EXPECT_EQ(state_of(model), before);
}

}  // namespace
}  // namespace plimsoll::keras_io
