#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "common/file_source.h"
#include "data/image.h"
#include "data/image_folder.h"
#include "data/image_header.h"
#include "data/sources.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

constexpr uint64_t kLargestFile = uint64_t{1} << 30;

enum class LabelMode : uint8_t { none, number, categorical, binary };

LabelMode label_mode(const ImageOptions& options) {
  if (options.labels == "none") return LabelMode::none;
  if (options.label_mode == "int") return LabelMode::number;
  if (options.label_mode == "categorical") return LabelMode::categorical;
  require(options.label_mode == "binary", "dataset.images",
          "expected label_mode \"int\", \"categorical\" or \"binary\", got \"", options.label_mode, "\"");
  return LabelMode::binary;
}

ResizeOptions resize_options(const ImageOptions& options) {
  require(options.size.size() == 2 && std::min(options.size[0], options.size[1]) > 0 &&
              std::max(options.size[0], options.size[1]) <= 1 << 16,
          "dataset.images", "expected a size of height and width, up to 65536");
  const bool bilinear = options.interpolation == "bilinear";
  require(bilinear || options.interpolation == "nearest", "dataset.images",
          "expected interpolation \"bilinear\" or \"nearest\", got \"", options.interpolation, "\"");
  return {.height = options.size[0],
          .width = options.size[1],
          .interpolation = bilinear ? Interpolation::bilinear : Interpolation::nearest,
          .crop_to_aspect_ratio = options.crop_to_aspect_ratio};
}

RecordTypes types_of(const ImageOptions& options, const ResizeOptions& resize, int64_t classes) {
  require(options.channels == 1 || options.channels == 3 || options.channels == 4, "dataset.images",
          "expected 1, 3 or 4 channels, got ", options.channels);
  require(options.dtype == DType::f32 || options.dtype == DType::u8, "dataset.images",
          "expected dtype float32 or uint8, got ", options.dtype);
  RecordTypes types{.x = {{options.dtype, {resize.height, resize.width, options.channels}}}};
  switch (label_mode(options)) {
    case LabelMode::none: break;
    case LabelMode::number: types.y = {{DType::i32, {}}}; break;
    case LabelMode::categorical: types.y = {{DType::f32, {classes}}}; break;
    case LabelMode::binary:
      require(classes == 2, "dataset.images", "expected two classes for label_mode \"binary\", got ",
              classes);
      types.y = {{DType::f32, {1}}};
      break;
  }
  return types;
}

class ImageSource final : public Source {
 public:
  ImageSource(RecordTypes types, std::unique_ptr<ImageFolder> folder, const ImageOptions& options)
      : Source(std::move(types)),
        folder_(std::move(folder)),
        resize_(resize_options(options)),
        mode_(label_mode(options)),
        channels_(options.channels),
        dtype_(options.dtype),
        threads_(options.threads > 0 ? options.threads : readings::usable_cpus()) {}

  std::optional<int64_t> records() const override { return folder_->size(); }
  bool can_be_bad() const override { return true; }
  int threads() const override { return threads_; }
  int64_t prefetch() const override { return 2; }
  int64_t workspace() const override {
    std::call_once(looked_, [this] {
      look();
      known_ = true;
    });
    return needs_.sum();
  }
  const std::vector<std::string>& class_names() const override { return folder_->class_names(); }

  void read(std::span<const int64_t> records, const Rows& to, int64_t row, Scratch& scratch) const override {
    for (const int64_t record : records) {
      read_image(folder_->path(record), to.at(0, row), scratch);
      if (mode_ != LabelMode::none) write_label(folder_->label(record), to, row);
      ++row;
    }
  }

 private:
  // At all images, or at as many as are soon looked at.
  void look() const {
    constexpr int64_t kMost = 20'000;
    const int64_t step = (folder_->size() + kMost - 1) / kMost;
    for (int64_t i = 0; i < folder_->size(); i += step) {
      try {
        needs_.raise_to(image_needs(FileSource::open(folder_->path(i)), channels_, resize_));
      } catch (const Error&) {
        // reading it will say so
      }
    }
  }

  // All of it at once: a buffer that grows has room to grow again.
  void reserve(Scratch& scratch) const {
    if (!known_) return;
    scratch.file.reserve(needs_.file);
    scratch.lines.reserve(needs_.lines);
    scratch.image.reserve(needs_.image);
    scratch.tables.reserve(needs_.tables);
  }

  void read_image(const std::string& path, char* to, Scratch& scratch) const {
    const FileSource file = FileSource::open(path);
    if (file.size() > kLargestFile)
      fail(ErrorKind::bad_file, path, "an image file of ", file.size(), " bytes");
    reserve(scratch);
    file.read(0, scratch.file.resize(static_cast<int64_t>(file.size())), file.size());
    const auto image = open_image(scratch.file.text(), path, channels_, scratch);
    resize_image(*image, resize_, dtype_, to, scratch);
  }

  void write_label(int32_t label, const Rows& to, int64_t row) const {
    char* place = to.at(1, row);
    if (mode_ == LabelMode::number) {
      std::memcpy(place, &label, sizeof label);
      return;
    }
    std::memset(place, 0, static_cast<size_t>(to.columns[1].bytes));
    const float one = mode_ == LabelMode::binary ? static_cast<float>(label) : 1.0f;
    std::memcpy(place + (mode_ == LabelMode::binary ? 0 : static_cast<size_t>(label) * sizeof one), &one,
                sizeof one);
  }

  std::unique_ptr<ImageFolder> folder_;
  ResizeOptions resize_;
  LabelMode mode_;
  int64_t channels_;
  DType dtype_;
  int threads_;
  mutable std::once_flag looked_;
  mutable ImageNeeds needs_;
  mutable std::atomic<bool> known_ = false;
};

}  // namespace

SourcePtr image_source(const std::string& folder, const ImageOptions& options) {
  require(options.threads >= 0 && options.threads <= 1024, "dataset.images",
          "expected 0 to 1024 threads, got ", options.threads);
  const ResizeOptions resize = resize_options(options);
  auto files = std::make_unique<ImageFolder>(folder, options);
  RecordTypes types = types_of(options, resize, static_cast<int64_t>(files->class_names().size()));
  return std::make_shared<ImageSource>(std::move(types), std::move(files), options);
}

}  // namespace plimsoll::data
