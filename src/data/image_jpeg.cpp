// libjpeg reports errors by a function that must not return. Ours jumps back to the call at hand, which
// throws; between the two lie only frames of libjpeg and of functions without destructors.
#include <array>
#include <csetjmp>
#include <cstdio>
// clang-format off: jpeglib.h needs cstdio, jerror.h needs jpeglib.h.
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "data/image.h"
#include "memory/charge.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

// More scans than any encoder writes; a small file could keep a processor busy for hours with them.
constexpr int kMostScans = 500;

// libjpeg-turbo writes an aligned row past the caches, from where we would have to wait for it.
constexpr int64_t kOffAlignment = 4;

struct ErrorHandler {
  jpeg_error_mgr manager;  // first, so that libjpeg's pointer to it is one to this
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* handler = reinterpret_cast<ErrorHandler*>(info->err);
  handler->manager.format_message(info, handler->message.data());
  std::longjmp(handler->jump, 1);
}

void on_message(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_HIT_MARKER || code == JWRN_JPEG_EOF || code == JWRN_HUFF_BAD_CODE))
    leave(info);
}

void on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  info->err->msg_code = JERR_BAD_PROGRESSION;
  leave(info);
}

class JpegRows final : public ImageRows {
 public:
  JpegRows(std::string_view bytes, const std::string& name, int64_t channels, Scratch& scratch)
      : name_(name), scratch_(scratch) {
    info_.err = jpeg_std_error(&handler_.manager);
    handler_.manager.error_exit = leave;
    handler_.manager.emit_message = on_message;
    progress_.progress_monitor = on_progress;
    guard([&] { jpeg_create_decompress(&info_); });
    try {
      open(bytes, channels);
    } catch (...) {
      jpeg_destroy_decompress(&info_);
      throw;
    }
  }
  ~JpegRows() override { jpeg_destroy_decompress(&info_); }

  const uint8_t* next() override {
    JSAMPROW row = row_;
    guard([&] { jpeg_read_scanlines(&info_, &row, 1); });
    return row_;
  }

 private:
  // Calls libjpeg. Throws what it reports.
  template <class Call>
  void guard(Call&& call) {
    if (setjmp(handler_.jump) != 0)
      fail(ErrorKind::bad_file, name_, "a damaged JPEG image: ", handler_.message.data());
    call();
  }

  void open(std::string_view bytes, int64_t channels) {
    info_.progress = &progress_;
    guard([&] {
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()),
                   static_cast<unsigned long>(bytes.size()));
      jpeg_read_header(&info_, TRUE);
    });
    width_ = info_.image_width;
    height_ = info_.image_height;
    channels_ = channels;
    if (width_ * height_ > kMostPixels) {
      fail(ErrorKind::bad_file, name_, "an image of ", width_, " x ", height_, " pixels, more than the ",
           kMostPixels, " allowed");
    }
    if (info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK) {
      fail(ErrorKind::unsupported, name_, "a JPEG image in CMYK, the colours of print: convert it to RGB, or leave such images out "
           "(skip_bad(), --skip-bad)");
    }
    if (jpeg_has_multiple_scans(&info_)) charge_coefficients();
    info_.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_EXT_RGBA;
    guard([&] { jpeg_start_decompress(&info_); });
    row_ =
        reinterpret_cast<uint8_t*>(scratch_.lines.resize(width_ * channels + kOffAlignment)) + kOffAlignment;
  }

  // libjpeg keeps all coefficients of an image with several scans.
  void charge_coefficients() {
    int64_t blocks = 0;
    for (int i = 0; i < info_.num_components; ++i) {
      const jpeg_component_info& c = info_.comp_info[i];
      blocks += static_cast<int64_t>(c.width_in_blocks + 8) * static_cast<int64_t>(c.height_in_blocks + 8);
    }
    coefficients_.set(Owner::staging, blocks * static_cast<int64_t>(sizeof(JBLOCK)));
  }

  std::string name_;
  Scratch& scratch_;
  ErrorHandler handler_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
  Charge coefficients_;
  uint8_t* row_ = nullptr;
};

}  // namespace

std::unique_ptr<ImageRows> open_jpeg(std::string_view bytes, const std::string& name, int64_t channels,
                                     Scratch& scratch) {
  return std::make_unique<JpegRows>(bytes, name, channels, scratch);
}

}  // namespace plimsoll::data
