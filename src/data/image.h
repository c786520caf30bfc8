// Images decoded row by row and resized on the way, so that no whole image is held in memory (interlaced PNG
// and progressive JPEG excepted, which libjpeg and we must hold and charge).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "data/source.h"

namespace plimsoll::data {

// The rows of one image, top to bottom, `channels` bytes per pixel: gray, RGB or RGBA.
class ImageRows {
 public:
  virtual ~ImageRows() = default;
  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  int64_t channels() const { return channels_; }
  // The next row, valid until the next call. Requires: there is one left. Throws Error{bad_file} if the file
  // is damaged.
  virtual const uint8_t* next() = 0;

 protected:
  int64_t width_ = 0, height_ = 0, channels_ = 0;
};

// Larger images are refused as Error{bad_file}, as Pillow does: a small file can claim any size.
inline constexpr int64_t kMostPixels = 178'956'970;

// `bytes` are a JPEG or PNG file and must outlive the rows; `name` is for messages. Throw Error{bad_file} if
// it is damaged, {unsupported} for CMYK. Damage to JPEG data that other readers pass over (a decoder's
// warning) is an error too.
std::unique_ptr<ImageRows> open_jpeg(std::string_view bytes, const std::string& name, int64_t channels,
                                     Scratch& scratch);
std::unique_ptr<ImageRows> open_png(std::string_view bytes, const std::string& name, int64_t channels,
                                    Scratch& scratch);
// By the first bytes. Throws Error{unsupported} for other formats that it knows, {bad_file} else.
std::unique_ptr<ImageRows> open_image(std::string_view bytes, const std::string& name, int64_t channels,
                                      Scratch& scratch);

enum class Interpolation : uint8_t { nearest, bilinear };
struct ResizeOptions {
  int64_t height, width;
  Interpolation interpolation = Interpolation::bilinear;
  bool crop_to_aspect_ratio = false;  // cut the middle out first, so that nothing is stretched
};
// What that takes for rows of so many pixels.
int64_t resize_bytes(const ResizeOptions& options, int64_t width, int64_t channels);
// To float32 or uint8 (height, width, channels), as tf.image.resize does it: pixels have their centres at one
// half, no antialiasing; bit for bit in float32.
void resize_image(ImageRows& image, const ResizeOptions& options, DType dtype, void* to, Scratch& scratch);

}  // namespace plimsoll::data
