// As in image_jpeg.cpp, errors of libpng jump back to the call at hand.
#include <png.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "data/image.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

constexpr png_uint_32 kLongestSide = 1 << 20;

// Gray as Pillow makes it of RGB: ITU-R 601-2, rounded.
void to_gray(const uint8_t* rgb, uint8_t* gray, int64_t pixels) {
  for (int64_t i = 0; i < pixels; ++i, rgb += 3) {
    gray[i] = static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
  }
}

class PngRows final : public ImageRows {
 public:
  PngRows(std::string_view bytes, const std::string& name, int64_t channels, Scratch& scratch)
      : name_(name), scratch_(scratch), left_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    try {
      if (info_ == nullptr) fail(ErrorKind::out_of_memory, name_, "libpng cannot start");
      open(channels);
    } catch (...) {
      png_destroy_read_struct(&png_, &info_, nullptr);
      throw;
    }
  }
  ~PngRows() override { png_destroy_read_struct(&png_, &info_, nullptr); }

  const uint8_t* next() override {
    uint8_t* row = row_;
    if (whole_ != nullptr) {
      row = whole_ + at_++ * row_bytes_;
    } else {
      guard([&] { png_read_row(png_, row, nullptr); });
    }
    if (!turn_gray_) return row;
    to_gray(row, gray_, width_);
    return gray_;
  }

 private:
  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngRows*>(png_get_error_ptr(png));
    std::strncpy(self->message_.data(), message, self->message_.size() - 1);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static void on_read(png_structp png, png_bytep to, size_t count) {
    auto* self = static_cast<PngRows*>(png_get_io_ptr(png));
    if (count > self->left_.size()) png_error(png, "cut off");
    std::memcpy(to, self->left_.data(), count);
    self->left_.remove_prefix(count);
  }

  template <class Call>
  void guard(Call&& call) {
    if (setjmp(png_jmpbuf(png_)) != 0)
      fail(ErrorKind::bad_file, name_, "a damaged PNG image: ", message_.data());
    call();
  }

  void open(int64_t channels) {
    guard([&] {
      png_set_user_limits(png_, kLongestSide, kLongestSide);
      png_set_read_fn(png_, this, on_read);
      png_read_info(png_, info_);
    });
    width_ = png_get_image_width(png_, info_);
    height_ = png_get_image_height(png_, info_);
    channels_ = channels;
    if (width_ * height_ > kMostPixels) {
      fail(ErrorKind::bad_file, name_, "an image of ", width_, " x ", height_, " pixels, more than the ",
           kMostPixels, " allowed");
    }
    const bool colour = (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) != 0;  // a palette too
    turn_gray_ = channels == 1 && colour;
    const bool interlaced = png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE;
    guard([&] {
      transform(channels, colour);
      if (interlaced) png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    row_bytes_ = static_cast<int64_t>(png_get_rowbytes(png_, info_));
    const int64_t wanted = width_ * (turn_gray_ ? 3 : channels);
    if (row_bytes_ != wanted)
      fail(ErrorKind::bad_file, name_, "expected rows of ", wanted, " bytes, got ", row_bytes_);
    row_ = reinterpret_cast<uint8_t*>(scratch_.lines.resize(row_bytes_ + width_));
    gray_ = row_ + row_bytes_;
    if (interlaced) read_whole();
  }

  // To 8 bits per channel and the channels asked for.
  void transform(int64_t channels, bool colour) {
    png_set_expand(png_);
    png_set_strip_16(png_);
    if (channels > 1 && !colour) png_set_gray_to_rgb(png_);
    if (channels < 4)
      png_set_strip_alpha(png_);
    else
      png_set_add_alpha(png_, 0xff, PNG_FILLER_AFTER);
  }

  // The passes of an interlaced image each touch all of it.
  void read_whole() {
    whole_ = reinterpret_cast<uint8_t*>(scratch_.image.resize(row_bytes_ * height_));
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass) {
      for (int64_t y = 0; y < height_; ++y) {
        guard([&] { png_read_row(png_, whole_ + y * row_bytes_, nullptr); });
      }
    }
  }

  std::string name_;
  Scratch& scratch_;
  std::string_view left_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::array<char, 200> message_{};
  bool turn_gray_ = false;
  int64_t row_bytes_ = 0;
  int64_t at_ = 0;
  uint8_t* row_ = nullptr;
  uint8_t* gray_ = nullptr;
  uint8_t* whole_ = nullptr;  // of an interlaced image
};

}  // namespace

std::unique_ptr<ImageRows> open_png(std::string_view bytes, const std::string& name, int64_t channels,
                                    Scratch& scratch) {
  return std::make_unique<PngRows>(bytes, name, channels, scratch);
}

}  // namespace plimsoll::data
