// Resizing: images of any size to one size.
#include <algorithm>

#include "layers/base/parts.h"
#include "layers/base/resize.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/preprocessing.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct ResizingLayer final : LayerBase {
  explicit ResizingLayer(int64_t height = 1, int64_t width = 1, ResizingOptions options = {})
      : height(height), width(width), o(std::move(options)) {}
  int64_t height, width;
  ResizingOptions o;
  std::string fill_mode = "constant";

  std::string_view class_name() const override { return "Resizing"; }
  void fields(Fields& f) override {
    f("data_format", o.data_format);
    f("height", height);
    f("width", width);
    f("interpolation", o.interpolation);
    f("crop_to_aspect_ratio", o.crop_to_aspect_ratio);
    f("pad_to_aspect_ratio", o.pad_to_aspect_ratio);
    f("fill_mode", fill_mode);
    f("fill_value", o.fill_value);
    f("antialias", o.antialias);
  }

  // The part of the image, or the image with borders, that has the shape asked for.
  Tensor framed(const Tensor& x) const {
    const int64_t rows = x.dim(1);
    const int64_t columns = x.dim(2);
    const auto scaled = [](int64_t a, int64_t b, int64_t c) {
      constexpr double kMost = 1LL << 56;  // more elements than a tensor has
      return static_cast<int64_t>(std::min(double(a) * double(b) / double(c), kMost));
    };
    const int64_t fit_rows = scaled(columns, height, width);
    const int64_t fit_columns = scaled(rows, width, height);
    if (o.crop_to_aspect_ratio) {
      const int64_t h = std::max<int64_t>(std::min(rows, fit_rows), 1);
      const int64_t w = std::max<int64_t>(std::min(columns, fit_columns), 1);
      const int64_t top = (rows - h) / 2;
      const int64_t left = (columns - w) / 2;
      return slice_axis(slice_axis(x, 1, top, top + h), 2, left, left + w);
    }
    if (!o.pad_to_aspect_ratio) return x;
    // Keras adds as much after as before, and only along the axis that is short first.
    const int64_t above = (std::max(rows, fit_rows) - rows) / 2;
    const int64_t beside = above > 0 ? 0 : (std::max(columns, fit_columns) - columns) / 2;
    return pad(x, {0, above, beside, 0}, {0, above, beside, 0}, {}, o.fill_value);
  }

  Tensor call(Scope&, const Tensor& input) override {
    require(height > 0 && width > 0, name(), "expected height and width > 0, got ", height, " and ", width);
    require(!o.crop_to_aspect_ratio || !o.pad_to_aspect_ratio, name(),
            "only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be set");
    require(input.rank() == 3 || input.rank() == 4, name(), "expected images of 3 or 4 axes, got shape ",
            input.shape());
    check_choice(name(), "fill_mode", fill_mode, {"constant"});
    const bool first = is_channels_first(name(), o.data_format);
    const bool single = input.rank() == 3;
    Tensor x = single ? expand_dims(input, 0) : input;
    if (first) x = channels_to_last(x);
    Tensor y = resize_images(framed(x), height, width, o.interpolation, o.antialias, name());
    if (y.dtype() != input.dtype()) {
      y = round(y);
      if (input.dtype() == DType::u8) y = clip(y, 0, 255);
      y = cast(y, input.dtype());
    }
    if (first) y = channels_to_first(y);
    return single ? squeeze(y, 0) : y;
  }
};

}  // namespace

Layer Resizing(int64_t height, int64_t width, const ResizingOptions& options) {
  return own_layer(std::make_shared<ResizingLayer>(height, width, options), options);
}

std::span<const ClassDef> classes_resizing() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Resizing", "", make_default<ResizingLayer>, {"height", "width"}}};
  return rows;
}

}  // namespace plimsoll
