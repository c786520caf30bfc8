#include "data/image.h"

#include "plimsoll/error.h"

namespace plimsoll::data {

std::unique_ptr<ImageRows> open_image(std::string_view bytes, const std::string& name, int64_t channels,
                                      Scratch& scratch) {
  if (bytes.starts_with("\xFF\xD8")) return open_jpeg(bytes, name, channels, scratch);
  if (bytes.starts_with("\x89PNG")) return open_png(bytes, name, channels, scratch);
  for (const auto& [mark, format] :
       {std::pair<std::string_view, std::string_view>{"GIF8", "GIF"}, {"BM", "BMP"}, {"RIFF", "WebP"}}) {
    if (bytes.starts_with(mark))
      fail(ErrorKind::unsupported, name, "expected a JPEG or PNG image, got ", format);
  }
  fail(ErrorKind::bad_file, name, "expected a JPEG or PNG image, got ",
       bytes.empty() ? "an empty file" : "something else");
}

}  // namespace plimsoll::data
