// CenterCrop, RandomCrop, RandomErasing, RandomGaussianBlur.
#include <algorithm>

#include "layers/base/images.h"
#include "layers/base/resize.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/preprocessing.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct CenterCropLayer final : ImageLayer {
  explicit CenterCropLayer(int64_t height = 1, int64_t width = 1, const CenterCropOptions& options = {})
      : height(height), width(width) {
    data_format = options.data_format;
  }
  int64_t height, width;
  std::string_view class_name() const override { return "CenterCrop"; }
  void fields(Fields& f) override {
    f("height", height);
    f("width", width);
    f("data_format", data_format);
  }
  bool acts_always() const override { return true; }
  bool is_random() const override { return false; }
  Tensor changed(Scope& s, const Tensor& x) override {
    require(height > 0 && width > 0, name(), "expected height and width > 0, got ", height, " and ", width);
    const int64_t down = x.dim(1) - height, across = x.dim(2) - width;
    if (down < 0 || across < 0) {
      return s.call(Resizing(height, width, {.crop_to_aspect_ratio = true, .name = "resizing"}), x);
    }
    return slice_axis(slice_axis(x, 1, down / 2, down / 2 + height), 2, across / 2, across / 2 + width);
  }
};

struct RandomCropLayer final : ImageLayer {
  explicit RandomCropLayer(int64_t height = 1, int64_t width = 1, const RandomCropOptions& options = {})
      : height(height), width(width) {
    take_seed(options);
  }
  int64_t height, width;
  std::string_view class_name() const override { return "RandomCrop"; }
  void fields(Fields& f) override {
    f("height", height);
    f("width", width);
    seed_fields(f);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    require(height > 0 && width > 0, name(), "expected height and width > 0, got ", height, " and ", width);
    const int64_t rows = x.dim(1), columns = x.dim(2);
    if (rows > height && columns > width) {
      const auto place = [&](int64_t left) {
        const Tensor drawn = random_uniform(next_key(s), {1}, DType::f32, 0, static_cast<double>(left + 1));
        return cast(floor(drawn), DType::i32);
      };
      const Tensor zero = Tensor::zeros(DType::i32, {1});
      const Tensor starts[] = {zero, place(rows - height), place(columns - width), zero};
      return dynamic_slice(x, concatenate(starts, 0), {x.dim(0), height, width, x.dim(3)});
    }
    // As Keras does: a part from where one of the right proportions would begin, then resized.
    const auto share = [](int64_t a, int64_t b, int64_t c, int64_t most) {
      return std::clamp<int64_t>(static_cast<int64_t>(double(a) * double(b) / double(c)), 1, most);
    };
    const int64_t top = (rows - share(columns, height, width, rows)) / 2;
    const int64_t left = (columns - share(rows, width, height, columns)) / 2;
    const Tensor part = slice_axis(slice_axis(x, 1, top, std::min(top + height, rows)), 2, left,
                                   std::min(left + width, columns));
    if (part.dim(1) == height && part.dim(2) == width) return part;
    return resize_images(part, height, width, "bilinear", false, name());
  }
};

struct ErasingLayer final : FactorLayer<RandomErasingOptions> {
  using FactorLayer::FactorLayer;
  std::string_view class_name() const override { return "RandomErasing"; }
  void fields(Fields& f) override {
    factor_field(f, "factor", factor, 0, 1, class_name());
    factor_field(f, "scale", o.scale, 0, 1, class_name());
    f("fill_value", o.fill_value);
    range_field(f, o.value_range, class_name());
    seed_fields(f);
  }
  // Where a stretch of a share of the axis lies: bool, (batch, 1.., size, ..1).
  Tensor stretch(Scope& s, const Tensor& x, int axis) const {
    const auto size = static_cast<double>(x.dim(axis));
    const Tensor length = sqrt(draw(s, x, o.scale.at(0), o.scale.at(1))) * size;
    const Tensor start = draw(s, x, 0, 1) * (size - length);
    Ints sizes(4, 1);
    sizes[static_cast<size_t>(axis)] = x.dim(axis);
    const Tensor place = iota(x.dtype(), Shape(sizes), axis);
    return bitwise_and(greater_equal(place, start), less(place, start + length));
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    const Tensor box = bitwise_and(stretch(s, x, 2), stretch(s, x, 1));
    const Tensor chosen = bitwise_and(box, draw_choice(s, x, factor));
    Tensor filling;
    if (o.fill_value.empty()) {
      filling = random_normal(next_key(s), x.shape(), x.dtype()) * o.value_range.at(1);
    } else {
      require(o.fill_value.size() == 1 || std::ssize(o.fill_value) == x.dim(3), name(),
              "expected one fill_value, or one per channel, got ", o.fill_value.size());
      filling = cast(Tensor::from<double>(o.fill_value, {std::ssize(o.fill_value)}), x.dtype());
    }
    return where(chosen, clip(filling, o.value_range.at(0), o.value_range.at(1)), x);
  }
};

