// Functions of keras.ops.image.
#include "layers/base/images.h"
#include "layers/base/operation_tables.h"
#include "layers/base/parts.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::operation {
namespace {

bool channels_first(const Operands& o, size_t i) { return o.text(i, "data_format") == "channels_first"; }

// One image, or a batch of them.
Tensor images_of(const Operands& o) {
  const Tensor x = o.tensor(0, "images");
  if (x.rank() != 3 && x.rank() != 4) o.missing("images");
  return x;
}

// With the channels behind, in floats, and back.
template <Tensor (*f)(const Tensor&)>
Tensor of_colors(const Operands& o) {
  const Tensor x = images_of(o);
  const int axis = channels_first(o, 1) ? x.rank() - 3 : x.rank() - 1;
  const Tensor last = axis_to_last(x, axis);
  if (last.dim(-1) == 1 && f == gray_of) return x;
  if (last.dim(-1) != 3) o.missing("images");
  return cast(axis_from_last(f(to_float(last)), axis), x.dtype());
}

// Keras keeps sides as before, after, and the size there is to be; one of the three may be missing.
struct Sides {
  int64_t before, after;
};
Sides sides_of(const Operands& o, int64_t size, std::string_view before, std::string_view after,
               std::string_view target, bool padding) {
  const auto number = [&](std::string_view name) {
    return o.option(SIZE_MAX, name) ? o.integer(SIZE_MAX, name) : 0;
  };
  const auto bounded = [&](std::string_view name) {
    const int64_t n = number(name);
    if (n < 0 || n > (int64_t{1} << 40)) o.missing(name);
    return n;
  };
  Sides s{bounded(before), bounded(after)};
  if (o.option(SIZE_MAX, target)) {
    const int64_t change = padding ? bounded(target) - size : size - bounded(target);
    if (!o.option(SIZE_MAX, before))
      s.before = change - s.after;
    else
      s.after = change - s.before;
  }
  if (s.before < 0 || s.after < 0) o.missing(target);
  if (!padding && s.before + s.after > size) o.missing(target);
  return s;
}

template <bool padding>
Tensor framed(const Operands& o) {
  const Tensor x = images_of(o);
  const int rows = channels_first(o, 7) ? x.rank() - 2 : x.rank() - 3;
  const std::string what = padding ? "_padding" : "_cropping";
  const Sides high = sides_of(o, x.shape()[rows], "top" + what, "bottom" + what, "target_height", padding);
  const Sides wide = sides_of(o, x.shape()[rows + 1], "left" + what, "right" + what, "target_width", padding);
  if (!padding)
    return part_of(part_of(x, rows, high.before, x.shape()[rows] - high.after), rows + 1, wide.before,
                   x.shape()[rows + 1] - wide.after);
  Ints low(static_cast<size_t>(x.rank()), 0), after(low);
  const auto at = static_cast<size_t>(rows);
  low[at] = high.before, after[at] = high.after;
  low[at + 1] = wide.before, after[at + 1] = wide.after;
  return pad(x, low, after);
}

Tensor resize(const Operands& o) {
  const Ints size = o.ints(1, "size");
  if (size.size() != 2) o.missing("size");
  Json config = o.kept({"interpolation", "antialias", "crop_to_aspect_ratio", "pad_to_aspect_ratio",
                        "fill_mode", "fill_value", "data_format"});
  config["height"] = size[0];
  config["width"] = size[1];
  return o.by_layer("Resizing", config, images_of(o));
}

// Each place's window as its channels: rows, columns, channels of the window one after the other.
Tensor extract_patches(const Operands& o) {
  const Tensor given = images_of(o);
  const bool first = channels_first(o, 5);
  Tensor x = given.rank() == 3 ? expand_dims(given, 0) : given;
  if (first) x = channels_to_last(x);
  const auto two = [&](size_t i, std::string_view name, const Ints& otherwise) {
    Ints n = o.ints(i, name);
    if (n.empty()) n = otherwise;
    if (n.size() == 1) n.push_back(n[0]);
    if (n.size() == 3) unsupported(o, "patches of volumes");
    if (n.size() != 2 || n[0] < 1 || n[1] < 1 || n[0] > 4096 || n[1] > 4096) o.missing(name);
    return n;
  };
  const Ints size = two(1, "size", {}), strides = two(2, "strides", size),
             dilation = two(3, "dilation_rate", {1, 1});
  const std::string padding = o.text(4, "padding");
  if (size[0] * size[1] > 4096) unsupported(o, "patches of more than 4096 pixels");
  Ints low(4, 0), high(4, 0), counts;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t there = x.dim(static_cast<int>(i) + 1), reach = (size[i] - 1) * dilation[i] + 1;
    if (padding == "same")
      std::tie(low[i + 1], high[i + 1]) = same_padding(there, size[i], strides[i], dilation[i]);
    const int64_t room = there + low[i + 1] + high[i + 1] - reach;
    if (room < 0) o.missing("size");
    counts.push_back(room / strides[i] + 1);
  }
  x = pad(x, low, high);
  Tensors parts;
  for (int64_t row = 0; row < size[0]; ++row) {
    for (int64_t column = 0; column < size[1]; ++column) {
      const int64_t top = row * dilation[0], left = column * dilation[1];
      parts.push_back(slice(x, {0, top, left, 0},
                            {x.dim(0), top + (counts[0] - 1) * strides[0] + 1,
                             left + (counts[1] - 1) * strides[1] + 1, x.dim(3)},
                            {1, strides[0], strides[1], 1}));
    }
  }
  Tensor y = concatenate(parts, 3);
  if (first) y = channels_to_first(y);
  return given.rank() == 3 ? squeeze(y, 0) : y;
}

}  // namespace

const Functions& image_functions() {
  static const Functions all_functions = {
      {"RGBToGrayscale", of_colors<gray_of>},
      {"RGBToHSV", of_colors<hsv_of>},
      {"HSVToRGB", of_colors<rgb_of>},
      {"Resize", resize},
      {"PadImages", framed<true>},
      {"CropImages", framed<false>},
      {"ExtractPatches", extract_patches},
  };
  return all_functions;
}

}  // namespace plimsoll::operation
