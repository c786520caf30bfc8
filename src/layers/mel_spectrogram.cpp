// MelSpectrogram: the power of a signal's frequencies over time, in bands as wide as the ear's.
#include <algorithm>
#include <cmath>

#include "layers/base/parts.h"
#include "layers/base/windows.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/fft.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

double mel_of(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

struct MelLayer final : LayerBase {
  explicit MelLayer(MelSpectrogramOptions options = {}) : o(std::move(options)) { settle(); }
  MelSpectrogramOptions o;
  std::string_view class_name() const override { return "MelSpectrogram"; }
  // As Keras keeps them: what was not given is filled in.
  void settle() {
    if (o.sequence_length.value_or(0) == 0) o.sequence_length = o.fft_length;
    if (o.max_freq.value_or(0) == 0) o.max_freq = std::trunc(o.sampling_rate / 2);
  }
  void fields(Fields& f) override {
    if (f.reading()) o.sequence_length = {}, o.max_freq = {};
    f("fft_length", o.fft_length);
    f("sequence_stride", o.sequence_stride);
    f("sequence_length", o.sequence_length);
    window_field(f, o.window);
    f("sampling_rate", o.sampling_rate);
    f("num_mel_bins", o.num_mel_bins);
    f("min_freq", o.min_freq);
    f("max_freq", o.max_freq);
    f("power_to_db", o.power_to_db);
    f("top_db", o.top_db);
    f("mag_exp", o.mag_exp);
    f("min_power", o.min_power);
    f("ref_power", o.ref_power);
    if (f.reading()) settle();
  }
  void check(const Tensor& x) const {
    constexpr int64_t kMost = 1 << 24;
    require(x.rank() == 1 || x.rank() == 2, name(), "expected (batch, samples) or (samples), got shape ",
            x.shape());
    require(o.fft_length > 1 && o.fft_length <= kMost && *o.sequence_length > 0 &&
                *o.sequence_length <= o.fft_length,
            name(), "expected a fft_length up to ", kMost, " and a sequence_length up to that, got ",
            o.fft_length, " and ", *o.sequence_length);
    require(o.sequence_stride > 0 && o.num_mel_bins > 0 && o.num_mel_bins <= kMost, name(),
            "expected sequence_stride and num_mel_bins > 0, got ", o.sequence_stride, " and ",
            o.num_mel_bins);
    require(x.dim(-1) > o.fft_length / 2, name(), "expected more than ", o.fft_length / 2,
            " samples (half of fft_length), got ", x.dim(-1));
    if (!o.window.name.empty()) check_choice(name(), "window", o.window.name, {"hann", "hamming"});
  }

  // (batch, frames, fft_length): each frame around its sample, the ends mirrored, times the window.
  Tensor frames(const Tensor& x) const {
    const int64_t half = o.fft_length / 2, samples = x.dim(1);
    const Tensor parts[] = {reverse(slice_axis(x, 1, 1, half + 1), {1}), x,
                            reverse(slice_axis(x, 1, samples - 1 - half, samples - 1), {1})};
    const Tensor all = concatenate(parts, 1);
    const int64_t count = 1 + (all.dim(1) - o.fft_length) / o.sequence_stride;
    const Shape grid{count, o.fft_length};
    const Tensor place =
        iota(DType::i32, grid, 0) * static_cast<double>(o.sequence_stride) + iota(DType::i32, grid, 1);
    const Tensor found = take(all, place, 1);
    std::vector<double> window = window_values(o.window, *o.sequence_length, true, name());
    if (window.empty()) return found;
    const auto before = (o.fft_length - *o.sequence_length) / 2;
    window.insert(window.begin(), static_cast<size_t>(before), 0.0);
    window.resize(static_cast<size_t>(o.fft_length), 0.0);
    return found * cast(Tensor::from<double>(window, {o.fft_length}), x.dtype());
  }

  // (bins, num_mel_bins): triangles that overlap by halves, linear in mel; none has the constant part.
  Tensor bands(int64_t bins, DType dtype) const {
    const double low = mel_of(o.min_freq), high = mel_of(*o.max_freq);
    const double step = (high - low) / static_cast<double>(o.num_mel_bins + 1);
    require(step > 0, name(), "expected min_freq below max_freq, got ", o.min_freq, " and ", *o.max_freq);
    const Tensor made = Tensor::zeros(DType::f64, {bins, o.num_mel_bins});
    double* to = made.data<double>();
    for (int64_t i = 1; i < bins; ++i) {
      const double at = mel_of(o.sampling_rate / 2 * static_cast<double>(i) / static_cast<double>(bins - 1));
      for (int64_t band = 0; band < o.num_mel_bins; ++band) {
        const double place = (at - low) / step - static_cast<double>(band);  // 1 is the middle of the band
        to[i * o.num_mel_bins + band] = std::max(0.0, std::min(place, 2 - place));
      }
    }
    return cast(made, dtype);
  }
  Tensor decibels(const Tensor& power) const {
    const double tenths = 10 / std::log(10.0);
    const Tensor level = log(maximum(power, scalar_like(power, o.min_power))) * tenths -
                         std::log(std::max(std::fabs(o.ref_power), o.min_power)) * tenths;
    return maximum(level, max(level) - o.top_db);
  }

  Tensor call(Scope& s, const Tensor& input) override {
    check(input);
    const DType dtype = s.compute_dtype() == DType::f64 ? DType::f64 : DType::f32;
    const bool single = input.rank() == 1;
    const Tensor x = cast(single ? expand_dims(input, 0) : input, dtype);
    const std::vector<Tensor> parts = rfft(frames(x));
    const Tensor magnitude = sqrt(square(parts[0]) + square(parts[1]));
    const Tensor power = plimsoll::power(magnitude, scalar_like(magnitude, o.mag_exp));
    Tensor y = matmul(power, bands(power.dim(2), dtype));
    if (o.power_to_db) y = decibels(y);
    y = cast(transpose(y, {0, 2, 1}), s.compute_dtype());
    return single ? squeeze(y, 0) : y;
  }
};

}  // namespace

Layer MelSpectrogram(const MelSpectrogramOptions& options) {
  return own_layer(std::make_shared<MelLayer>(options), options);
}

std::span<const ClassDef> classes_mel_spectrogram() {
  static constexpr ClassDef rows[] = {{Family::layer, "MelSpectrogram", "", make_default<MelLayer>}};
  return rows;
}

}  // namespace plimsoll
