#include "device/cpu/conv_reference.h"

#include <algorithm>

namespace plimsoll::reference {
namespace {

// The input point that output point `o` sees through window point `w`, all row-major, or -1 where there is a
// zero.
int64_t seen(const ConvGeometry& g, int64_t o, int64_t w) {
  int64_t i = 0, size = 1;
  for (size_t a = kConvAxes; a-- > 0;) {
    const int64_t place = o % g.out[a] * g.stride[a] + w % g.window[a] * g.dilation[a] - g.pad_low[a];
    if (place < 0 || place % g.in_dilation[a] != 0 || place / g.in_dilation[a] >= g.in[a]) return -1;
    i += place / g.in_dilation[a] * size;
    size *= g.in[a];
    o /= g.out[a];
    w /= g.window[a];
  }
  return i;
}

// Calls f(w, i) for each window point of output point `o` and the input point it sees.
template <class F>
void for_each_seen(const ConvGeometry& g, int64_t o, F&& f) {
  for (int64_t w = 0; w < g.window_points(); ++w) {
    const int64_t i = seen(g, o, w);
    if (i >= 0) f(w, i);
  }
}

}  // namespace

template <class T>
void conv(const ConvGeometry& g, const T* x, const T* kernel, T* y) {
  const int64_t gc = g.group_channels(), gf = g.group_filters();
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t o = 0; o < g.out_points(); ++o) {
      for (int64_t k = 0; k < g.filters; ++k) {
        double sum = 0;
        for_each_seen(g, o, [&](int64_t w, int64_t i) {
          const T* xs = x + (n * g.in_points() + i) * g.channels + k / gf * gc;
          for (int64_t c = 0; c < gc; ++c) {
            sum += static_cast<double>(xs[c]) * static_cast<double>(kernel[(w * gc + c) * g.filters + k]);
          }
        });
        y[(n * g.out_points() + o) * g.filters + k] = static_cast<T>(sum);
      }
    }
  }
}

template <class T>
void conv_grad_input(const ConvGeometry& g, const T* dy, const T* kernel, T* dx) {
  const int64_t gc = g.group_channels(), gf = g.group_filters();
  std::fill_n(dx, g.x_elements(), T{0});
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t o = 0; o < g.out_points(); ++o) {
      const T* dys = dy + (n * g.out_points() + o) * g.filters;
      for_each_seen(g, o, [&](int64_t w, int64_t i) {
        for (int64_t c = 0; c < g.channels; ++c) {
          const int64_t first = c / gc * gf;
          const T* weights = kernel + (w * gc + c % gc) * g.filters;
          double sum = 0;
          for (int64_t k = first; k < first + gf; ++k)
            sum += static_cast<double>(dys[k]) * static_cast<double>(weights[k]);
          dx[(n * g.in_points() + i) * g.channels + c] += static_cast<T>(sum);
        }
      });
    }
  }
}

template <class T>
void conv_grad_filter(const ConvGeometry& g, const T* x, const T* dy, T* dkernel, T* dbias) {
  const int64_t gc = g.group_channels(), gf = g.group_filters();
  const int64_t points = g.batch * g.out_points();
  for (int64_t k = 0; k < g.filters; ++k) {
    for (int64_t c = 0; c < gc; ++c) {
      for (int64_t w = 0; w < g.window_points(); ++w) {
        double sum = 0;
        for (int64_t p = 0; p < points; ++p) {
          const int64_t i = seen(g, p % g.out_points(), w);
          if (i < 0) continue;
          const int64_t row = p / g.out_points() * g.in_points() + i;
          sum += static_cast<double>(x[row * g.channels + k / gf * gc + c]) *
                 static_cast<double>(dy[p * g.filters + k]);
        }
        dkernel[(w * gc + c) * g.filters + k] = static_cast<T>(sum);
      }
    }
    if (dbias == nullptr) continue;
    double sum = 0;
    for (int64_t p = 0; p < points; ++p) sum += static_cast<double>(dy[p * g.filters + k]);
    dbias[k] = static_cast<T>(sum);
  }
}

template void conv(const ConvGeometry&, const float*, const float*, float*);
template void conv(const ConvGeometry&, const double*, const double*, double*);
template void conv_grad_input(const ConvGeometry&, const float*, const float*, float*);
template void conv_grad_input(const ConvGeometry&, const double*, const double*, double*);
template void conv_grad_filter(const ConvGeometry&, const float*, const float*, float*, float*);
template void conv_grad_filter(const ConvGeometry&, const double*, const double*, double*, double*);

}  // namespace plimsoll::reference
