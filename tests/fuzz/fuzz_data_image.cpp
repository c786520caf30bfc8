// JPEG and PNG as the reader of image folders takes them. libjpeg and libpng themselves are not instrumented.
#include "data/image.h"
#include "fuzz.h"
#include "memory/account.h"
#include "plimsoll/error.h"

using namespace plimsoll;

namespace {

// A gray pixel; larger images lie in corpus/.
constexpr unsigned char kPng[] = {0x89, 'P', 'N',  'G', 13,   10,   26,   10,  //
                                  0,    0,   0,    13,  'I',  'H',  'D',  'R',  0,    0,    0,    1,    0,
                                  0,    0,   1,    8,   0,    0,    0,    0,    0x3a, 0x7e, 0x9b, 0x55,  //
                                  0,    0,   0,    10,  'I',  'D',  'A',  'T',  0x78, 0x9c, 0x63, 0x68, 0,
                                  0,    0,   0x82, 0,   0x81, 0x77, 0xcd, 0x72, 0xb6, 0,    0,    0,    0,
                                  'I',  'E', 'N',  'D', 0xae, 0x42, 0x60, 0x82};

}  // namespace

std::vector<std::string> seeds() { return {std::string(reinterpret_cast<const char*>(kPng), sizeof kPng)}; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  account::set_limit(account::used() + (64 << 20));
  for (const int64_t channels : {1, 3, 4}) {
    try {
      data::Scratch scratch;
      const std::string_view file(reinterpret_cast<const char*>(bytes), size);
      const auto image = data::open_image(file, "input", channels, scratch);
      // Few bytes can claim millions of rows, and each would be read: time, not danger.
      if (image->width() * image->height() > 1 << 16) continue;
      float to[7 * 5 * 4];
      data::resize_image(*image, {.height = 7, .width = 5, .crop_to_aspect_ratio = channels == 3}, DType::f32,
                         to, scratch);
    } catch (const Error&) {
      // The right answer to a garbled image.
    }
  }
  return 0;
}
