// The discrete Fourier transform of one length, made ready. Lengths whose primes are small go through
// Stockham's passes, others through Bluestein's convolution: all take O(n log n). Immutable once made; may be
// used from several threads.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace plimsoll {

class Fft {
 public:
  using Number = std::complex<double>;

  explicit Fft(int64_t n);  // n >= 1

  int64_t size() const { return n_; }
  int64_t work() const;   // numbers of scratch that run() needs
  int64_t bytes() const;  // held
  // x_k becomes the sum over j of x_j e^(-2 pi i j k / n).
  void run(Number* x, Number* work) const noexcept;

 private:
  void passes(Number* x, Number* work) const noexcept;
  void convolve(Number* x, Number* work) const noexcept;

  int64_t n_;
  std::vector<int> radices_;    // their product is n; empty for Bluestein's
  std::vector<Number> roots_;   // e^(-2 pi i k / n)
  std::unique_ptr<Fft> inner_;  // Bluestein's: a power of 2
  std::vector<Number> chirp_;   // e^(-pi i k^2 / n)
  std::vector<Number> filter_;  // the transform of its conjugate
};

}  // namespace plimsoll
