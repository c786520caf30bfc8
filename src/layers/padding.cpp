// ZeroPadding1D/2D/3D, Cropping1D/2D/3D.
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/reshaping.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

constexpr std::string_view kNames[2][3] = {{"Cropping1D", "Cropping2D", "Cropping3D"},
                                           {"ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D"}};

template <int rank, bool is_padding>
struct SidesLayer final : LayerBase {
  static constexpr int64_t kDefault = rank == 2 && !is_padding ? 0 : 1;  // Keras's
  explicit SidesLayer(Sides sides = kDefault, std::string data_format = "channels_last")
      : sides(std::move(sides)), data_format(std::move(data_format)) {}
  std::vector<Ints> sides;
  std::string data_format;

  std::string_view class_name() const override { return kNames[is_padding][rank - 1]; }
  void fields(Fields& f) override {
    const std::string_view argument = is_padding ? "padding" : "cropping";
    if (rank == 1) {
      // One axis is written as [before, after].
      Ints both = f.reading() ? Ints() : pairs()[0];
      f(argument, both);
      if (!both.empty()) sides = {both};
    } else {
      if (!f.reading()) sides = pairs();
      f(argument, sides);
    }
    if (rank != 1 || is_padding) f("data_format", data_format);
  }

  // [before, after] per axis.
  std::vector<Ints> pairs() const {
    std::vector<Ints> all = sides;
    if (all.size() == 1) all.resize(rank, all[0]);
    require(all.size() == rank, class_name(), "expected amounts for ", rank, " axes, got ", all.size());
    for (Ints& both : all) {
      if (both.size() == 1) both.push_back(both[0]);
      require(both.size() == 2 && both[0] >= 0 && both[1] >= 0, class_name(),
              "expected amounts >= 0 before and after each axis");
    }
    return all;
  }

  Tensor call(Scope&, const Tensor& x) override {
    require(x.rank() == rank + 2, name(), "expected an input of ", rank + 2, " axes, got shape ", x.shape());
    const bool first = is_channels_first(name(), data_format);
    Ints low(static_cast<size_t>(x.rank()), 0), high = low;
    const std::vector<Ints> amounts = pairs();
    for (int i = 0; i < rank; ++i) {
      const int axis = i + (first ? 2 : 1);
      const Ints& both = amounts[static_cast<size_t>(i)];
      require(is_padding || (both[0] < x.dim(axis) && both[1] < x.dim(axis) - both[0]), name(), "crops ",
              both[0], " and ", both[1], " elements of an axis of ", x.dim(axis));
      low[static_cast<size_t>(axis)] = is_padding ? both[0] : -both[0];
      high[static_cast<size_t>(axis)] = is_padding ? both[1] : -both[1];
    }
    return pad(x, low, high);
  }
};

template <int rank, bool is_padding, class Options>
Layer make_sides(Sides sides, const std::string& data_format, const Options& o) {
  return own_layer(std::make_shared<SidesLayer<rank, is_padding>>(std::move(sides), data_format), o);
}

}  // namespace

Layer ZeroPadding1D(Sides padding, const FormatOptions& o) {
  return make_sides<1, true>(std::move(padding), o.data_format, o);
}
Layer ZeroPadding2D(Sides padding, const FormatOptions& o) {
  return make_sides<2, true>(std::move(padding), o.data_format, o);
}
Layer ZeroPadding3D(Sides padding, const FormatOptions& o) {
  return make_sides<3, true>(std::move(padding), o.data_format, o);
}
Layer Cropping1D(Sides cropping, const NameOptions& o) {
  return make_sides<1, false>(std::move(cropping), "channels_last", o);
}
Layer Cropping2D(Sides cropping, const FormatOptions& o) {
  return make_sides<2, false>(std::move(cropping), o.data_format, o);
}
Layer Cropping3D(Sides cropping, const FormatOptions& o) {
  return make_sides<3, false>(std::move(cropping), o.data_format, o);
}

std::span<const ClassDef> classes_padding() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "ZeroPadding1D", "", make_default<SidesLayer<1, true>>},
      {Family::layer, "ZeroPadding2D", "", make_default<SidesLayer<2, true>>},
      {Family::layer, "ZeroPadding3D", "", make_default<SidesLayer<3, true>>},
      {Family::layer, "Cropping1D", "", make_default<SidesLayer<1, false>>},
      {Family::layer, "Cropping2D", "", make_default<SidesLayer<2, false>>},
      {Family::layer, "Cropping3D", "", make_default<SidesLayer<3, false>>},
  };
  return rows;
}

}  // namespace plimsoll
