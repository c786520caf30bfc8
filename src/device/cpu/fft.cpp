#include "device/cpu/fft.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plimsoll {
namespace {

using Number = Fft::Number;

constexpr int kLargestRadix = 31;

// e^(-2 pi i k / n), rounded once: the angle is brought below 45 degrees in whole numbers.
Number root(int64_t k, int64_t n) {
  int64_t rest = 8 * (k % n);
  const int64_t octant = rest / n;
  rest -= octant * n;
  if (octant % 2) rest = n - rest;
  const double angle = 0.78539816339744831 * static_cast<double>(rest) / static_cast<double>(n);
  double c = std::cos(angle), s = std::sin(angle);
  if (octant % 4 == 1 || octant % 4 == 2) std::swap(c, s);
  if (octant >= 2 && octant < 6) c = -c;
  return {c, octant < 4 ? -s : s};
}

// Empty if a prime is too large for a pass of its own.
std::vector<int> radices_of(int64_t n) {
  std::vector<int> list;
  for (const int radix : {4, 2, 3, 5}) {
    for (; n % radix == 0; n /= radix) list.push_back(radix);
  }
  for (int radix = 7; radix <= kLargestRadix; radix += 2) {
    for (; n % radix == 0; n /= radix) list.push_back(radix);
  }
  return n == 1 ? list : std::vector<int>{};
}

// Plain products: C++'s look for infinities.
Number times(Number a, Number b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
Number minus_i(Number a) { return {a.imag(), -a.real()}; }

// The transform of the `radix` numbers in `in`.
void small_transform(int radix, const Number* in, Number* out, const Number* roots, int64_t n) {
  if (radix == 2) {
    out[0] = in[0] + in[1];
    out[1] = in[0] - in[1];
  } else if (radix == 4) {
    const Number a = in[0] + in[2], b = in[0] - in[2], c = in[1] + in[3], d = minus_i(in[1] - in[3]);
    out[0] = a + c;
    out[1] = b + d;
    out[2] = a - c;
    out[3] = b - d;
  } else {
    for (int j = 0; j < radix; ++j) {
      Number sum = in[0];
      for (int k = 1; k < radix; ++k) sum += times(in[k], roots[j * k % radix * (n / radix)]);
      out[j] = sum;
    }
  }
}

}  // namespace

Fft::Fft(int64_t n) : n_(n), radices_(radices_of(n)) {
  if (n == 1) return;
  if (!radices_.empty()) {
    for (int64_t k = 0; k < n; ++k) roots_.push_back(root(k, n));
    return;
  }
  inner_ = std::make_unique<Fft>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1))));
  const int64_t m = inner_->size();
  filter_.assign(static_cast<size_t>(m), Number());
  int64_t square = 0;  // k^2 modulo 2n
  for (int64_t k = 0; k < n; ++k) {
    chirp_.push_back(root(square, 2 * n));
    filter_[static_cast<size_t>(k)] = filter_[static_cast<size_t>((m - k) % m)] =
        std::conj(chirp_.back()) / static_cast<double>(m);
    square = (square + 2 * k + 1) % (2 * n);
  }
  std::vector<Number> work(static_cast<size_t>(inner_->work()));
  inner_->run(filter_.data(), work.data());
}

int64_t Fft::work() const { return inner_ ? inner_->size() + inner_->work() : n_; }

int64_t Fft::bytes() const {
  const size_t numbers = roots_.size() + chirp_.size() + filter_.size();
  return static_cast<int64_t>(numbers * sizeof(Number)) + (inner_ ? inner_->bytes() : 0);
}

void Fft::run(Number* x, Number* work) const noexcept { inner_ ? convolve(x, work) : passes(x, work); }

// Stockham's passes, decimation in frequency: `stride` transforms of length `length` lie side by side.
void Fft::passes(Number* x, Number* work) const noexcept {
  Number* from = x;
  Number* to = work;
  int64_t length = n_, stride = 1;
  Number in[kLargestRadix], out[kLargestRadix];
  for (const int radix : radices_) {
    const int64_t part = length / radix;
    for (int64_t p = 0; p < part; ++p) {
      for (int64_t q = 0; q < stride; ++q) {
        for (int k = 0; k < radix; ++k) in[k] = from[q + stride * (p + part * k)];
        small_transform(radix, in, out, roots_.data(), n_);
        Number* at = to + q + stride * radix * p;
        at[0] = out[0];
        for (int k = 1; k < radix; ++k)
          at[stride * k] = times(out[k], roots_[static_cast<size_t>(p * k * stride)]);
      }
    }
    std::swap(from, to);
    length = part;
    stride *= radix;
  }
  if (from != x) std::copy(from, from + n_, x);
}

// x_k c_k, convolved with the conjugate of c, times c_k again, since 2 j k = j^2 + k^2 - (k - j)^2. The
// transform back is one of conjugates.
void Fft::convolve(Number* x, Number* work) const noexcept {
  const auto m = static_cast<size_t>(inner_->size()), n = static_cast<size_t>(n_);
  Number* y = work;
  for (size_t k = 0; k < n; ++k) y[k] = times(x[k], chirp_[k]);
  std::fill(y + n, y + m, Number());
  inner_->run(y, work + m);
  for (size_t k = 0; k < m; ++k) y[k] = std::conj(times(y[k], filter_[k]));
  inner_->run(y, work + m);
  for (size_t k = 0; k < n; ++k) x[k] = times(std::conj(y[k]), chirp_[k]);
}

}  // namespace plimsoll
