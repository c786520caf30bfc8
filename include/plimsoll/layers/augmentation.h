// Layers that change images in training and pass them on otherwise (AutoContrast, CenterCrop and
// ContrastLimitedAdaptiveHistogramEqualization always act).
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
  PolicyName dtype = {};
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
  PolicyName dtype = {};
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
  PolicyName dtype = {};
};
// One place for the whole batch; smaller images are resized. Without training, images stay as they are.
Layer RandomCrop(int64_t height, int64_t width, const RandomCropOptions& options = {});
struct CenterCropOptions {
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer CenterCrop(int64_t height, int64_t width, const CenterCropOptions& options = {});

struct RandomColorOptions {
  std::vector<double> value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
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
  PolicyName dtype = {};
};
Layer Solarization(const SolarizationOptions& options = {});

struct RandomErasingOptions {
  Factor scale = {0.02, 0.33};          // of the image's size
  std::vector<double> fill_value = {};  // none: noise; one number, or three
  std::vector<double> value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer RandomErasing(Factor factor = 1.0, const RandomErasingOptions& options = {});

struct RandomGaussianBlurOptions {
  Ints kernel_size = {3, 3};  // odd
  Factor sigma = 1.0;
  std::vector<double> value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer RandomGaussianBlur(Factor factor = 1.0, const RandomGaussianBlurOptions& options = {});

struct AutoContrastOptions {
  std::vector<double> value_range = {0, 255};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer AutoContrast(const AutoContrastOptions& options = {});

// Spreads the values of each channel of a batch over the range.
struct EqualizationOptions {
  std::vector<double> value_range = {0, 255};
  int64_t bins = 256;
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer Equalization(const EqualizationOptions& options = {});

// CLAHE: the same in each tile of an image, with bins cut at clip_limit times their mean.
struct CLAHEOptions {
  std::vector<double> value_range = {0, 255};
  double clip_limit = 4.0;
  Ints tile_grid_size = {8, 8};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer ContrastLimitedAdaptiveHistogramEqualization(const CLAHEOptions& options = {});

// Moves the corners of an image by up to half of `scale` times their distance from the first. `factor` is how
// probable that is.
struct RandomPerspectiveOptions {
  double scale = 1.0;
  std::string interpolation = "bilinear";
  double fill_value = 0.0;
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer RandomPerspective(Factor factor = 1.0, const RandomPerspectiveOptions& options = {});

// Moves the pixels by smooth noise.
struct RandomElasticTransformOptions {
  Factor scale = 1.0;
  std::string interpolation = "bilinear";
  std::string fill_mode = "reflect";  // as in RandomMoveOptions, and "mirror" (dcb|abcd|cba)
  double fill_value = 0.0;
  std::vector<double> value_range = {0, 255};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer RandomElasticTransform(Factor factor = 1.0, const RandomElasticTransformOptions& options = {});

// Brightness, contrast, saturation and hue one after the other; those without a factor are left out.
struct RandomColorJitterOptions {
  std::vector<double> value_range = {0, 255};
  Factor brightness_factor = {};
  Factor contrast_factor = {};
  Factor saturation_factor = {};
  Factor hue_factor = {};
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer RandomColorJitter(const RandomColorJitterOptions& options = {});

// One after the other, num_ops changes that are drawn for the batch from eleven.
struct RandAugmentOptions {
  std::vector<double> value_range = {0, 255};
  int64_t num_ops = 2;
  Factor factor = 0.5;
  std::string interpolation = "bilinear";
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer RandAugment(const RandAugmentOptions& options = {});

// A mixture of the images and of num_chains chains of up to chain_depth changes each.
struct AugMixOptions {
  std::vector<double> value_range = {0, 255};
  int64_t num_chains = 3;
  int64_t chain_depth = 3;
  Factor factor = 0.3;
  double alpha = 1.0;   // of the distributions that the shares of the mixture are drawn from
  bool all_ops = true;  // false: without brightness, color degeneration, contrast and sharpness
  std::string interpolation = "bilinear";
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer AugMix(const AugMixOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
