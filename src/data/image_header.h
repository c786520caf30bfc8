// What it takes to decode an image, from the first bytes of its file.
#pragma once

#include <cstdint>

#include "common/file_source.h"
#include "data/image.h"

namespace plimsoll::data {

// Bytes of one thread, by buffer of its Scratch; `beside`: libjpeg's and libpng's own.
struct ImageNeeds {
  int64_t file = 0, lines = 0, image = 0, tables = 0, beside = 0;
  int64_t sum() const;  // as the account takes them
  void raise_to(const ImageNeeds& other);
};

// Zero of what is no such image, which decoding it says. Throws Error{io}.
ImageNeeds image_needs(const FileSource& file, int64_t channels, const ResizeOptions& options);

}  // namespace plimsoll::data
