// ImageLayer: what the layers that change images in training share.
#pragma once

#include "layers/base/parts.h"
#include "plimsoll/layers/augmentation.h"

namespace plimsoll {

class ImageLayer : public LayerBase {
 public:
  Tensor call(Scope& s, const Tensor& x) override;

  std::string data_format = "channels_last";
  std::optional<int64_t> seed;

 protected:
  // x is (batch, rows, columns, channels), in the compute dtype.
  virtual Tensor changed(Scope& s, const Tensor& x) = 0;
  virtual bool acts_always() const { return false; }
  virtual bool is_random() const { return true; }
  // One number per image, (batch, 1, 1, 1); `low` itself where the two are equal.
  Tensor draw(Scope& s, const Tensor& x, double low, double high) const;
  // True for an image with the probability that is drawn from `factor` for it.
  Tensor draw_choice(Scope& s, const Tensor& x, const Factor& factor) const;
};

// As Keras keeps a factor: {from, to}. Throws naming `place` if it does not meet the bounds.
void settle_factor(Factor& factor, double least, double most, std::string_view place);
// A factor that a config holds as a number or as a pair: read, settled, written as a pair.
void factor_field(Fields& f, std::string_view name, Factor& factor, double least, double most,
                  std::string_view place);
// Throws naming `place` unless it is two numbers, in order.
void check_range(const std::vector<double>& range, std::string_view place);
void range_field(Fields& f, std::vector<double>& range, std::string_view place);

// A plane transformation of each image: the result at (x, y) is what the image has at
// (a0 x + a1 y + a2, b0 x + b1 y + b2). Each is (batch, 1, 1).
struct PlaneMatrix {
  Tensor a0, a1, a2, b0, b1, b2;
};
// Throws naming `place` for an interpolation or fill_mode that there is not.
Tensor moved_images(const Tensor& x, const PlaneMatrix& m, const RandomMoveOptions& options,
                    std::string_view place);

// Three channels, the last axis. gray_of gives one.
Tensor gray_of(const Tensor& rgb);
Tensor hsv_of(const Tensor& rgb);
Tensor rgb_of(const Tensor& hsv);
// From one range of values to another.
Tensor ranged(const Tensor& x, double low, double high, double new_low, double new_high);

}  // namespace plimsoll
