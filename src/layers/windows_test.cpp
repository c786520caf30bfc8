// Windows against SciPy, and the STFT initializer against Keras: tests/golden/windows.npz, made by
// tests/golden/make_window_goldens.py.
#include "layers/base/windows.h"

#include <gtest/gtest.h>

#include "plimsoll/error.h"
#include "support/npz.h"

namespace plimsoll {
namespace {

const std::map<std::string, testing::NpyArray>& goldens() {
  static const auto all = testing::read_npz(std::string(PLIMSOLL_GOLDEN_FOLDER) + "/windows.npz");
  return all;
}

TEST(Windows, AreScipys) {
  int seen = 0;
  for (const auto& [name, values] : goldens()) {
    if (name.starts_with("stft")) continue;
    const std::string kind = name.substr(0, name.find('_'));
    const std::vector<double> made =
        window_values(kind.c_str(), values.elements(), name.ends_with("1"), "test");
    for (size_t i = 0; i < made.size(); ++i)
      EXPECT_NEAR(made[i], values.data<double>()[i], 1e-12) << name << " " << i;
    ++seen;
  }
  EXPECT_EQ(seen, 17 * 8);
}

// Keras takes the angles, up to 940 here, in float32, where they are 6e-5 apart.
void expect_kernel(const Tensor& made, const std::string& name, int64_t every) {
  const testing::NpyArray& want = goldens().at(name);
  const int64_t bins = made.dim(2);
  for (int64_t i = 0; i < want.elements(); ++i) {
    const int64_t row = i / bins * every;
    ASSERT_NEAR(made.data<double>()[row * bins + i % bins], want.data<double>()[i], 1e-4)
        << name << " " << i;
  }
}

TEST(STFTInitializer, MakesKerassKernels) {
  for (const std::string side : {"real", "imag"}) {
    for (const std::string scaling : {"density", "spectrum", "None"}) {
      const std::optional<std::string> given = scaling == "None" ? std::nullopt : std::optional(scaling);
      const Initializer init = STFT({.side = side, .window = "hamming", .scaling = given, .periodic = true});
      expect_kernel(init->make({300, 1, 257}, DType::f64), "stft_" + side + "_" + scaling, 37);
    }
    expect_kernel(STFT({.side = side, .window = nullptr})->make({5, 1, 4}, DType::f64),
                  "stft_" + side + "_plain", 1);
    expect_kernel(
        STFT({.side = side, .window = std::vector<double>{0.5, 1, 0.25}})->make({3, 1, 3}, DType::f64),
        "stft_" + side + "_list", 1);
  }
}

TEST(Windows, RefuseWhatTheyAreNot) {
  EXPECT_THROW(window_values("han", 8, false, "test"), Error);
  EXPECT_THROW(window_values(std::vector<double>{1, 2}, 3, false, "test"), Error);
  EXPECT_THROW(window_values("hann", 0, false, "test"), Error);
  EXPECT_THROW(STFT({.side = "left"})->make({4, 1, 3}, DType::f32), Error);
  EXPECT_THROW(STFT()->make({4, 3}, DType::f32), Error);
}

}  // namespace
}  // namespace plimsoll
