#include "curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/files.h"

namespace plimsoll::cli {
namespace {

constexpr double kWidth = 420, kHeight = 300, kLeft = 52, kTop = 34, kRight = 14, kBottom = 36;
constexpr const char* kColours[] = {"#1f6fb2", "#d1642a", "#3a8f4d", "#8a4fae", "#7a7a7a"};

using Series = std::pair<std::string, std::vector<double>>;

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  // A margin, so that a curve does not run along the frame.
  Range widened() const {
    if (!(low <= high)) return {0, 1};
    const double margin = high > low ? 0.05 * (high - low) : 0.5 * std::max(std::fabs(high), 1e-3);
    return {low - margin, high + margin};
  }
};

bool is_loss(const std::string& name) { return name == "loss" || name.ends_with("_loss"); }
bool is_validation(const std::string& name) { return name.starts_with("val_"); }
std::string base_name(const std::string& name) { return is_validation(name) ? name.substr(4) : name; }

std::string polyline(const std::vector<double>& values, const Range& range, const char* colour, bool dashed) {
  std::string points;
  const double span = std::max<double>(1, static_cast<double>(values.size()) - 1);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const double x = kLeft + (kWidth - kLeft - kRight) * static_cast<double>(i) / span;
    const double y = kTop + (kHeight - kTop - kBottom) * (range.high - values[i]) / (range.high - range.low);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", points,
                     colour, dashed ? " stroke-dasharray=\"5 4\"" : "");
}

std::string axes(const Range& range, size_t epochs) {
  std::string svg;
  constexpr int kLines = 4;
  for (int i = 0; i <= kLines; ++i) {
    const double y = kTop + (kHeight - kTop - kBottom) * i / kLines;
    const double value = range.high - (range.high - range.low) * i / kLines;
    svg += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", kLeft,
                       kWidth - kRight, y, y);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3g}</text>\n", kLeft - 6, y + 4,
                       value);
  }
  svg += fmt::format(
      "<text x=\"{}\" y=\"{}\">1</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} epochs</text>\n", kLeft,
      kHeight - kBottom + 18, kWidth - kRight, kHeight - kBottom + 18, epochs);
  return svg;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string panel(const std::vector<Series>& series, double x_offset) {
  Range range;
  size_t epochs = 0;
  for (const auto& [name, values] : series) {
    for (const double v : values) range.add(v);
    epochs = std::max(epochs, values.size());
  }
  range = range.widened();
  std::string svg = fmt::format("<g transform=\"translate({} 0)\">\n", x_offset) + axes(range, epochs);
  std::vector<std::string> names;
  double legend = kLeft;
  for (const auto& [name, values] : series) {
    const std::string base = base_name(name);
    auto place = std::find(names.begin(), names.end(), base);
    if (place == names.end()) place = names.insert(names.end(), base);
    const char* colour = kColours[static_cast<size_t>(place - names.begin()) % std::size(kColours)];
    svg += polyline(values, range, colour, is_validation(name));
    svg += fmt::format("<text x=\"{}\" y=\"20\" fill=\"{}\">{}{}</text>\n", legend, colour,
                       is_validation(name) ? "- - " : "", escaped(name));
    legend += 9.0 * static_cast<double>(name.size() + (is_validation(name) ? 4 : 0)) + 14;
  }
  return svg + "</g>\n";
}

std::string opened(double width, double height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\" fill=\"#333\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
}

// Runs of equal grey become one rectangle.
std::string pixels_svg(const Tensor& pixels, double x0, double y0, double scale) {
  std::string svg;
  const auto* p = pixels.data<uint8_t>();
  const int64_t rows = pixels.dim(0), columns = pixels.dim(1);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns;) {
      int64_t end = c + 1;
      const uint8_t grey = p[r * columns + c];
      while (end < columns && p[r * columns + end] == grey) ++end;
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#{:02x}{:02x}{:02x}\"/>",
          x0 + scale * static_cast<double>(c), y0 + scale * static_cast<double>(r),
          scale * static_cast<double>(end - c), scale, grey, grey, grey);
      c = end;
    }
  }
  return svg + "\n";
}

}  // namespace

std::string curves_svg(const History& history) {
  std::vector<Series> losses, metrics;
  for (const Series& s : history.history) {
    if (base_name(s.first) != "learning_rate") (is_loss(s.first) ? losses : metrics).push_back(s);
  }
  const double panels = metrics.empty() ? 1 : 2;
  std::string svg = opened(kWidth * panels, kHeight) + panel(losses, 0);
  if (!metrics.empty()) svg += panel(metrics, kWidth);
  return svg + "</svg>\n";
}

std::string samples_svg(const std::vector<Sample>& samples) {
  constexpr size_t kColumns = 6;
  constexpr double kCell = 130, kImage = 112;
  const size_t rows = (samples.size() + kColumns - 1) / kColumns;
  std::string svg = opened(kCell * kColumns, (kCell + 12) * static_cast<double>(rows));
  for (size_t i = 0; i < samples.size(); ++i) {
    const size_t row = i / kColumns, column = i % kColumns;
    const double x = kCell * static_cast<double>(column) + (kCell - kImage) / 2;
    const double y = (kCell + 12) * static_cast<double>(row) + 4;
    const Tensor& pixels = samples[i].pixels;
    svg += "<g shape-rendering=\"crispEdges\">" +
           pixels_svg(pixels, x, y, kImage / static_cast<double>(pixels.dim(1))) + "</g>";
    const char* colour = samples[i].right ? "#3a8f4d" : "#c62828";
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\" "
        "stroke-width=\"2\"/>\n",
        x, y, kImage, kImage, colour);
    svg +=
        fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\" fill=\"{}\">{}</text>\n",
                    x + kImage / 2, y + kImage + 15, colour, escaped(samples[i].caption));
  }
  return svg + "</svg>\n";
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  write_atomically(path, [&](NewFile& file) { file.write(text.data(), text.size()); });
}

}  // namespace plimsoll::cli
