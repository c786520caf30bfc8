#include "device/cpu/conv_reference.h"

#include <algorithm>

namespace plimsoll::reference {
namespace {

// Calls f(o, w, i) for each triple of output point, window point and input point that meet, all row-major.
template <class F>
void for_each_meeting(const ConvGeometry& g, int64_t o, F&& f) {
  const ConvAxes at{o / (g.out[1] * g.out[2]), o / g.out[2] % g.out[1], o % g.out[2]};
  int64_t w = 0;
  ConvAxes k;
  for (k[0] = 0; k[0] < g.window[0]; ++k[0]) {
    for (k[1] = 0; k[1] < g.window[1]; ++k[1]) {
      for (k[2] = 0; k[2] < g.window[2]; ++k[2], ++w) {
        int64_t i = 0;
        bool inside = true;
        for (size_t a = 0; a < kConvAxes && inside; ++a) {
          const int64_t place = at[a] * g.stride[a] + k[a] * g.dilation[a] - g.pad_low[a];
          inside = place >= 0 && place % g.in_dilation[a] == 0 && place / g.in_dilation[a] < g.in[a];
          i = i * g.in[a] + place / g.in_dilation[a];
        }
        if (inside) f(w, i);
      }
    }
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
        for_each_meeting(g, o, [&](int64_t w, int64_t i) {
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
      for_each_meeting(g, o, [&](int64_t w, int64_t i) {
        for (int64_t c = 0; c < g.channels; ++c) {
          const int64_t first = c / gc * gf;
          const T* weights = kernel + (w * gc + c % gc) * g.filters;
          double sum = 0;
          for (int64_t k = first; k < first + gf; ++k) sum += static_cast<double>(dys[k]) * static_cast<double>(weights[k]);
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
      for (int64_t target = 0; target < g.window_points(); ++target) {
        double sum = 0;
        for (int64_t p = 0; p < points; ++p) {
          for_each_meeting(g, p % g.out_points(), [&](int64_t w, int64_t i) {
            if (w != target) return;
            const int64_t row = p / g.out_points() * g.in_points() + i;
            sum += static_cast<double>(x[row * g.channels + k / gf * gc + c]) * static_cast<double>(dy[p * g.filters + k]);
          });
        }
        dkernel[(target * gc + c) * g.filters + k] = static_cast<T>(sum);
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
