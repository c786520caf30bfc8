#include "train/memory_picture.h"

#include <algorithm>
#include <array>
#include <map>

#include "common/html.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

constexpr double kWidth = 1100, kHeight = 420, kLeft = 90, kTop = 20;
constexpr size_t kLayersShown = 11;  // the heaviest; the rest is one band

std::string number(double v) {
  std::string s = std::to_string(v);
  return s.substr(0, s.find('.') + 3);
}

struct Band {
  std::string name;
  std::vector<int64_t> bytes;  // by step
  int64_t most = 0;
};

// Bytes by layer and step; the heaviest layers first, the rest in the last band.
std::vector<Band> bands_of(const Picture& p) {
  const size_t steps = p.steps.size();
  std::map<std::string, Band> by_layer;
  for (const ArenaSpan& span : p.spans) {
    const std::string name = span.scratch         ? "scratch of kernels"
                             : span.layer.empty() ? "(no layer)"
                                                  : span.layer;
    Band& band = by_layer[name];
    band.name = name;
    band.bytes.resize(steps, 0);
    for (auto i = static_cast<size_t>(span.first); i < steps && i <= static_cast<size_t>(span.last); ++i)
      band.bytes[i] += span.bytes;
  }
  std::vector<Band> bands;
  for (auto& [name, band] : by_layer) {
    band.most = *std::ranges::max_element(band.bytes);
    bands.push_back(std::move(band));
  }
  std::ranges::stable_sort(bands, std::greater(), &Band::most);
  if (bands.size() <= kLayersShown) return bands;
  Band rest{.name = concat(bands.size() - kLayersShown, " other layers"),
            .bytes = std::vector<int64_t>(steps, 0)};
  for (size_t b = kLayersShown; b < bands.size(); ++b) {
    for (size_t i = 0; i < steps; ++i) rest.bytes[i] += bands[b].bytes[i];
  }
  bands.resize(kLayersShown);
  bands.push_back(std::move(rest));
  return bands;
}

// Colours that differ in lightness as well, for print.
std::string colour(size_t band) {
  return concat("hsl(", (band * 137) % 360, ",", 55, "%,", 45 + (band % 4) * 10, "%)");
}

// A round number of bytes such that some five of them reach `most`.
int64_t tick_for(double most) {
  int64_t unit = 1;
  while (static_cast<double>(unit) * 1024 * 4 <= most) unit *= 1024;
  constexpr std::array<int64_t, 12> kSteps = {1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000};
  for (const int64_t step : kSteps) {
    if (static_cast<double>(step * unit) * 6 >= most) return step * unit;
  }
  return 1024 * unit;
}

class Drawing {
 public:
  Drawing(const Picture& picture) : p_(picture), bands_(bands_of(picture)) {
    most_ = static_cast<double>(std::max({p_.arena, p_.line, int64_t{1}})) * 1.05;
  }

  // `alone`: as a file of its own, which must say what it is.
  std::string svg(bool alone) const {
    std::string s =
        concat("<svg viewBox=\"0 0 ", number(kLeft + kWidth + 10), " ", number(kTop + kHeight + 40),
               "\" role=\"img\" aria-label=\"bytes in the arena over a step\"",
               alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "",
               " font-family=\"system-ui,sans-serif\" font-size=\"12\">\n",
               "<style>.again{fill:#c00}.hover{fill:transparent}.hover:hover{fill:#0002}</style>\n");
    s += axis() + stacked() + labels() + again() + rule(p_.arena, "arena", "#333") +
         (p_.line > 0 ? rule(p_.line, "line (what it leaves for the arena)", "#c00") : std::string()) +
         hover();
    return s + "</svg>\n";
  }

  std::string legend() const {
    std::string s = "<table><tr><th></th><th>layer</th><th>most at once</th></tr>\n";
    for (size_t b = 0; b < bands_.size(); ++b) {
      const int64_t most = *std::ranges::max_element(bands_[b].bytes);
      s += concat("<tr><td style=\"background:", colour(b), "\">&emsp;</td><td>", escape_html(bands_[b].name),
                  "</td><td>", memory_text(most), "</td></tr>\n");
    }
    return s + "</table>\n";
  }

 private:
  double x(size_t step) const {
    return kLeft +
           kWidth * static_cast<double>(step) / static_cast<double>(std::max<size_t>(p_.steps.size(), 1));
  }
  double y(int64_t bytes) const { return kTop + kHeight * (1 - static_cast<double>(bytes) / most_); }

  std::string axis() const {
    std::string s;
    for (int64_t bytes = 0; static_cast<double>(bytes) <= most_; bytes += tick_for(most_)) {
      s += concat("<text x=\"", number(kLeft - 6), "\" y=\"", number(y(bytes) + 4), "\" text-anchor=\"end\">",
                  memory_text(bytes), "</text><line x1=\"", number(kLeft), "\" x2=\"", number(kLeft + kWidth),
                  "\" y1=\"", number(y(bytes)), "\" y2=\"", number(y(bytes)), "\" stroke=\"#ddd\"/>\n");
    }
    return s + concat("<text x=\"", number(kLeft + kWidth / 2), "\" y=\"", number(kTop + kHeight + 34),
                      "\" text-anchor=\"middle\">", p_.steps.size(),
                      " operations of one training step</text>\n");
  }

