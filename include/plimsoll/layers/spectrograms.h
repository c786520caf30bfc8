// Sound as pictures of its frequencies.
#pragma once

#include "plimsoll/layers/core.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// A window: by the name that scipy.signal has for it ("hann", "hamming", "blackman" ...), its values, or
// none.
struct Window {
  Window(const char* name) : name(name) {}
  Window(std::vector<double> values) : values(std::move(values)) {}
  Window(std::nullptr_t) {}
  std::string name = {};
  std::vector<double> values = {};
};

// (batch, samples, channels) to (batch, frames, channels * bins), by convolutions whose kernels can be
// trained.
struct STFTSpectrogramOptions {
  std::string mode = "log";  // "magnitude", "psd", "real", "imag", "angle", "stft" (real, then imag)
  int64_t frame_length = 256;
  std::optional<int64_t> frame_step = {};  // none: half of frame_length
  std::optional<int64_t> fft_length = {};  // none: the power of two from frame_length on
  Window window = "hann";
  bool periodic = false;
  std::optional<std::string> scaling = "density";  // "spectrum"; none
  std::string padding = "valid";                   // "same"
  bool expand_dims = false;                        // (batch, frames, bins, channels)
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer STFTSpectrogram(const STFTSpectrogramOptions& options = {});

// (batch, samples), or samples alone, to (batch, num_mel_bins, frames).
struct MelSpectrogramOptions {
  int64_t fft_length = 2048;
  int64_t sequence_stride = 512;
  std::optional<int64_t> sequence_length = {};  // none: fft_length
  Window window = "hann";                       // "hamming", values, none
  double sampling_rate = 16000;
  int64_t num_mel_bins = 128;
  double min_freq = 20.0;
  std::optional<double> max_freq = {};  // none: half of sampling_rate
  bool power_to_db = true;
  double top_db = 80.0;
  double mag_exp = 2.0;
  double min_power = 1e-10;
  double ref_power = 1.0;
  std::string name = {};
  PolicyName dtype = {};
};
Layer MelSpectrogram(const MelSpectrogramOptions& options = {});

struct STFTOptions {
  std::string side = "real";  // "imag"
  Window window = "hann";
  std::optional<std::string> scaling = "density";
  bool periodic = false;
};
// The kernels of STFTSpectrogram: weights of shape (frame_length, 1, bins).
Initializer STFT(const STFTOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
