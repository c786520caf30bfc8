// Each output row lies between two input rows, which are resized horizontally when first needed and kept as
// long as they are. The arithmetic is that of TensorFlow's ResizeBilinear with half_pixel_centers, in
// float32.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "data/image.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

// Between which two inputs an output lies.
struct Between {
  int32_t low, high;  // horizontally: offsets of their first channel
  float part;         // of the way from low to high
};

Between between(int64_t i, float scale, int64_t inputs) {
  const float at = (static_cast<float>(i) + 0.5f) * scale - 0.5f;
  const float floor = std::floor(at);
  return {static_cast<int32_t>(std::max<int64_t>(static_cast<int64_t>(floor), 0)),
          static_cast<int32_t>(std::min<int64_t>(static_cast<int64_t>(std::ceil(at)), inputs - 1)),
          at - floor};
}

Between nearest(int64_t i, float scale, int64_t inputs) {
  const auto at = static_cast<int64_t>(std::floor((static_cast<float>(i) + 0.5f) * scale));
  const auto place = static_cast<int32_t>(std::min(at, inputs - 1));
  return {place, place, 0};
}

// The part of the image that is used.
struct Box {
  int64_t top, left, height, width;
};

Box box_of(const ImageRows& image, const ResizeOptions& o) {
  Box box{0, 0, image.height(), image.width()};
  if (!o.crop_to_aspect_ratio) return box;
  const auto fitted = [](int64_t a, int64_t b, int64_t c) {
    return static_cast<int64_t>(static_cast<float>(a * b) / static_cast<float>(c));
  };
  box.height = std::max<int64_t>(1, std::min(image.height(), fitted(image.width(), o.height, o.width)));
  box.width = std::max<int64_t>(1, std::min(image.width(), fitted(image.height(), o.width, o.height)));
  box.top = (image.height() - box.height) / 2;
  box.left = (image.width() - box.width) / 2;
  return box;
}

// Four floats: a pixel of up to four channels, computed at once. What lies behind a pixel of fewer is
// computed too and then overwritten by the next, so rows have room for one pixel more.
using Pixel = float __attribute__((vector_size(16)));

Pixel load(const float* from) {
  Pixel pixel;
  std::memcpy(&pixel, from, sizeof pixel);
  return pixel;
}

void resize_row(const float* __restrict from, const Between* __restrict columns, int64_t width,
                int64_t channels, float* __restrict to) {
  if (channels == 1) {
    for (int64_t x = 0; x < width; ++x) {
      const Between& c = columns[x];
      to[x] = from[c.low] + (from[c.high] - from[c.low]) * c.part;
    }
    return;
  }
  for (int64_t x = 0; x < width; ++x, to += channels) {
    const Between& c = columns[x];
    const Pixel low = load(from + c.low);
    const Pixel high = load(from + c.high);
    const Pixel value = low + (high - low) * c.part;
    std::memcpy(to, &value, sizeof value);
  }
}

template <class T>
void mix_rows(const float* __restrict low, const float* __restrict high, float part, int64_t count,
              T* __restrict to) {
  for (int64_t i = 0; i < count; ++i) {
    const float value = low[i] + (high[i] - low[i]) * part;
    if constexpr (std::is_same_v<T, float>)
      to[i] = value;
    else
      to[i] = static_cast<T>(static_cast<int32_t>(value + 0.5f));
  }
}

class Resizer {
 public:
  Resizer(ImageRows& image, const ResizeOptions& options, Scratch& scratch)
      : image_(image),
        box_(box_of(image, options)),
        options_(options),
        row_floats_(options.width * image.channels()) {
    const int64_t tables = table_bytes(options), input_floats = image.width() * image.channels();
    char* room = scratch.tables.resize(bytes_of(options, image.width(), image.channels()));
    columns_ = reinterpret_cast<Between*>(room);
    rows_[0] = reinterpret_cast<float*>(room + tables);
    rows_[1] = rows_[0] + row_floats_ + kSlack;
    input_ = rows_[1] + row_floats_ + kSlack;
    std::fill_n(input_ + input_floats, kSlack, 0.0f);
    const float scale = static_cast<float>(box_.width) / static_cast<float>(options.width);
    for (int64_t x = 0; x < options.width; ++x) {
      columns_[x] = place(x, scale, box_.width);
      columns_[x].low = static_cast<int32_t>((columns_[x].low + box_.left) * image.channels());
      columns_[x].high = static_cast<int32_t>((columns_[x].high + box_.left) * image.channels());
    }
  }

  static int64_t bytes_of(const ResizeOptions& options, int64_t width, int64_t channels) {
    const int64_t floats = 2 * (options.width * channels + kSlack) + width * channels + kSlack;
    return table_bytes(options) + floats * static_cast<int64_t>(sizeof(float));
  }

  template <class T>
  void run(T* to) {
    const float scale = static_cast<float>(box_.height) / static_cast<float>(options_.height);
    for (int64_t y = 0; y < options_.height; ++y, to += row_floats_) {
      const Between b = place(y, scale, box_.height);
      const float* low = row(box_.top + b.low, box_.top + b.high);
      const float* high = row(box_.top + b.high, box_.top + b.low);
      mix_rows(low, high, b.part, row_floats_, to);
    }
  }

 private:
  static int64_t table_bytes(const ResizeOptions& options) {
    return options.width * static_cast<int64_t>(sizeof(Between));
  }
  Between place(int64_t i, float scale, int64_t inputs) const {
    return options_.interpolation == Interpolation::nearest ? nearest(i, scale, inputs)
                                                            : between(i, scale, inputs);
  }

  // Input row y, resized horizontally. The place of row `keep` is left alone.
  const float* row(int64_t y, int64_t keep) {
    if (held_[0] == y) return rows_[0];
    if (held_[1] == y) return rows_[1];
    const uint8_t* input = nullptr;
    for (; read_ <= y; ++read_) input = image_.next();
    const int slot = held_[0] == keep ? 1 : 0;
    held_[slot] = y;
    resize_input(input, rows_[slot]);
    return rows_[slot];
  }

  void resize_input(const uint8_t* __restrict input, float* to) {
    float* __restrict floats = input_;
    const int64_t count = image_.width() * image_.channels();
    for (int64_t i = 0; i < count; ++i) floats[i] = input[i];
    resize_row(input_, columns_, options_.width, image_.channels(), to);
  }

  static constexpr int64_t kSlack = 4;  // floats behind each row

  ImageRows& image_;
  Box box_;
  const ResizeOptions& options_;
  int64_t row_floats_;
  Between* columns_ = nullptr;
  float* rows_[2] = {};
  float* input_ = nullptr;      // one input row as floats
  int64_t held_[2] = {-1, -1};  // which input rows
  int64_t read_ = 0;            // input rows so far
};

}  // namespace

int64_t resize_bytes(const ResizeOptions& options, int64_t width, int64_t channels) {
  return Resizer::bytes_of(options, width, channels);
}

void resize_image(ImageRows& image, const ResizeOptions& options, DType dtype, void* to, Scratch& scratch) {
  Resizer resizer(image, options, scratch);
  if (dtype == DType::u8)
    resizer.run(static_cast<uint8_t*>(to));
  else
    resizer.run(static_cast<float*>(to));
}

}  // namespace plimsoll::data
