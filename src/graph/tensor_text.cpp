// Tensors as text, as NumPy prints arrays (its array2string with the settings it starts with), and
// Tensor::of.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <ostream>

#include "graph/elements.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/tensor.h"

namespace plimsoll {
namespace {

constexpr int64_t kMostShown = 1000;  // elements; of more, the first and last kEdge along each axis
constexpr int64_t kEdge = 3;
constexpr size_t kLine = 75;
constexpr int kPrecision = 8;

// A number's digits: "12", "5" and "", or "+03" after the e.
struct Digits {
  std::string whole, fraction, exponent;
};

Digits split(std::string text) {
  Digits d;
  if (const size_t e = text.find('e'); e != std::string::npos) {
    d.exponent = text.substr(e + 1);
    text.resize(e);
  }
  const size_t point = text.find('.');
  d.whole = text.substr(0, point);
  if (point != std::string::npos) d.fraction = text.substr(point + 1);
  while (!d.fraction.empty() && d.fraction.back() == '0') d.fraction.pop_back();
  return d;
}

// The double of the fewest digits that reads back as the same half.
double short_half(double value, DType type) {
  for (int more = 0; more < kPrecision; ++more) {
    char text[64], half[2];
    std::snprintf(text, sizeof text, "%.*e", more, value);
    const double shorter = std::strtod(text, nullptr);
    write_element(type, half, shorter);
    if (read_element(type, half) == value) return shorter;
  }
  return value;
}

// The shortest digits that read back as the same value of its type, at most kPrecision behind the point.
Digits digits_of(double value, DType type, bool scientific) {
  char text[512];
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  const bool half = size_of(type) == 2;
  const auto end =
      type == DType::f32
          ? std::to_chars(text, text + sizeof text, static_cast<float>(value), format)
          : std::to_chars(text, text + sizeof text, half ? short_half(value, type) : value, format);
  Digits d = split(std::string(text, end.ptr));
  if (d.fraction.size() <= kPrecision) return d;
  std::snprintf(text, sizeof text, scientific ? "%.*e" : "%.*f", kPrecision, value);
  return split(text);
}

std::string padded(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

class Formatter {
 public:
  virtual ~Formatter() = default;
  virtual std::string operator()(const void* element) const = 0;
};

// Integers, truth values and complex numbers: all as wide as the widest.
class Plain final : public Formatter {
 public:
  Plain(DType type, const std::vector<const void*>& shown) : type_(type) {
    if (type == DType::boolean && shown.size() > 1) width_ = 5;  // "False", whether there is one or not
    for (const void* p : shown) width_ = std::max(width_, text(p).size());
  }
  std::string operator()(const void* p) const override { return padded(text(p), width_); }

 private:
  std::string text(const void* p) const {
    if (type_ == DType::boolean) return read_element(type_, p) != 0 ? "True" : "False";
    return element_text(type_, p);
  }
  DType type_;
  size_t width_ = 0;
};

// Floats: points below each other; with exponents where plain digits would be too many.
class Floats final : public Formatter {
 public:
  Floats(DType type, const std::vector<const void*>& shown) : type_(type) {
    std::vector<double> finite;
    double most = 0, least = INFINITY;
    for (const void* p : shown) {
      const double value = read_element(type, p);
      if (!std::isfinite(value)) continue;
      finite.push_back(value);
      if (value == 0) continue;
      most = std::max(most, std::fabs(value)), least = std::min(least, std::fabs(value));
    }
    scientific_ = most > 0 && (most >= 1e8 || least < 1e-4 || rounded(most / least) > 1000);
    for (const double value : finite) {
      const Digits d = digits_of(value, type_, scientific_);
      left_ = std::max(left_, d.whole.size());
      right_ = std::max(right_, d.fraction.size());
      exponent_ = std::max(exponent_, d.exponent.size());
    }
    width_ = left_ + 1 + right_ + (scientific_ ? 1 + exponent_ : 0);
    for (const void* p : shown) {
      const double value = read_element(type, p);
      if (!std::isfinite(value)) width_ = std::max(width_, special(value).size());
    }
  }
  std::string operator()(const void* p) const override {
    const double value = read_element(type_, p);
    if (!std::isfinite(value)) return padded(special(value), width_);
    Digits d = digits_of(value, type_, scientific_);
    d.fraction.resize(right_, scientific_ ? '0' : ' ');
    std::string text = d.whole + "." + d.fraction;
    if (scientific_) text += "e" + d.exponent;
    return padded(text, width_);
  }

 private:
  // As NumPy, whose quotients are of the array's type.
  double rounded(double value) const {
    double bytes = 0;
    write_element(type_, &bytes, value);
    return read_element(type_, &bytes);
  }
  static std::string special(double value) { return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf"; }
  DType type_;
  bool scientific_ = false;
  size_t left_ = 0, right_ = 0, exponent_ = 0, width_ = 0;
};

class Printer {
 public:
  explicit Printer(const Tensor& t)
      : t_(t), bytes_(static_cast<const char*>(read_bytes(t))), short_(t.shape().elements() > kMostShown) {
    std::vector<const void*> shown;
    visit(0, 0, [&](const void* p) { shown.push_back(p); });
    if (is_float(t.dtype()))
      format_ = std::make_unique<Floats>(t.dtype(), shown);
    else
      format_ = std::make_unique<Plain>(t.dtype(), shown);
  }
  std::string text() const { return list(0, 0, " ", kLine); }

 private:
  // The places along an axis that are shown; -1: something was left out here.
  std::vector<int64_t> places(int axis) const {
    const int64_t size = t_.dim(axis);
    std::vector<int64_t> all;
    for (int64_t i = 0; i < size; ++i) {
      if (short_ && size > 2 * kEdge && i == kEdge) {
        all.push_back(-1);
        i = size - kEdge;
      }
      all.push_back(i);
    }
    return all;
  }
  int64_t step(int axis) const {
    int64_t elements = 1;
    for (int i = axis + 1; i < t_.rank(); ++i) elements *= t_.dim(i);
    return elements;
  }
  const void* element(int64_t i) const { return bytes_ + i * static_cast<int64_t>(size_of(t_.dtype())); }
  void visit(int axis, int64_t at, const std::function<void(const void*)>& see) const {
    if (axis == t_.rank()) return see(element(at));
    for (const int64_t i : places(axis)) {
      if (i >= 0) visit(axis + 1, at + i * step(axis), see);
    }
  }

  std::string list(int axis, int64_t at, const std::string& indent, size_t width) const {
    if (axis == t_.rank()) return (*format_)(element(at));
    const bool last = axis == t_.rank() - 1;
    std::string all, line = indent;
    const std::vector<int64_t> shown = places(axis);
    for (size_t n = 0; n < shown.size(); ++n) {
      const bool ends = n + 1 == shown.size();
      const std::string word =
          shown[n] < 0 ? "..." : list(axis + 1, at + shown[n] * step(axis), indent + " ", width - 1);
      if (!last) {
        all += indent + word + std::string(ends ? 0 : static_cast<size_t>(t_.rank() - 1 - axis), '\n');
        continue;
      }
      if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
        while (line.back() == ' ') line.pop_back();
        all += line + "\n";
        line = indent;
      }
      line += word + (ends ? "" : " ");
    }
    if (last) all += line;
    return concat("[", all.substr(std::min(all.size(), indent.size())), "]");
  }

  const Tensor& t_;
  const char* bytes_;
  bool short_;
  std::unique_ptr<Formatter> format_;
};

void collect(const Numbers& n, int depth, std::vector<int64_t>& sizes, std::vector<double>& values) {
  const auto deep = static_cast<size_t>(depth);
  require(depth < Shape::kMaxRank, "tensor", "expected at most ", Shape::kMaxRank, " lists in each other");
  if (n.is_list && deep == sizes.size() && values.empty()) sizes.resize(deep + 1, std::ssize(n.list));
  require(n.is_list == (deep < sizes.size()) && (!n.is_list || sizes[deep] == std::ssize(n.list)), "tensor",
          "expected lists of equal lengths");
  if (!n.is_list) values.push_back(n.value);
  for (const Numbers& part : n.list) collect(part, depth + 1, sizes, values);
}

}  // namespace

Tensor Tensor::of(const Numbers& numbers, DType dtype) {
  std::vector<int64_t> sizes;
  std::vector<double> values;
  collect(numbers, 0, sizes, values);
  Tensor t = empty(dtype, Shape(std::span<const int64_t>(sizes)));
  char* to = static_cast<char*>(t.data());
  for (const double value : values) {
    write_element(dtype, to, value);
    to += size_of(dtype);
  }
  return t;
}

std::string Tensor::str() const {
  if (shape().elements() == 0) return "[]";
  if (rank() == 0 && is_float(dtype())) {  // NumPy's scalars: at least one digit behind the point
    std::string text = Printer(*this).text();
    return text.ends_with('.') ? text + "0" : text;
  }
  return Printer(*this).text();
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) {
  if (!t.defined()) return out << "(no tensor)";
  return out << (t.is_symbolic() ? t.type().str() : t.str());
}

}  // namespace plimsoll
