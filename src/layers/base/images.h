// ImageLayer: what the layers that change images in training share.
#pragma once

#include "layers/base/parts.h"
#include "plimsoll/layers/augmentation.h"

namespace plimsoll {

class ImageLayer : public LayerBase {
 public:
  Tensor call(Scope& s, const Tensor& x) override;

  // As in training, on (batch, rows, columns, channels), with all that is drawn following from `key`.
  Tensor changed_by(Scope& s, const Tensor& x, const Tensor& key);

  std::string data_format = "channels_last";
  std::optional<int64_t> seed;

  // Makes the seed generator, as Keras does when the layer is made; of layers inside, theirs.
  virtual void begin(Scope& s);

 protected:
  // Of a layer made of image layers.
  static ImageLayer& part_of(const Layer& part) { return static_cast<ImageLayer&>(*part); }
  static void begin_part(Scope& s, const Layer& part);
  template <class Options>
  void take_seed(const Options& o) {
    seed = o.seed;
    data_format = o.data_format;
  }
  // Of every class but those that Keras's config has them left out of.
  void seed_fields(Fields& f) {
    f("seed", seed);
    f("data_format", data_format);
  }
  // x is (batch, rows, columns, channels), in the compute dtype.
  virtual Tensor changed(Scope& s, const Tensor& x) = 0;
  virtual bool acts_always() const { return false; }
  virtual bool is_random() const { return true; }
  // The key of the next draw.
  Tensor next_key(Scope& s) const;
  // One number per image, (batch, 1, 1, 1); `low` itself where the two are equal.
  Tensor draw(Scope& s, const Tensor& x, double low, double high) const;
  // True for an image with the probability that is drawn from `factor` for it.
  Tensor draw_choice(Scope& s, const Tensor& x, const Factor& factor) const;

 private:
  Tensor given_key_;  // while changed_by() runs
  mutable int64_t draws_ = 0;
};

// A layer whose first argument says how likely its change is.
template <class Options>
class FactorLayer : public ImageLayer {
 public:
  explicit FactorLayer(Factor factor = 1.0, Options options = {})
      : factor(std::move(factor)), o(std::move(options)) {
    take_seed(o);
  }
  Factor factor;
  Options o;
};

// A layer made of others, at the latest in the first call: a default-constructed one, about to read its
// config, may have none.
class PartsLayer : public ImageLayer {
 public:
  void visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const override {
    for (const auto& [name, layer] : parts) visit(name, layer);
  }
  void begin(Scope& s) override {
    ImageLayer::begin(s);
    if (parts.empty()) make_parts();
    for (const auto& [name, layer] : parts) begin_part(s, layer);
  }

 protected:
  virtual void make_parts() = 0;
  std::vector<std::pair<std::string, Layer>> parts;  // under Keras's names for them
};

// As Keras keeps a factor: {from, to}. Throws naming `place` if it does not meet the bounds.
void settle_factor(Factor& factor, double least, double most, std::string_view place);
// A factor that a config holds as a number or as a pair: read, settled, written as a pair.
void factor_field(Fields& f, std::string_view name, Factor& factor, double least, double most,
                  std::string_view place);
// Throws naming `place` unless it is two numbers, in order.
void check_range(const std::vector<double>& range, std::string_view place);
void range_field(Fields& f, std::vector<double>& range, std::string_view place);

// How to read images between and beside their pixels.
struct Sampling {
  std::string interpolation = "bilinear", fill_mode = "reflect";
  double fill_value = 0;
};
// The result at (row, column) is what the image has at (at_y, at_x), which are (batch, rows, columns). Throws
// naming `place` for an interpolation or fill_mode that there is not.
Tensor sampled_images(const Tensor& x, const Tensor& at_x, const Tensor& at_y, const Sampling& sampling,
                      std::string_view place);
// The column and row of each pixel, as floats: (batch, rows, columns).
struct Grid {
  explicit Grid(const Tensor& images);
  Tensor across, down;
};

// A bell of `size` values around the middle whose sum is 1, cut (if `reach` is given) to places at most that
// far away.
Tensor bell(const Tensor& sigma, int64_t size, const Tensor& reach = {});
// Each channel blurred by the product of two bells, with zeros outside.
Tensor blurred(const Tensor& x, const Tensor& wide, const Tensor& high);

// Three channels, the last axis. gray_of gives one.
Tensor gray_of(const Tensor& rgb);
Tensor hsv_of(const Tensor& rgb);
Tensor rgb_of(const Tensor& hsv);
// From one range of values to another.
Tensor ranged(const Tensor& x, double low, double high, double new_low, double new_high);

}  // namespace plimsoll