  std::string stacked() const {
    std::string s;
    std::vector<int64_t> below(p_.steps.size(), 0);
    for (size_t b = 0; b < bands_.size(); ++b) {
      std::string upper, lower;
      for (size_t i = 0; i < below.size(); ++i) {
        const int64_t top = below[i] + bands_[b].bytes[i];
        upper += concat(number(x(i)), ",", number(y(top)), " ", number(x(i + 1)), ",", number(y(top)), " ");
        lower = concat(number(x(i + 1)), ",", number(y(below[i])), " ", number(x(i)), ",",
                       number(y(below[i])), " ") +
                lower;
        below[i] = top;
      }
      s += concat("<polygon fill=\"", colour(b), "\" stroke=\"#fff\" stroke-width=\"0.5\" points=\"", upper,
                  lower, "\"/>\n");
    }
    return s;
  }

  // The name of each band where there is room for it, so that the picture needs no colours.
  std::string labels() const {
    constexpr double kLetter = 7, kLine = 14;
    std::string s;
    std::vector<int64_t> below(p_.steps.size(), 0);
    for (const Band& band : bands_) {
      size_t from = 0, best = 0, length = 0;  // the longest run of steps that can be written on
      int64_t lowest = 0, highest = 0, low = 0, high = 0;
      for (size_t i = 0; i < below.size(); ++i) {
        const int64_t top = below[i] + band.bytes[i];
        low = i == from ? below[i] : std::max(low, below[i]);
        high = i == from ? top : std::min(high, top);
        if (y(low) - y(high) < kLine) {
          from = i + 1;
          continue;
        }
        if (i + 1 - from <= length) continue;
        best = from;
        length = i + 1 - from;
        lowest = low;
        highest = high;
      }
      for (size_t i = 0; i < below.size(); ++i) below[i] += band.bytes[i];
      if (x(best + length) - x(best) < kLetter * static_cast<double>(band.name.size())) continue;
      s += concat("<text x=\"", number((x(best) + x(best + length)) / 2), "\" y=\"",
                  number((y(lowest) + y(highest)) / 2 + 4),
                  "\" text-anchor=\"middle\" stroke=\"#fff\" stroke-width=\"2.5\" paint-order=\"stroke\">",
                  escape_html(band.name), "</text>\n");
    }
    return s;
  }

  // A mark under each step that runs once more.
  std::string again() const {
    std::vector<bool> marked(p_.steps.size(), false);
    for (const ArenaSpan& span : p_.spans) {
      if (span.again && static_cast<size_t>(span.first) < marked.size())
        marked[static_cast<size_t>(span.first)] = true;
    }
    std::string s;
    for (size_t i = 0; i < marked.size(); ++i) {
      if (!marked[i]) continue;
      s += concat("<rect class=\"again\" x=\"", number(x(i)), "\" y=\"", number(kTop + kHeight + 4),
                  "\" width=\"", number(std::max(x(i + 1) - x(i), 1.0)), "\" height=\"9\"/>\n");
    }
    return s;
  }

  std::string rule(int64_t bytes, std::string_view name, std::string_view stroke) const {
    return concat("<line x1=\"", number(kLeft), "\" x2=\"", number(kLeft + kWidth), "\" y1=\"",
                  number(y(bytes)), "\" y2=\"", number(y(bytes)), "\" stroke=\"", stroke,
                  "\" stroke-dasharray=\"6 3\"/><text x=\"", number(kLeft + 6), "\" y=\"",
                  number(y(bytes) - 4), "\" fill=\"", stroke, "\">", name, " ", memory_text(bytes),
                  "</text>\n");
  }

  // What the pointer is over: the operation, and the largest values alive.
  std::string hover() const {
    constexpr size_t kShown = 6;
    std::vector<std::vector<const ArenaSpan*>> alive(p_.steps.size());
    for (const ArenaSpan& span : p_.spans) {
      for (auto i = static_cast<size_t>(span.first); i < alive.size() && i <= static_cast<size_t>(span.last);
           ++i)
        alive[i].push_back(&span);
    }
    std::string s;
    for (size_t i = 0; i < alive.size(); ++i) {
      std::ranges::stable_sort(alive[i], std::greater(), &ArenaSpan::bytes);
      s += concat("<rect class=\"hover\" x=\"", number(x(i)), "\" y=\"", number(kTop), "\" width=\"",
                  number(x(i + 1) - x(i)), "\" height=\"", number(kHeight), "\"><title>", i, ": ",
                  escape_html(p_.steps[i]));
      for (size_t k = 0; k < std::min(kShown, alive[i].size()); ++k) {
        const ArenaSpan& a = *alive[i][k];
        s += concat("\n", memory_text(a.bytes), "  ", escape_html(a.layer), " ", escape_html(a.what),
                    ", steps ", a.first, " to ", a.last, a.again ? ", made again" : "");
      }
      s += "</title></rect>\n";
    }
    return s;
  }

  const Picture& p_;
  std::vector<Band> bands_;
  double most_;
};

}  // namespace

std::string picture_svg(const Picture& picture) { return Drawing(picture).svg(true); }

std::string picture_html(const Picture& picture) {
  const Drawing drawing(picture);
  return concat("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>",
                escape_html(picture.title),
                "</title>\n<style>body{font:14px "
                "system-ui,sans-serif;margin:2em;max-width:1250px}svg{width:100%;font-size:12px}"
                "td,th{padding:2px "
                "10px;text-align:left}"
                "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}</style></head><body>\n<h1>",
                escape_html(picture.title),
                "</h1>\n<p>Bytes in the arena while one training step runs, by layer. Red marks below: "
                "operations that run once "
                "more. Point at a place for what is alive there.</p>\n",
                drawing.svg(false), drawing.legend(), "</body></html>\n");
}

}  // namespace plimsoll
