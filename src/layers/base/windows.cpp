#include "layers/base/windows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "common/names.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr double kPi = std::numbers::pi;

// The value at place n of m, m > 1.
using Formula = std::function<double(double n, double m)>;

double from_middle(double n, double m) { return std::fabs(n - (m - 1) / 2); }

Formula cosines(std::vector<double> a) {
  return [a](double n, double m) {
    double sum = 0;
    for (size_t k = 0; k < a.size(); ++k)
      sum += a[k] * std::cos(static_cast<double>(k) * (-kPi + 2 * kPi * n / (m - 1)));
    return sum;
  };
}

double triangle(double n, double m) {
  const double odd = std::fmod(m, 2);
  return 1 - from_middle(n, m) / ((m + odd) / 2);
}
double parzen(double n, double m) {
  const double x = from_middle(n, m) / (m / 2);
  if (from_middle(n, m) > (m - 1) / 4) return 2 * std::pow(1 - x, 3);
  return 1 - 6 * x * x + 6 * x * x * x;
}
double bohman(double n, double m) {
  const double x = from_middle(n, m) / ((m - 1) / 2);
  return x >= 1 ? 0 : (1 - x) * std::cos(kPi * x) + std::sin(kPi * x) / kPi;
}
double tukey(double n, double m) {
  constexpr double kShare = 0.5;  // of the window that is not flat
  const double at = std::min(n, m - 1 - n);
  if (at > std::floor(kShare * (m - 1) / 2)) return 1;
  return 0.5 * (1 + std::cos(kPi * (-1 + 2 * at / kShare / (m - 1))));
}
double lanczos(double n, double m) {
  const double x = kPi * (2 * n / (m - 1) - 1);
  return x == 0 ? 1 : std::sin(x) / x;
}
double taylor(double n, double m) {
  constexpr int kTerms = 4;
  constexpr double kSideLobes = 30;  // decibels below the main one
  const double a = std::acosh(std::pow(10, kSideLobes / 20)) / kPi;
  const double s = kTerms * kTerms / (a * a + (kTerms - 0.5) * (kTerms - 0.5));
  const auto at = [&](double place) {
    double sum = 1;
    for (int k = 1; k < kTerms; ++k) {
      double over = k % 2 == 1 ? 1 : -1, under = 2;
      for (int i = 1; i < kTerms; ++i) {
        over *= 1 - k * k / s / (a * a + (i - 0.5) * (i - 0.5));
        if (i != k) under *= 1 - double(k * k) / (i * i);
      }
      sum += 2 * over / under * std::cos(2 * kPi * k * (place - m / 2 + 0.5) / m);
    }
    return sum;
  };
  return at(n) / at((m - 1) / 2);
}

const std::map<std::string, Formula, std::less<>>& formulas() {
  static const std::map<std::string, Formula, std::less<>> all = {
      {"boxcar", [](double, double) { return 1.0; }},
      {"hann", cosines({0.5, 0.5})},
      {"hamming", cosines({0.54, 0.46})},
      {"blackman", cosines({0.42, 0.50, 0.08})},
      {"nuttall", cosines({0.3635819, 0.4891775, 0.1365995, 0.0106411})},
      {"blackmanharris", cosines({0.35875, 0.48829, 0.14128, 0.01168})},
      {"flattop", cosines({0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368})},
      {"triang", triangle},
      {"bartlett", [](double n, double m) { return 1 - from_middle(n, m) / ((m - 1) / 2); }},
      {"parzen", parzen},
      {"bohman", bohman},
      {"barthann",
       [](double n, double m) {
         const double x = from_middle(n, m) / (m - 1);
         return 0.62 - 0.48 * x + 0.38 * std::cos(2 * kPi * x);
       }},
      {"cosine", [](double n, double m) { return std::sin(kPi / m * (n + 0.5)); }},
      {"exponential", [](double n, double m) { return std::exp(-from_middle(n, m)); }},
      {"tukey", tukey},
      {"taylor", taylor},
      {"lanczos", lanczos},
  };
  return all;
}

}  // namespace

std::vector<double> window_values(const Window& window, int64_t length, bool periodic,
                                  std::string_view place) {
  constexpr int64_t kMost = 1 << 24;
  require(length > 0 && length <= kMost, place, "expected a window of 1 to ", kMost, " values, got ", length);
  if (window.name.empty()) {
    require(window.values.empty() || std::ssize(window.values) == length, place, "expected a window of ",
            length, " values, got ", window.values.size());
    return window.values;
  }
  const auto found = formulas().find(window.name);
  if (found == formulas().end()) {
    std::vector<std::string> names;
    for (const auto& [name, formula] : formulas()) names.push_back(name);
    fail(ErrorKind::invalid_argument, place, "there is no window '", window.name,
         "'; there are: ", nearest_first(window.name, std::move(names)));
  }
  std::vector<double> values(static_cast<size_t>(length), 1.0);
  if (length == 1) return values;
  const auto m = static_cast<double>(length + (periodic ? 1 : 0));
  for (size_t i = 0; i < values.size(); ++i) values[i] = found->second(static_cast<double>(i), m);
  return values;
}

void window_field(Fields& f, Window& window) {
  if (f.reading() ? f.has_list("window") : !window.values.empty()) {
    window.name.clear();
    return f("window", window.values);
  }
  std::optional<std::string> name;
  if (!window.name.empty()) name = window.name;
  f("window", name);
  window.name = name.value_or("");
}

}  // namespace plimsoll
