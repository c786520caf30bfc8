// Equalization and ContrastLimitedAdaptiveHistogramEqualization: values spread by how often they occur.
#include <algorithm>

#include "layers/base/images.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// How often each place below `count` occurs in `places` (int32).
Tensor counted(const Tensor& places, int64_t count, DType dtype, std::string_view place) {
  require(count < int64_t{1} << 31, place, "expected fewer than 2^31 bins in all, got ", count);
  const int64_t n = places.shape().elements();
  return scatter_nd(Tensor::zeros(dtype, {count}), reshape(places, Shape{n, 1}),
                    broadcast_to(Tensor::full(dtype, {}, 1), {n}), "add");
}

Tensor whole(const Tensor& x, double most) { return cast(clip(x, 0, most), DType::i32); }
// 1 where it is 0.
Tensor divisor(const Tensor& x) { return where(equal(x, scalar_like(x, 0)), scalar_like(x, 1), x); }

struct EqualizationLayer final : ImageLayer {
  explicit EqualizationLayer(EqualizationOptions options = {}) : o(std::move(options)) {
    data_format = o.data_format;
  }
  EqualizationOptions o;
  std::string_view class_name() const override { return "Equalization"; }
  bool is_random() const override { return false; }
  void fields(Fields& f) override {
    range_field(f, o.value_range, class_name());
    f("bins", o.bins);
    f("data_format", data_format);
  }

  // (channels, bins): what a value of each bin becomes, and whether its channel has other values at all.
  std::pair<Tensor, Tensor> table(const Tensor& bin, int64_t channels) const {
    const Tensor found = counted(bin, channels * o.bins, DType::i32, name());
    const Tensor counts = cast(reshape(found, Shape{channels, o.bins}), DType::f64);
    const Tensor sums = cumsum(counts, 1), zero = scalar_like(sums, 0);
    const Tensor all = max(sums, {1}, true);
    const Tensor first = min(where(greater(sums, zero), sums, all), {1}, true);
    const Tensor spread = clip(round((sums - first) * 255.0 / divisor(all - first)), 0, 255);
    const Tensor used = sum(cast(greater(counts, zero), DType::f64), {1});
    return {spread, greater(used, scalar_like(used, 1))};
  }
  Tensor changed(Scope&, const Tensor& x) override {
    constexpr int64_t kMost = 1 << 24;
    require(o.bins > 0 && o.bins <= kMost, name(), "expected 1 to ", kMost, " bins, got ", o.bins);
    const double low = o.value_range.at(0), high = o.value_range.at(1),
                 last = static_cast<double>(o.bins - 1);
    const int64_t channels = x.dim(3);
    const double scale = 255 / (high - low);
    const Tensor bytes = scale == 1 && low == 0 ? x : x * scale - low * scale;
    const Tensor offset = iota(DType::i32, {channels}, 0) * static_cast<double>(o.bins);
    const auto [spread, several] = table(whole(bytes * last / 255.0, last) + offset, channels);
    const Tensor flat = cast(reshape(spread, Shape{channels * o.bins}), x.dtype());
    const Tensor found = take(flat, whole(bytes / 255.0 * last, last) + offset, 0);
    const Tensor y = where(several, found, bytes);
    return scale == 1 && low == 0 ? y : y * (1 / scale) + low;
  }
};

// Of pixels along an axis that is cut into tiles: the two tiles whose middles are nearest, and the share of
// the second.
struct Neighbours {
  Neighbours(int64_t pixels, int64_t tile, int64_t tiles) {
    const Tensor at =
        (iota(DType::f32, {pixels}, 0) - static_cast<double>(tile) / 2) / static_cast<double>(tile);
    const Tensor before = plimsoll::floor(at);
    share = at - before;
    const double last = static_cast<double>(tiles - 1);
    first = cast(clip(before, 0, last), DType::i32);
    second = cast(clip(before + 1.0, 0, last), DType::i32);
  }
  Tensor first, second, share;
};

struct CLAHELayer final : ImageLayer {
  explicit CLAHELayer(CLAHEOptions options = {}) : o(std::move(options)) { data_format = o.data_format; }
  CLAHEOptions o;
  std::string_view class_name() const override { return "ContrastLimitedAdaptiveHistogramEqualization"; }
  bool acts_always() const override { return true; }
  bool is_random() const override { return false; }
  void fields(Fields& f) override {
    range_field(f, o.value_range, class_name());
    f("clip_limit", o.clip_limit);
    f("tile_grid_size", o.tile_grid_size);
    f("data_format", data_format);
  }
  // Integers stay integers.
  Tensor call(Scope& s, const Tensor& x) override { return cast(ImageLayer::call(s, x), x.dtype()); }

