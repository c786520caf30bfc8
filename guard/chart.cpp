#include "guard/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/bytes.h"

namespace plimsoll::guard {

namespace {

constexpr double kSpan = 60;
constexpr int kColumns = 60, kRows = 5;

int64_t top_of(const std::vector<MemorySample>& samples, int64_t line) {
  int64_t top = 1;
  for (const auto& s : samples) top = std::max(top, s.resident);
  // The line sets the scale unless memory stayed far below it.
  return line > 0 && line < 4 * top ? std::max(top, line) : top;
}

// The highest reading in each of kColumns equal parts of the last minute; -1 where there is none.
std::vector<double> columns_of(const std::vector<MemorySample>& samples, int64_t top) {
  std::vector<double> columns(kColumns, -1);
  const double begin = samples.back().time - kSpan;
  for (const auto& s : samples) {
    const double part = (s.time - begin) / kSpan * (kColumns - 1);
    if (part < 0) continue;
    auto& column = columns[std::min<size_t>(static_cast<size_t>(part + 0.5), kColumns - 1)];
    column = std::max(column, static_cast<double>(s.resident) / static_cast<double>(top));
  }
  // A column between two readings shows the one before it.
  for (size_t i = 1; i < columns.size(); ++i) {
    if (columns[i] < 0) columns[i] = columns[i - 1];
  }
  return columns;
}

}  // namespace

std::vector<std::string> text_chart(const std::vector<MemorySample>& samples, int64_t line) {
  if (samples.empty()) return {};
  constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const int64_t top = top_of(samples, line);
  const auto columns = columns_of(samples, top);
  const int line_row =
      line > 0 && line <= top
          ? std::clamp(
                kRows - 1 -
                    static_cast<int>(static_cast<double>(line) / static_cast<double>(top) * kRows - 1e-9),
                0, kRows - 1)
          : -1;
  std::vector<std::string> rows;
  for (int row = 0; row < kRows; ++row) {
    std::string text = fmt::format("{:>10} ┤", row == 0 ? bytes_text(top) : row == kRows - 1 ? "0 B" : "");
    for (double column : columns) {
      const double level = column * kRows - (kRows - 1 - row);
      const int eighths = column < 0 ? 0 : std::clamp(static_cast<int>(std::lround(level * 8)), 0, 8);
      text += eighths == 0 && row == line_row ? "╌" : kBlocks[eighths];
    }
    if (row == line_row) text += " the line";
    rows.push_back(text);
  }
  rows.push_back(fmt::format("{:>10} └{:-<{}}", "", "60 s ago ", kColumns - 4) + " now");
  return rows;
}

std::string svg_chart(const std::vector<MemorySample>& samples, int64_t line) {
  if (samples.empty()) return {};
  constexpr double kWidth = 640, kHeight = 170, kLeft = 70, kRight = 12, kTop = 14, kBottom = 24;
  const int64_t top = top_of(samples, line);
  const double begin = samples.back().time - kSpan;
  auto x = [&](double time) {
    return kLeft + std::max(0.0, (time - begin) / kSpan) * (kWidth - kLeft - kRight);
  };
  auto y = [&](int64_t bytes) {
    return kHeight - kBottom -
           static_cast<double>(bytes) / static_cast<double>(top) * (kHeight - kTop - kBottom);
  };
  std::string points;
  for (const auto& s : samples) points += fmt::format("{:.1f},{:.1f} ", x(s.time), y(s.resident));
  const double floor = kHeight - kBottom;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"11\"><rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>"
      "<polygon points=\"{2:.1f},{3} {4}{5:.1f},{3}\" fill=\"#9ecae1\"/>"
      "<polyline points=\"{4}\" fill=\"none\" stroke=\"#2171b5\" stroke-width=\"1.5\"/>",
      kWidth, kHeight, x(samples.front().time), floor, points, x(samples.back().time));
  if (line > 0 && line <= top) {
    svg += fmt::format(
        "<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" stroke=\"#cb181d\" stroke-dasharray=\"5 "
        "3\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" fill=\"#cb181d\">the line, {5}</text>",
        kLeft, y(line), kWidth - kRight, kLeft + 4, y(line) + 12, bytes_text(line));
  }
  svg += fmt::format(
      "<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"#333\"/>"
      "<text x=\"{4}\" y=\"{5}\" text-anchor=\"end\">{6}</text><text x=\"{4}\" y=\"{2}\" "
      "text-anchor=\"end\">0</text>"
      "<text x=\"{0}\" y=\"{7}\">60 s ago</text><text x=\"{3}\" y=\"{7}\" "
      "text-anchor=\"end\">now</text></svg>",
      kLeft, kTop, floor, kWidth - kRight, kLeft - 6, kTop + 8, bytes_text(top), kHeight - 6);
  return svg;
}

}  // namespace plimsoll::guard