struct BlurLayer final : FactorLayer<RandomGaussianBlurOptions> {
  using FactorLayer::FactorLayer;
  std::string_view class_name() const override { return "RandomGaussianBlur"; }
  void fields(Fields& f) override {
    factor_field(f, "factor", factor, 0, 1, class_name());
    f("kernel_size", o.kernel_size);
    if (o.kernel_size.size() == 1) o.kernel_size = {o.kernel_size[0], o.kernel_size[0]};
    factor_field(f, "sigma", o.sigma, 0, 1, class_name());
    range_field(f, o.value_range, class_name());
    seed_fields(f);
  }
  Tensor drawn_bell(Scope& s, const Tensor& x, int64_t size) const {
    Tensor sigma = Tensor::full(x.dtype(), {1}, o.sigma.at(0));
    if (o.sigma.at(0) != o.sigma.at(1))
      sigma = random_uniform(next_key(s), {1}, x.dtype(), o.sigma[0], o.sigma[1]);
    return bell(sigma + 1e-6, size);
  }
  Tensor changed(Scope& s, const Tensor& x) override {
    constexpr int64_t kMost = 1 << 16;
    for (const int64_t size : o.kernel_size) {
      require(o.kernel_size.size() == 2 && size > 0 && size < kMost && size % 2 == 1, name(),
              "expected two odd kernel sizes, got ", size);
    }
    const Tensor wide = drawn_bell(s, x, o.kernel_size[0]), high = drawn_bell(s, x, o.kernel_size[1]);
    const Tensor soft = blurred(x, wide, high);
    return clip(where(draw_choice(s, x, factor), soft, x), o.value_range.at(0), o.value_range.at(1));
  }
};

}  // namespace

Layer CenterCrop(int64_t height, int64_t width, const CenterCropOptions& options) {
  return own_layer(std::make_shared<CenterCropLayer>(height, width, options), options);
}
Layer RandomCrop(int64_t height, int64_t width, const RandomCropOptions& options) {
  return own_layer(std::make_shared<RandomCropLayer>(height, width, options), options);
}
Layer RandomErasing(Factor factor, const RandomErasingOptions& options) {
  settle_factor(factor, 0, 1, "RandomErasing");
  auto made = std::make_shared<ErasingLayer>(std::move(factor), options);
  settle_factor(made->o.scale, 0, 1, "RandomErasing");
  check_range(options.value_range, "RandomErasing");
  return own_layer(std::move(made), options);
}
Layer RandomGaussianBlur(Factor factor, const RandomGaussianBlurOptions& options) {
  settle_factor(factor, 0, 1, "RandomGaussianBlur");
  auto made = std::make_shared<BlurLayer>(std::move(factor), options);
  settle_factor(made->o.sigma, 0, 1, "RandomGaussianBlur");
  check_range(options.value_range, "RandomGaussianBlur");
  return own_layer(std::move(made), options);
}

std::span<const ClassDef> classes_crops() {
  constexpr Family kLayer = Family::layer;
  static constexpr ClassDef rows[] = {
      {kLayer, "CenterCrop", "", make_default<CenterCropLayer>, {"height", "width"}},
      {kLayer, "RandomCrop", "", make_default<RandomCropLayer>, {"height", "width"}},
      {kLayer, "RandomErasing", "", make_default<ErasingLayer>},
      {kLayer, "RandomGaussianBlur", "", make_default<BlurLayer>},
  };
  return rows;
}

}  // namespace plimsoll
