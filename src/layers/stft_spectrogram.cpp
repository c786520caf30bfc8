// STFTSpectrogram, and STFT, the initializer of its kernels: a Fourier transform over time as a convolution.
#include <cmath>
#include <numbers>

#include "layers/base/conv_parts.h"
#include "layers/base/parts.h"
#include "layers/base/windows.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

void check_scaling(const std::optional<std::string>& scaling, std::string_view place) {
  if (scaling) check_choice(place, "scaling", *scaling, {"density", "spectrum"});
}

struct STFTInitializer final : InitializerBase {
  explicit STFTInitializer(STFTOptions options = {}) : o(std::move(options)) {}
  STFTOptions o;
  std::string_view class_name() const override { return "STFT"; }
  void fields(Fields& f) override {
    f("side", o.side);
    window_field(f, o.window);
    f("periodic", o.periodic);
    f("scaling", o.scaling);
  }
  // cos or sin of -2 pi time frequency, times the window. In double: the angles grow with the length.
  Tensor make(const Shape& shape, DType dtype) override {
    require(shape.rank() == 3 && shape[0] > 0 && shape[2] > 1, "STFT",
            "expected a kernel (frame_length, 1, bins) of at least 2 bins, got shape ", shape);
    check_choice("STFT", "side", o.side, {"real", "imag"});
    check_scaling(o.scaling, "STFT");
    const std::vector<double> window = window_values(o.window, shape[0], o.periodic, "STFT");
    double squares = 0, sum = 0;
    for (const double w : window) squares += w * w, sum += std::fabs(w);
    const double scale = window.empty() || !o.scaling ? 1
                         : *o.scaling == "density"    ? std::sqrt(squares)
                                                      : sum;
    const Tensor made = Tensor::empty(DType::f64, shape);
    double* to = made.data<double>();
    const double step = -std::numbers::pi / static_cast<double>(shape[2] - 1);
    for (int64_t time = 0; time < shape[0]; ++time) {
      const double share = window.empty() ? 1 : window[static_cast<size_t>(time)] / scale;
      for (int64_t middle = 0; middle < shape[1]; ++middle) {
        for (int64_t k = 0; k < shape[2]; ++k) {
          // Whole turns taken away exactly.
          const double angle = step * static_cast<double>(time * k % (2 * (shape[2] - 1)));
          *to++ = share * (o.side == "real" ? std::cos(angle) : std::sin(angle));
        }
      }
    }
    return cast(made, dtype);
  }
};

struct STFTLayer final : LayerBase {
  explicit STFTLayer(STFTSpectrogramOptions options = {}) : o(std::move(options)) {}
  STFTSpectrogramOptions o;
  std::string_view class_name() const override { return "STFTSpectrogram"; }
  void fields(Fields& f) override {
    f("mode", o.mode);
    f("frame_length", o.frame_length);
    f("frame_step", o.frame_step);
    f("fft_length", o.fft_length);
    window_field(f, o.window);
    f("periodic", o.periodic);
    f("scaling", o.scaling);
    f("padding", o.padding);
    f("expand_dims", o.expand_dims);
    f("data_format", o.data_format);
  }

  int64_t step() const { return o.frame_step.value_or(o.frame_length / 2); }
  int64_t bins() const {
    int64_t power = 1;
    while (power < o.frame_length) power *= 2;
    return o.fft_length.value_or(power) / 2 + 1;
  }
  void check() const {
    constexpr int64_t kMost = 1 << 24;
    check_choice(name(), "mode", o.mode, {"log", "magnitude", "psd", "real", "imag", "angle", "stft"});
    check_choice(name(), "padding", o.padding, {"valid", "same"});
    check_scaling(o.scaling, name());
    require(o.frame_length > 1 && o.frame_length <= kMost, name(), "expected a frame_length from 2 to ",
            kMost, ", got ", o.frame_length);
    require(step() >= 1 && step() <= o.frame_length, name(), "expected a frame_step from 1 to ",
            o.frame_length, ", got ", step());
    require(!o.fft_length || (*o.fft_length >= o.frame_length && *o.fft_length <= kMost), name(),
            "expected a fft_length from ", o.frame_length, " to ", kMost, ", got ", o.fft_length.value_or(0));
  }

  // (batch * channels, frames, bins).
  Tensor side(Scope& s, const Tensor& signals, const std::string& which) {
    const Tensor kernel = s.weight(which + "_kernel", {o.frame_length, 1, bins()},
                                   STFT({which, o.window, o.scaling, o.periodic}));
    const ConvWindow w{{o.frame_length}, {step()}, {1}};
    return conv(signals, kernel, conv_options(name(), signals, w, o.padding, 1));
  }
  Tensor of_mode(Scope& s, const Tensor& signals) {
    constexpr double kLeast = 1e-7;
    const auto at_least = [](const Tensor& x) { return maximum(x, scalar_like(x, kLeast)); };
    if (o.mode == "real" || o.mode == "imag") return side(s, signals, o.mode);
    const Tensor real = side(s, signals, "real"), imag = side(s, signals, "imag");
    if (o.mode == "angle") return arctan2(imag, real);
    if (o.mode == "stft") {
      const Tensor parts[] = {real, imag};
      return concatenate(parts, 2);
    }
    const Tensor energy = square(real) + square(imag);
    if (o.mode == "psd") {  // all but the first and last stand for two
      return energy + pad(slice_axis(energy, 2, 1, energy.dim(2) - 1), {0, 0, 1}, {0, 0, 1});
    }
    const Tensor magnitude = sqrt(at_least(energy));
    return o.mode == "magnitude" ? magnitude : log(at_least(magnitude));
  }
  Tensor call(Scope& s, const Tensor& input) override {
    check();
    require(input.rank() == 3, name(), "expected an input of 3 axes, got shape ", input.shape());
    const bool first = is_channels_first(name(), o.data_format);
    const Tensor x = first ? input : transpose(input, {0, 2, 1});
    const int64_t n = x.dim(0), channels = x.dim(1);
    const Tensor found = of_mode(s, reshape(x, Shape{n * channels, x.dim(2), 1}));
    const int64_t frames = found.dim(1), width = found.dim(2);
    const Tensor y = reshape(found, Shape{n, channels, frames, width});
    if (o.expand_dims) return first ? y : transpose(y, {0, 2, 3, 1});
    if (first) return reshape(transpose(y, {0, 1, 3, 2}), Shape{n, channels * width, frames});
    return reshape(transpose(y, {0, 2, 1, 3}), Shape{n, frames, channels * width});
  }
};

}  // namespace

Layer STFTSpectrogram(const STFTSpectrogramOptions& options) {
  return own_layer(std::make_shared<STFTLayer>(options), options);
}
Initializer STFT(const STFTOptions& options) { return std::make_shared<STFTInitializer>(options); }

std::span<const ClassDef> classes_stft_spectrogram() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "STFTSpectrogram", "", make_default<STFTLayer>},
      {Family::initializer, "STFT", "stft", make_default<STFTInitializer>},
      {Family::initializer, "STFTInitializer", "", make_default<STFTInitializer>},
  };
  return rows;
}

}  // namespace plimsoll
