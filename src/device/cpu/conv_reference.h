// Convolution and its two gradients as plain loops: the oracle for the other kernels, and the kernel for what
// they do not cover. Sums are kept in double. One thread.
#pragma once

#include "device/cpu/conv_geometry.h"

namespace plimsoll::reference {

// T is float or double. The outputs are overwritten.
template <class T>
void conv(const ConvGeometry& g, const T* x, const T* kernel, T* y);
template <class T>
void conv_grad_input(const ConvGeometry& g, const T* dy, const T* kernel, T* dx);
// dbias may be null: the sums of dy over all but the last axis.
template <class T>
void conv_grad_filter(const ConvGeometry& g, const T* x, const T* dy, T* dkernel, T* dbias);

}  // namespace plimsoll::reference
