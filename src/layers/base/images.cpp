#include "layers/base/images.h"

#include <algorithm>
#include <cmath>

#include "plimsoll/error.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// Places along an axis of `size` elements, of integers that may lie outside.
Tensor inside(const Tensor& place, int64_t size, std::string_view fill_mode) {
  const auto n = static_cast<double>(size);
  if (fill_mode == "wrap") return mod(place, scalar_like(place, n));
  if (fill_mode == "reflect") {
    const Tensor folded = mod(place, scalar_like(place, 2 * n));
    return minimum(folded, scalar_like(folded, 2 * n - 1) - folded);
  }
  if (fill_mode == "mirror" && size > 1) {
    const Tensor folded = mod(place, scalar_like(place, 2 * n - 2));
    return minimum(folded, scalar_like(folded, 2 * n - 2) - folded);
  }
  return clip(place, 0, n - 1);
}

Tensor channel(const Tensor& x, int which) { return slice_axis(x, x.rank() - 1, which, which + 1); }

}  // namespace

Tensor ImageLayer::call(Scope& s, const Tensor& input) {
  require(input.rank() == 3 || input.rank() == 4, name(), "expected images of 3 or 4 axes, got shape ",
          input.shape());
  const bool first = is_channels_first(name(), data_format);
  begin(s);
  Tensor x = cast(input, s.compute_dtype());
  if (!s.training() && !acts_always()) return x;
  const bool single = x.rank() == 3;
  if (single) x = expand_dims(x, 0);
  if (first) x = channels_to_last(x);
  Tensor y = changed(s, x);
  if (first) y = channels_to_first(y);
  return single ? squeeze(y, 0) : y;
}

void ImageLayer::begin(Scope& s) {
  if (is_random()) s.add_seed_generator(seed, "generator");
}

void ImageLayer::begin_part(Scope& s, const Layer& part) {
  const Arguments none;
  Scope inner(s.trace(), *part, none);
  part_of(part).begin(inner);
}

Tensor ImageLayer::changed_by(Scope& s, const Tensor& x, const Tensor& key) {
  struct Given {  // and taken away again, also when changed() throws: a key of another graph must not stay
    Tensor& place;
    ~Given() { place = {}; }
  } const given{given_key_};
  given_key_ = key;
  draws_ = 0;
  return changed(s, x);
}

Tensor ImageLayer::next_key(Scope& s) const {
  if (!given_key_.defined()) return s.random_key(seed, "generator");
  return fold_in(given_key_, Tensor::full(DType::u32, {}, static_cast<double>(draws_++)));
}

Tensor ImageLayer::draw(Scope& s, const Tensor& x, double low, double high) const {
  const Shape shape{x.dim(0), 1, 1, 1};
  if (low == high) return Tensor::full(x.dtype(), shape, low);
  return random_uniform(next_key(s), shape, x.dtype(), low, high);
}

Tensor ImageLayer::draw_choice(Scope& s, const Tensor& x, const Factor& factor) const {
  const Tensor share = draw(s, x, factor.at(0), factor.at(1));
  return less(draw(s, x, 0, 1), share);
}

void settle_factor(Factor& factor, double least, double most, std::string_view place) {
  require(factor.size() == 1 || factor.size() == 2, place, "expected a factor or a range of two, got ",
          factor.size(), " numbers");
  if (factor.size() == 1) {
    require(factor[0] >= least && factor[0] <= most, place, "expected a factor from ", least, " to ", most,
            ", got ", factor[0]);
    const double f = std::fabs(factor[0]);
    factor = {std::max(-f, least), f};
  }
  std::sort(factor.begin(), factor.end());
  require(factor[0] <= most && factor[1] >= least, place, "expected a factor from ", least, " to ", most,
          ", got ", factor[0], " to ", factor[1]);
}

void factor_field(Fields& f, std::string_view name, Factor& factor, double least, double most,
                  std::string_view place) {
  if (!f.reading()) settle_factor(factor, least, most, place);
  f(name, static_cast<std::vector<double>&>(factor));
  if (f.reading()) settle_factor(factor, least, most, place);
}

void check_range(const std::vector<double>& range, std::string_view place) {
  require(range.size() == 2 && range[0] < range[1], place,
          "expected a value_range of two numbers, in order, got ", range.size(), " numbers");
}

void range_field(Fields& f, std::vector<double>& range, std::string_view place) {
  f("value_range", range);
  check_range(range, place);
}

Grid::Grid(const Tensor& images) {
  const Shape shape{images.dim(0), images.dim(1), images.dim(2)};
  across = iota(DType::f32, shape, 2);
  down = iota(DType::f32, shape, 1);
}

