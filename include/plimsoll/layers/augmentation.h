// Layers that change images in training and pass them on otherwise (AutoContrast and CenterCrop always act).
// Images are (batch, rows, columns, channels), or one image alone. Each image draws its own numbers.
#pragma once

#include "plimsoll/layers/core.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// From where to where a number is drawn: {0.1, 0.3}. One number f means {-f, f}, within the bounds of the
// layer.
struct Factor : std::vector<double> {
  Factor() = default;
  Factor(double f) : std::vector<double>{f} {}
  Factor(double low, double high) : std::vector<double>{low, high} {}
  Factor(std::initializer_list<double> range) : std::vector<double>(range) {}
};

struct RandomFlipOptions {
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
};
Layer RandomFlip(std::string mode = "horizontal_and_vertical",  // "horizontal", "vertical"
                 const RandomFlipOptions& options = {});

// What lies outside of the image: "reflect" (dcba|abcd|dcba), "wrap", "nearest" or "constant" (fill_value).
struct RandomMoveOptions {
  std::string fill_mode = "reflect";
  std::string interpolation = "bilinear";  // or "nearest"
  std::optional<int64_t> seed = {};
  double fill_value = 0.0;
  std::string data_format = "channels_last";
  std::string name = {};
};
Layer RandomRotation(Factor factor, const RandomMoveOptions& options = {});  // 1 is a full turn
// Positive zooms out. Without a width_factor both axes alike.
Layer RandomZoom(Factor height_factor, Factor width_factor = {}, const RandomMoveOptions& options = {});
Layer RandomTranslation(Factor height_factor, Factor width_factor, const RandomMoveOptions& options = {});
Layer RandomShear(Factor x_factor = 0.0, Factor y_factor = 0.0, const RandomMoveOptions& options = {});

struct RandomCropOptions {
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
};
// One place for the whole batch; smaller images are resized. Without training, images stay as they are.
Layer RandomCrop(int64_t height, int64_t width, const RandomCropOptions& options = {});
struct CenterCropOptions {
  std::string data_format = "channels_last";
  std::string name = {};
};
Layer CenterCrop(int64_t height, int64_t width, const CenterCropOptions& options = {});

struct RandomColorOptions {
  std::vector<double> value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
};
Layer RandomBrightness(Factor factor, const RandomColorOptions& options = {});
Layer RandomContrast(Factor factor, const RandomColorOptions& options = {});
Layer RandomSaturation(Factor factor, const RandomColorOptions& options = {});
Layer RandomHue(Factor factor, const RandomColorOptions& options = {});
Layer RandomColorDegeneration(Factor factor, const RandomColorOptions& options = {});
Layer RandomSharpness(Factor factor, const RandomColorOptions& options = {});
Layer RandomPosterization(Factor factor, const RandomColorOptions& options = {});  // bits kept, 1 to 8
Layer RandomInvert(Factor factor = 1.0, const RandomColorOptions& options = {});
Layer RandomGrayscale(double factor = 0.5, const RandomFlipOptions& options = {});

struct SolarizationOptions {
  Factor addition_factor = {0, 0};
  Factor threshold_factor = {0, 0};
  std::vector<double> value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
};
Layer Solarization(const SolarizationOptions& options = {});

struct RandomErasingOptions {
  Factor scale = {0.02, 0.33};          // of the image's size
  std::vector<double> fill_value = {};  // none: noise; one number, or three
  std::vector<double> value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
};
Layer RandomErasing(Factor factor = 1.0, const RandomErasingOptions& options = {});

struct RandomGaussianBlurOptions {
  Ints kernel_size = {3, 3};  // odd
  Factor sigma = 1.0;
  std::vector<double> value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
};
Layer RandomGaussianBlur(Factor factor = 1.0, const RandomGaussianBlurOptions& options = {});

struct AutoContrastOptions {
  std::vector<double> value_range = {0, 255};
  std::string data_format = "channels_last";
  std::string name = {};
};
Layer AutoContrast(const AutoContrastOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
