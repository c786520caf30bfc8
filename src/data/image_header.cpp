#include "data/image_header.h"

#include <algorithm>
#include <array>

#include "memory/buffer.h"

namespace plimsoll::data {
namespace {

struct Size {
  int64_t width = 0, height = 0;
  bool colour = true;
  bool interlaced = false;
  int64_t coefficients = 0;  // bytes that libjpeg keeps of an image with several scans
};

// `count` bytes at `at`, or none.
template <size_t count>
bool read(const FileSource& file, uint64_t at, std::array<uint8_t, count>& into) {
  if (file.size() < count || at > file.size() - count) return false;
  file.read(at, into.data(), count);
  return true;
}

int64_t big(const uint8_t* bytes, int count) {
  int64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

Size png_size(const FileSource& file) {
  constexpr uint8_t kColour = 2;
  std::array<uint8_t, 29> head;
  if (!read(file, 0, head)) return {};
  return {.width = big(&head[16], 4),
          .height = big(&head[20], 4),
          .colour = (head[25] & kColour) != 0,
          .interlaced = head[28] != 0};
}

// As libjpeg counts them: whole blocks, and some for edges.
int64_t coefficients_of(const FileSource& file, uint64_t components, int count, const Size& size) {
  constexpr int64_t kBlock = 8, kEdge = 8, kBlockBytes = 64 * 2;
  int64_t most_h = 1, most_v = 1, blocks = 0;
  std::array<uint8_t, 3> c;
  for (const bool sum : {false, true}) {
    for (int i = 0; i < count && read(file, components + 3 * static_cast<uint64_t>(i), c); ++i) {
      const int64_t h = c[1] >> 4, v = c[1] & 15;
      most_h = std::max(most_h, h);
      most_v = std::max(most_v, v);
      const auto along = [](int64_t pixels, int64_t part, int64_t most) {
        return (pixels * part + most * kBlock - 1) / (most * kBlock) + kEdge;
      };
      if (sum) blocks += along(size.width, h, most_h) * along(size.height, v, most_v);
    }
  }
  return blocks * kBlockBytes;
}

Size jpeg_size(const FileSource& file) {
  constexpr uint8_t kProgressive = 0xC2, kScan = 0xDA;
  constexpr int kMostMarkers = 1000;
  Size size;
  uint64_t at = 2, components = 0;
  int count = 0;
  std::array<uint8_t, 4> mark;
  for (int i = 0; i < kMostMarkers && read(file, at, mark) && mark[0] == 0xFF; ++i) {
    const uint8_t kind = mark[1];
    if (kind == 0xFF) {  // a byte to fill
      ++at;
      continue;
    }
    if (kind >= 0xC0 && kind <= 0xCF && kind != 0xC4 && kind != 0xC8 && kind != 0xCC) {
      std::array<uint8_t, 6> frame;
      if (!read(file, at + 4, frame)) return {};
      size.height = big(&frame[1], 2);
      size.width = big(&frame[3], 2);
      count = frame[5];
      components = at + 10;
      if (kind == kProgressive) size.coefficients = 1;
    }
    if (kind == kScan) {
      std::array<uint8_t, 1> in_scan;
      const bool several = size.coefficients > 0 || (read(file, at + 4, in_scan) && in_scan[0] < count);
      size.coefficients = several ? coefficients_of(file, components, count, size) : 0;
      return size;
    }
    at += 2 + static_cast<uint64_t>(big(&mark[2], 2));
  }
  return {};
}

}  // namespace

int64_t ImageNeeds::sum() const {
  int64_t bytes = beside;
  for (const int64_t part : {file, lines, image, tables}) bytes += part > 0 ? Buffer::charge_for(part) : 0;
  return bytes;
}

void ImageNeeds::raise_to(const ImageNeeds& other) {
  for (int64_t ImageNeeds::* part :
       {&ImageNeeds::file, &ImageNeeds::lines, &ImageNeeds::image, &ImageNeeds::tables, &ImageNeeds::beside})
    this->*part = std::max(this->*part, other.*part);
}

ImageNeeds image_needs(const FileSource& file, int64_t channels, const ResizeOptions& options) {
  // Rows that the libraries keep to filter and to blend, in bytes of a pixel, and their states and tables.
  constexpr int64_t kPixel = 64, kState = 64 << 10;
  std::array<uint8_t, 2> first;
  if (!read(file, 0, first)) return {};
  const bool jpeg = first[0] == 0xFF && first[1] == 0xD8, png = first[0] == 0x89 && first[1] == 'P';
  const Size size = jpeg ? jpeg_size(file) : png ? png_size(file) : Size{};
  if (size.width <= 0 || size.height <= 0 || size.width * size.height > kMostPixels) return {};
  const int64_t row = size.width * (png && channels == 1 && size.colour ? 3 : channels);
  return {.file = static_cast<int64_t>(file.size()),
          .lines = row + size.width,
          .image = size.interlaced ? row * size.height : 0,
          .tables = resize_bytes(options, size.width, channels),
          .beside = size.coefficients + size.width * kPixel + kState};
}

}  // namespace plimsoll::data