Tensor sampled_images(const Tensor& x, const Tensor& at_x, const Tensor& at_y, const Sampling& o,
                      std::string_view place) {
  check_choice(place, "interpolation", o.interpolation, {"nearest", "bilinear"});
  check_choice(place, "fill_mode", o.fill_mode, {"reflect", "wrap", "constant", "nearest", "mirror"});
  const int64_t n = x.dim(0), rows = x.dim(1), columns = x.dim(2), channels = x.dim(3);
  require(rows > 0 && columns > 0, place, "expected images that have elements, got shape ", x.shape());
  constexpr int64_t kMost = int64_t{1} << 31;  // places are int32
  require(checked_mul(checked_mul(n, rows, place), columns, place) < kMost, place,
          "expected fewer than 2^31 pixels in a batch, got shape ", x.shape());
  const Tensor flat = reshape(x, Shape{n * rows * columns, channels});
  const Tensor image = iota(DType::i32, {n, rows, columns}, 0) * static_cast<double>(rows);

  // The pixels at whole places; what lies outside follows the fill mode.
  const auto pixels = [&](const Tensor& px, const Tensor& py) {
    const Tensor ix = cast(inside(px, columns, o.fill_mode), DType::i32);
    const Tensor iy = cast(inside(py, rows, o.fill_mode), DType::i32);
    const Tensor found = take(flat, (image + iy) * static_cast<double>(columns) + ix, 0);
    if (o.fill_mode != "constant") return found;
    const auto within = [](const Tensor& p, int64_t size) {
      return bitwise_and(greater_equal(p, scalar_like(p, 0)),
                         less(p, scalar_like(p, static_cast<double>(size))));
    };
    const Tensor known = bitwise_and(within(px, columns), within(py, rows));
    return where(expand_dims(known, -1), found, scalar_like(found, o.fill_value));
  };
  if (o.interpolation == "nearest") return pixels(round(at_x), round(at_y));
  const Tensor left = floor(at_x), top = floor(at_y);
  const Tensor right_share = cast(expand_dims(at_x - left, -1), x.dtype());
  const Tensor low_share = cast(expand_dims(at_y - top, -1), x.dtype());
  const auto row = [&](const Tensor& py) {
    return pixels(left, py) * (1.0 - right_share) + pixels(left + 1.0, py) * right_share;
  };
  return row(top) * (1.0 - low_share) + row(top + 1.0) * low_share;
}

Tensor bell(const Tensor& sigma, int64_t size, const Tensor& reach) {
  const Tensor place = iota(sigma.dtype(), {size}, 0) - static_cast<double>(size - 1) / 2;
  Tensor high = exp(-0.5 * square(place / sigma));
  if (reach.defined()) high = where(less_equal(absolute(place), reach), high, scalar_like(high, 0));
  return high / sum(high, {0}, true);
}

Tensor blurred(const Tensor& x, const Tensor& wide, const Tensor& high) {
  const int64_t width = wide.dim(0), height = high.dim(0), channels = x.dim(3);
  const Tensor kernel = reshape(wide, Shape{1, width, 1, 1}) * reshape(high, Shape{height, 1, 1, 1});
  const Ints pads = {(height - 1) / 2, (width - 1) / 2};
  return conv(x, broadcast_to(kernel, Shape{height, width, 1, channels}),
              {.pad_low = pads, .pad_high = pads, .groups = channels});
}

Tensor gray_of(const Tensor& rgb) {
  return 0.2989 * channel(rgb, 0) + 0.587 * channel(rgb, 1) + 0.114 * channel(rgb, 2);
}

Tensor hsv_of(const Tensor& rgb) {
  const Tensor r = channel(rgb, 0), g = channel(rgb, 1), b = channel(rgb, 2);
  const Tensor zero = scalar_like(r, 0), one = scalar_like(r, 1);
  const Tensor value = maximum(maximum(r, g), b);
  const Tensor range = value - minimum(minimum(r, g), b);
  const Tensor some = greater(range, zero), bright = greater(value, zero);
  const Tensor saturation = where(bright, range / where(bright, value, one), zero);
  const Tensor norm = 1.0 / (6.0 * where(some, range, one));
  Tensor hue = where(equal(value, g), norm * (b - r) + 2.0 / 6.0, norm * (r - g) + 4.0 / 6.0);
  hue = where(equal(value, r), norm * (g - b), hue);
  hue = where(some, hue, zero) + cast(less(hue, zero), hue.dtype());
  const Tensor parts[] = {hue, saturation, value};
  return concatenate(parts, -1);
}

Tensor rgb_of(const Tensor& hsv) {
  const Tensor hue = channel(hsv, 0), s = channel(hsv, 1), v = channel(hsv, 2);
  const Tensor sixths = mod(hue, scalar_like(hue, 1)) * 6.0;
  const auto mixed = [&](const Tensor& share) { return v * (1.0 - s + s * clip(share, 0, 1)); };
  const Tensor parts[] = {mixed(absolute(sixths - 3.0) - 1.0), mixed(2.0 - absolute(sixths - 2.0)),
                          mixed(2.0 - absolute(sixths - 4.0))};
  return concatenate(parts, -1);
}

Tensor ranged(const Tensor& x, double low, double high, double new_low, double new_high) {
  if (low == new_low && high == new_high) return x;
  return (x - low) / (high - low) * (new_high - new_low) + new_low;
}

}  // namespace plimsoll
