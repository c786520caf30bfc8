#include "device/cpu/conv_kernels.h"

#include <array>
#include <utility>

#include "device/cpu/conv_depthwise_highway.h"
#include "device/cpu/conv_filter_highway.h"
#include "device/cpu/conv_forward_highway.h"
#include "device/cpu/conv_reference.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/widened.h"
#include "plimsoll/error.h"

namespace plimsoll {

ConvEpilogue conv_epilogue(const Attrs& attrs) {
  ConvEpilogue e;
  int next = e.bias + 1;
  if (attrs.flag("scale")) e.scale = next++;
  if (attrs.flag("residual")) e.residual = next++;
  const std::string& name = attrs.string("activation");
  const std::optional<Activation> activation = activation_from_name(name);
  require(activation.has_value(), "conv_bias", "expected one of the activations that dense() takes, got \"",
          name, "\"");
  e.activation = *activation;
  return e;
}

Slices conv_slices(const KernelQuery& q) {
  const bool filter_gradient = q.attrs.find("kernel_shape") != nullptr;
  Slices s{.length = q.in[0].shape[0], .in = 1, .out = 1};
  if (filter_gradient) {
    s.in = 0b11, s.out = 0;
  } else if (const Attr* residual = q.attrs.find("residual"); residual && std::get<bool>(*residual)) {
    s.in |= 1u << conv_epilogue(q.attrs).residual;
  }
  return s;
}

namespace {

template <class T>
struct ForwardKernel {
  ForwardPlan plan;
  int inputs = 2;
  ConvEpilogue epilogue = kNoEpilogue;
};

template <class T>
void run_forward_kernel(const ForwardKernel<T>& k, void* const* args) {
  const auto at = [&](int i) { return i < 0 ? nullptr : static_cast<const T*>(args[i]); };
  const Epilogue<T> e{at(k.epilogue.bias), at(k.epilogue.scale), at(k.epilogue.residual),
                      k.epilogue.activation};
  run_forward(k.plan, at(0), at(1), e, static_cast<T*>(args[k.inputs]), static_cast<T*>(args[k.inputs + 1]));
}

template <class T>
Kernel forward_kernel(ForwardKernel<T> k) {
  const int64_t scratch = forward_scratch_bytes<T>(k.plan);
  return make_kernel<ForwardKernel<T>, run_forward_kernel<T>>("highway conv", std::move(k), scratch);
}

template <class T>
struct FilterKernel {
  FilterPlan plan;
  bool bias = false;
};

template <class T>
void run_filter_kernel(const FilterKernel<T>& k, void* const* args) {
  T* const dbias = k.bias ? static_cast<T*>(args[3]) : nullptr;
  run_filter(k.plan, static_cast<const T*>(args[0]), static_cast<const T*>(args[1]), static_cast<T*>(args[2]),
             dbias, static_cast<T*>(args[k.bias ? 4 : 3]));
}

template <class T>
Kernel own_forward(const ConvGeometry& g, bool turned, int inputs, const ConvEpilogue& e, int threads) {
  return forward_kernel<T>({plan_forward<T>(g, turned, threads), inputs, e});
}

struct DepthwiseKernel {
  DepthwisePlan plan;
  bool bias = false;
};

template <class T>
void run_depthwise_kernel(const DepthwiseKernel& k, void* const* args) {
  run_depthwise(k.plan, static_cast<const T*>(args[0]), static_cast<const T*>(args[1]),
                static_cast<T*>(args[2]), static_cast<T*>(args[3]));
}

template <class T>
void run_depthwise_filter_kernel(const DepthwiseKernel& k, void* const* args) {
  T* const dbias = k.bias ? static_cast<T*>(args[3]) : nullptr;
  run_depthwise_filter(k.plan, static_cast<const T*>(args[0]), static_cast<const T*>(args[1]),
                       static_cast<T*>(args[2]), dbias, static_cast<T*>(args[k.bias ? 4 : 3]));
}

template <class T>
Kernel own_depthwise(const ConvGeometry& g, bool turned, int threads) {
  DepthwiseKernel k{plan_depthwise<T>(g, turned, false, threads)};
  const int64_t scratch = depthwise_scratch_bytes<T>(k.plan, false);
  return make_kernel<DepthwiseKernel, run_depthwise_kernel<T>>("highway depthwise", std::move(k), scratch);
}

template <class T>
Kernel own_depthwise_filter(const ConvGeometry& g, bool bias, int threads) {
  DepthwiseKernel k{plan_depthwise<T>(g, false, true, threads), bias};
  const int64_t scratch = depthwise_scratch_bytes<T>(k.plan, true);
  return make_kernel<DepthwiseKernel, run_depthwise_filter_kernel<T>>("highway depthwise_grad_filter",
                                                                      std::move(k), scratch);
}

Kernel own_conv(const KernelQuery& q) {
  const ConvGeometry g = conv_geometry("conv", q.in[0].shape, q.in[1].shape, q.attrs);
  const bool wide = q.in[0].dtype == DType::f64;
  if (is_depthwise(g))
    return wide ? own_depthwise<double>(g, false, q.threads) : own_depthwise<float>(g, false, q.threads);
  if (wide) return own_forward<double>(g, false, 2, kNoEpilogue, q.threads);
  return own_forward<float>(g, false, 2, kNoEpilogue, q.threads);
}

Kernel own_conv_bias(const KernelQuery& q) {
  const ConvGeometry g = conv_geometry("conv_bias", q.in[0].shape, q.in[1].shape, q.attrs);
  const ConvEpilogue e = conv_epilogue(q.attrs);
  const int inputs = static_cast<int>(q.in.size());
  if (q.in[0].dtype == DType::f64) return own_forward<double>(g, false, inputs, e, q.threads);
  return own_forward<float>(g, false, inputs, e, q.threads);
}

Kernel own_conv_grad_input(const KernelQuery& q) {
  const ConvGeometry g = conv_geometry("conv_grad_input", q.out[0].shape, q.in[1].shape, q.attrs);
  const ConvGeometry d = data_gradient(g);
  const bool wide = q.in[0].dtype == DType::f64;
  if (is_depthwise(g))
    return wide ? own_depthwise<double>(d, true, q.threads) : own_depthwise<float>(d, true, q.threads);
  return wide ? own_forward<double>(d, true, 2, kNoEpilogue, q.threads)
              : own_forward<float>(d, true, 2, kNoEpilogue, q.threads);
}

template <class T>
Kernel own_filter(const ConvGeometry& g, bool bias, int threads) {
  FilterKernel<T> k{plan_filter<T>(g, threads), bias};
  const int64_t scratch = filter_scratch_bytes<T>(k.plan);
  return make_kernel<FilterKernel<T>, run_filter_kernel<T>>("highway conv_grad_filter", std::move(k),
                                                            scratch);
}

Kernel own_conv_grad_filter(const KernelQuery& q) {
  const ConvGeometry g = conv_geometry("conv_grad_filter", q.in[0].shape, q.out[0].shape, q.attrs);
  const bool wide = q.in[0].dtype == DType::f64, bias = q.out.size() == 2;
  if (is_depthwise(g)) {
    return wide ? own_depthwise_filter<double>(g, bias, q.threads)
                : own_depthwise_filter<float>(g, bias, q.threads);
  }
  return wide ? own_filter<double>(g, bias, q.threads) : own_filter<float>(g, bias, q.threads);
}

// The reference kernels: the geometry is all they need.
enum class Task { conv, grad_input, grad_filter };
struct Plain {
  ConvGeometry g;
  Task task;
  DType dtype;
  bool bias;
};

template <class T>
void run_plain_as(const Plain& p, void* const* args) {
  const T* a = static_cast<const T*>(args[0]);
  const T* b = static_cast<const T*>(args[1]);
  T* out = static_cast<T*>(args[2]);
  switch (p.task) {
    case Task::conv: return reference::conv<T>(p.g, a, b, out);
    case Task::grad_input: return reference::conv_grad_input<T>(p.g, a, b, out);
    case Task::grad_filter:
      return reference::conv_grad_filter<T>(p.g, a, b, out, p.bias ? static_cast<T*>(args[3]) : nullptr);
  }
}

void run_plain(const Plain& p, void* const* args) {
  p.dtype == DType::f64 ? run_plain_as<double>(p, args) : run_plain_as<float>(p, args);
}

Kernel plain_conv(const KernelQuery& q) {
  const ConvGeometry g = conv_geometry("conv", q.in[0].shape, q.in[1].shape, q.attrs);
  return make_kernel<Plain, run_plain>("reference", {g, Task::conv, q.in[0].dtype, false});
}
Kernel plain_conv_grad_input(const KernelQuery& q) {
  const ConvGeometry g = conv_geometry("conv_grad_input", q.out[0].shape, q.in[1].shape, q.attrs);
  return make_kernel<Plain, run_plain>("reference", {g, Task::grad_input, q.in[0].dtype, false});
}
Kernel plain_conv_grad_filter(const KernelQuery& q) {
  const ConvGeometry g = conv_geometry("conv_grad_filter", q.in[0].shape, q.out[0].shape, q.attrs);
  return make_kernel<Plain, run_plain>("reference", {g, Task::grad_filter, q.in[0].dtype, q.out.size() == 2});
}

}  // namespace

namespace highway {
Kernel prepare_conv(const KernelQuery& q) { return prepare_widened(q, own_conv, conv_slices(q)); }
Kernel prepare_conv_bias(const KernelQuery& q) { return prepare_widened(q, own_conv_bias, conv_slices(q)); }
Kernel prepare_conv_grad_input(const KernelQuery& q) {
  return prepare_widened(q, own_conv_grad_input, conv_slices(q));
}
Kernel prepare_conv_grad_filter(const KernelQuery& q) {
  return prepare_widened(q, own_conv_grad_filter, conv_slices(q));
}
bool conv_grad_filter_leads(const KernelQuery& q) {
  const ConvGeometry g = conv_geometry("conv_grad_filter", q.in[0].shape, q.out[0].shape, q.attrs);
  return !is_half(q.in[0].dtype) && g.window_points() > 1 && g.group_filters() >= 8;
}
}  // namespace highway

namespace reference {
Kernel prepare_conv(const KernelQuery& q) { return prepare_widened(q, plain_conv, conv_slices(q)); }
Kernel prepare_conv_grad_input(const KernelQuery& q) {
  return prepare_widened(q, plain_conv_grad_input, conv_slices(q));
}
Kernel prepare_conv_grad_filter(const KernelQuery& q) {
  return prepare_widened(q, plain_conv_grad_filter, conv_slices(q));
}
}  // namespace reference

}  // namespace plimsoll