  // The pixels of an axis, and behind them their mirror image up to `size`.
  static Tensor extended(const Tensor& x, int axis, int64_t size) {
    const int64_t had = x.dim(axis);
    if (size == had) return x;
    std::vector<int64_t> from;
    for (int64_t i = 0; i < size; ++i) from.push_back(std::min(i % (2 * had), 2 * had - 1 - i % (2 * had)));
    return take(x, Tensor::from<int64_t>(from, {size}), axis);
  }
  // What a value of each bin becomes in each tile: (tiles, bins).
  Tensor table(const Tensor& counts, double pixels) const {
    Tensor held = counts;
    if (o.clip_limit > 0) {
      held = clip(counts, 0, o.clip_limit * pixels / 256);
      held = held + sum(counts - held, {1}, true) / 256.0;
    }
    const Tensor sums = cumsum(held, 1), least = min(sums, {1}, true);
    return clip((sums - least) * 255.0 / divisor(pixels - least), 0, 255);
  }
  Tensor changed(Scope&, const Tensor& input) override {
    constexpr int64_t kMost = 1 << 16;
    require(o.tile_grid_size.size() == 2, name(), "expected a tile_grid_size of two numbers, got ",
            o.tile_grid_size.size());
    for (const int64_t tiles : o.tile_grid_size)
      require(tiles > 0 && tiles <= kMost, name(), "expected a tile_grid_size from 1 to ", kMost, ", got ",
              tiles);
    const int64_t n = input.dim(0), rows = input.dim(1), columns = input.dim(2), channels = input.dim(3);
    require(rows > 0 && columns > 0, name(), "expected images that have elements, got shape ", input.shape());
    const int64_t down = o.tile_grid_size[0], across = o.tile_grid_size[1];
    const int64_t high = (rows + down - 1) / down, wide = (columns + across - 1) / across;
    const Tensor x = ranged(input, o.value_range.at(0), o.value_range.at(1), 0, 255);
    const Tensor all = extended(extended(cast(x, DType::f32), 1, high * down), 2, wide * across);
    const Tensor bin = whole(all, 255);

    const int64_t tiles = checked_mul(checked_mul(n * channels, down, name()), across, name());
    constexpr double kBins = 256;
    // Where the bins of the tile (y, x) of each pixel's image and channel begin.
    const auto begins = [&](const Tensor& y, const Tensor& x) {
      const Tensor image = iota(DType::i32, {n, 1, 1, channels}, 0) * static_cast<double>(channels) +
                           iota(DType::i32, {n, 1, 1, channels}, 3);
      const Tensor row = image * static_cast<double>(down) + reshape(y, Shape{y.dim(0), 1, 1});
      return (row * static_cast<double>(across) + reshape(x, Shape{x.dim(0), 1})) * kBins;
    };
    const auto own = [](int64_t pixels, int64_t tile) {
      return floor_divide(iota(DType::i32, {pixels}, 0), Tensor::full(DType::i32, {}, double(tile)));
    };
    const Tensor counts = counted(begins(own(high * down, high), own(wide * across, wide)) + bin,
                                  checked_mul(tiles, int64_t{256}, name()), DType::f32, name());
    const Tensor flat = reshape(table(reshape(counts, Shape{tiles, 256}), static_cast<double>(high * wide)),
                                Shape{tiles * 256});

    const Neighbours y(rows, high, down), z(columns, wide, across);
    const Tensor inside = slice_axis(slice_axis(bin, 1, 0, rows), 2, 0, columns);
    const auto found = [&](const Tensor& ty, const Tensor& tx) {
      return take(flat, begins(ty, tx) + inside, 0);
    };
    const Tensor right = reshape(z.share, Shape{columns, 1}), low = reshape(y.share, Shape{rows, 1, 1});
    const auto row = [&](const Tensor& ty) {
      return found(ty, z.first) * (1.0 - right) + found(ty, z.second) * right;
    };
    const Tensor mixed = row(y.first) * (1.0 - low) + row(y.second) * low;
    return cast(ranged(mixed, 0, 255, o.value_range[0], o.value_range[1]), input.dtype());
  }
};

}  // namespace

Layer Equalization(const EqualizationOptions& options) {
  check_range(options.value_range, "Equalization");
  return own_layer(std::make_shared<EqualizationLayer>(options), options);
}
Layer ContrastLimitedAdaptiveHistogramEqualization(const CLAHEOptions& options) {
  check_range(options.value_range, "CLAHE");
  return own_layer(std::make_shared<CLAHELayer>(options), options);
}

std::span<const ClassDef> classes_equalization() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Equalization", "", make_default<EqualizationLayer>},
      {Family::layer, "ContrastLimitedAdaptiveHistogramEqualization", "", make_default<CLAHELayer>},
  };
  return rows;
}

}  // namespace plimsoll
