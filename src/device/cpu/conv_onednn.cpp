// Convolutions on oneDNN. Activations stay dense and channels-last; only the weights are brought into the
// layout the primitive likes: in scratch in every run or, where a program only reads them, in a copy that is
// kept. A convolution of a dilated input (a transposed one) is the data gradient of a plain convolution with
// the window turned round, and the other way about.
#include "device/aligned.h"
#include "device/cpu/activation.h"
#include "device/cpu/conv_kernels.h"
#include "device/cpu/onednn.h"
#include "device/cpu/widened.h"
#include "device/steady.h"
#include "plimsoll/error.h"

#if PLIMSOLL_HAVE_ONEDNN

#include <algorithm>
#include <cstring>
#include <optional>

namespace plimsoll::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::primitive_attr;
using Binding = OnednnCall::Binding;

constexpr size_t kMostArgs = 8;

// The convolution to run in place of the one asked for.
struct Task {
  ConvGeometry g;
  memory::data_type type = memory::data_type::f32;
  bool transposed = false;  // g is the plain convolution whose data gradient the one asked for is
};

// Inner arguments: those of the op, then these three, all in the kernel's scratch.
enum Extra { kTurned = 0, kPacked = 1, kScratchpad = 2 };

// One call of a primitive with the weights' way in or out. Immutable but for the pointers inside OnednnCall.
struct ConvCall {
  std::optional<OnednnCall> before;  // weights -> packed
  std::optional<OnednnCall> main;
  std::optional<OnednnCall> after;  // packed -> gradient of the weights
  int args = 0;                     // of the op
  int weights = 0;                  // which of them; turned round at the way in or out
  bool turn_in = false, turn_out = false;
  int scale = -1;     // the one that multiplies the weights, filter by filter, at the way in; -1: none
  int residual = -1;  // the one whose bytes the result starts from; -1: none
  ActivationFn activation = nullptr;  // of the result, where the primitive does not do it
  std::shared_ptr<SteadyCopy> kept;   // of the packed weights; null: they are packed in every run
  int64_t points = 0, block = 0;      // of the window; bytes of weights at one point
  int64_t filters = 0;
  int64_t result = 0, element = 0;  // bytes of the result and of one element
  int threads = 1;
  std::array<int64_t, 3> offsets{};  // of the extras in scratch

  int64_t held() const {
    int64_t bytes = 0;
    for (const auto* call : {&before, &main, &after}) bytes += *call ? (*call)->held() : 0;
    return bytes;
  }
};

void turn_round(const ConvCall& c, const void* from, void* to) {
  for (int64_t p = 0; p < c.points; ++p) {
    std::memcpy(static_cast<std::byte*>(to) + (c.points - 1 - p) * c.block,
                static_cast<const std::byte*>(from) + p * c.block, static_cast<size_t>(c.block));
  }
}

void scale_weights(const ConvCall& c, const void* from, const void* scale, void* to) {
  const auto* const w = static_cast<const float*>(from);
  const auto* const s = static_cast<const float*>(scale);
  const int64_t rows = c.points * c.block / static_cast<int64_t>(sizeof(float)) / c.filters;
  parallel_for(c.threads, c.threads, [&](int64_t chunk, int) noexcept {
    for (int64_t row = rows * chunk / c.threads; row < rows * (chunk + 1) / c.threads; ++row) {
      float* const out = static_cast<float*>(to) + row * c.filters;
      for (int64_t k = 0; k < c.filters; ++k) out[k] = w[row * c.filters + k] * s[k];
    }
  });
}

void copy_residual(const ConvCall& c, const void* from, void* to) {
  parallel_for(c.threads, c.threads, [&](int64_t chunk, int) noexcept {
    const int64_t begin = c.result * chunk / c.threads, end = c.result * (chunk + 1) / c.threads;
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
                static_cast<size_t>(end - begin));
  });
}

void activate(const ConvCall& c, void* y) {
  const int64_t n = c.result / c.element;
  parallel_for(c.threads, c.threads, [&](int64_t chunk, int) noexcept {
    const int64_t begin = n * chunk / c.threads, end = n * (chunk + 1) / c.threads;
    std::byte* const part = static_cast<std::byte*>(y) + begin * c.element;
    const void* const in[] = {part};
    c.activation(in, part, static_cast<size_t>(end - begin), nullptr);
  });
}

// Of float16 and bfloat16 alike: what has the sign bit becomes zero.
// A NaN stays one, also with the sign that x86 gives it.
template <uint16_t kInfinity>
void relu_halves(const void* const* in, void* out, size_t n, const double*) {
  const auto* const from = static_cast<const uint16_t*>(in[0]);
  auto* const to = static_cast<uint16_t*>(out);
  for (size_t i = 0; i < n; ++i) {
    const bool below = (from[i] & 0x8000u) != 0 && (from[i] & 0x7FFFu) <= kInfinity;
    to[i] = below ? uint16_t{0} : from[i];
  }
}

void run(const ConvCall& c, void* const* args) {
  std::array<void*, kMostArgs + 3> inner{};
  std::copy_n(args, c.args, inner.begin());
  auto* const scratch = static_cast<std::byte*>(args[c.args]);
  for (size_t i = 0; i < 3; ++i) inner[static_cast<size_t>(c.args) + i] = scratch + c.offsets[i];
  void* const turned = inner[static_cast<size_t>(c.args + kTurned)];
  if (c.kept) inner[static_cast<size_t>(c.args + kPacked)] = c.kept->data();
  const void* const scale = c.scale < 0 ? nullptr : args[c.scale];
  if (!c.kept || c.kept->stale(scale)) {
    if (c.turn_in) turn_round(c, args[c.weights], turned);
    if (scale) scale_weights(c, args[c.weights], scale, turned);
    if (c.before) c.before->run(inner.data(), c.args + kScratchpad);
    if (c.kept) c.kept->update(scale);
  }
  // The result comes last. A plan mostly gives it the residual's own bytes.
  void* const y = args[c.args - 1];
  if (c.residual >= 0 && args[c.residual] != y) copy_residual(c, args[c.residual], y);
  c.main->run(inner.data(), c.args + kScratchpad);
  if (c.activation) activate(c, y);
  if (c.after) c.after->run(inner.data(), c.args + kScratchpad);
  if (c.turn_out) turn_round(c, turned, args[c.weights]);
}

bool any_above(const ConvAxes& axes, int64_t value) {
  return std::ranges::any_of(axes, [&](int64_t a) { return a > value; });
}

// The plain convolution behind `g`. Throws Error{unsupported} if there is none.
Task task_of(const ConvGeometry& g, const KernelQuery& q) {
  const memory::data_type type = data_type(q.in[0].dtype);
  if (!any_above(g.in_dilation, 1)) return {g, type, false};
  Task t{g, type, true};
  std::swap(t.g.channels, t.g.filters);
  std::swap(t.g.in, t.g.out);
  t.g.stride = g.in_dilation;
  t.g.in_dilation.fill(1);
  for (size_t a = 0; a < kConvAxes; ++a) {
    const int64_t reach = (g.window[a] - 1) * g.dilation[a] + 1;
    t.g.pad_low[a] = reach - 1 - g.pad_low[a];
    t.g.pad_high[a] = (g.in[a] - 1) * g.in_dilation[a] + reach - g.out[a] - t.g.pad_low[a];
    if (g.stride[a] != 1 || t.g.pad_low[a] < 0 || t.g.pad_high[a] < 0) {
      fail(ErrorKind::unsupported, "conv", "no oneDNN primitive for this transposed convolution");
    }
  }
  return t;
}

memory::dims spatial(const ConvGeometry& g, const ConvAxes& axes, int64_t less = 0) {
  memory::dims d;
  for (int a = kConvAxes - g.rank; a < kConvAxes; ++a) d.push_back(axes[static_cast<size_t>(a)] - less);
  return d;
}

memory::desc image(const Task& t, int64_t channels, const ConvAxes& sizes) {
  const ConvGeometry& g = t.g;
  memory::dims dims = spatial(g, sizes);
  dims.insert(dims.begin(), {g.batch, channels});
  using Tag = memory::format_tag;
  const Tag tag = g.rank == 1 ? Tag::nwc : g.rank == 2 ? Tag::nhwc : Tag::ndhwc;
  return memory::desc(dims, t.type, tag);
}

// Keras's kernel (window..., C / groups, K) with oneDNN's axes ([groups,] out, in, window...). For a
// transposed task the K of the kernel are the channels of t.g.
memory::desc kernel_desc(const Task& t) {
  const int64_t gc = t.g.group_channels(), gf = t.g.group_filters();
  const int64_t last = t.transposed ? t.g.channels : t.g.filters;  // length of the kernel's last axis
  memory::dims dims{gf, gc}, strides{1, last};
  if (t.transposed) std::swap(strides[0], strides[1]);
  if (t.g.groups > 1) {
    dims.insert(dims.begin(), t.g.groups);
    strides.insert(strides.begin(), t.transposed ? gc : gf);
  }
  const int64_t block = last * (t.transposed ? gf : gc);
  const memory::dims window = spatial(t.g, t.g.window);
  int64_t step = block;
  memory::dims steps(window.size());
  for (size_t a = window.size(); a-- > 0;) {
    steps[a] = step;
    step *= window[a];
  }
  dims.insert(dims.end(), window.begin(), window.end());
  strides.insert(strides.end(), steps.begin(), steps.end());
  return memory::desc(dims, t.type, strides);
}

bool is_brg(const dnnl::primitive_desc_base& desc) {
  return std::string_view(desc.impl_info_str()).starts_with("brg");
}

// Skips implementations that are slow (ref) or allocate while they run (gemm), and "brg" ones if told so;
// false if there is no other.
template <class Desc>
bool skip_to_good(Desc& desc, bool brg_too = true) {
  for (;;) {
    const std::string_view name = desc.impl_info_str();
    const bool good = name.find("gemm") == name.npos && name.find("ref") == name.npos;
    if (good && (brg_too || !is_brg(desc))) return true;
    if (!desc.next_impl()) return false;
  }
}

template <class Desc>
Desc good(Desc desc) {
  if (!skip_to_good(desc)) fail(ErrorKind::unsupported, "conv", "no fast oneDNN implementation");
  return desc;
}

dnnl::convolution_forward::primitive_desc forward_desc(const Task& t, bool bias, const primitive_attr& attr) {
  const ConvGeometry& g = t.g;
  const memory::desc x = image(t, g.channels, g.in), y = image(t, g.filters, g.out);
  const memory::desc w = any_layout(kernel_desc(t));
  const memory::dims strides = spatial(g, g.stride), dilates = spatial(g, g.dilation, 1);
  const memory::dims low = spatial(g, g.pad_low), high = spatial(g, g.pad_high);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto direct = algorithm::convolution_direct;
  if (!bias) return {engine(), kind, direct, x, w, y, strides, dilates, low, high, attr};
  const memory::desc b({g.filters}, t.type, memory::format_tag::a);
  return {engine(), kind, direct, x, w, b, y, strides, dilates, low, high, attr};
}

// `hint` must live as long as next_impl() may be called.
using Hint = dnnl::convolution_forward::primitive_desc;
dnnl::convolution_backward_data::primitive_desc data_desc(const Task& t, const Hint& hint) {
  const ConvGeometry& g = t.g;
  return {engine(),
          algorithm::convolution_direct,
          image(t, g.channels, g.in),
          any_layout(kernel_desc(t)),
          image(t, g.filters, g.out),
          spatial(g, g.stride),
          spatial(g, g.dilation, 1),
          spatial(g, g.pad_low),
          spatial(g, g.pad_high),
          hint,
          user_scratchpad()};
}

dnnl::convolution_backward_weights::primitive_desc weights_desc(const Task& t, bool bias, const Hint& hint) {
  const ConvGeometry& g = t.g;
  const memory::desc x = image(t, g.channels, g.in), y = image(t, g.filters, g.out);
  const memory::desc w = any_layout(kernel_desc(t));
  const memory::dims strides = spatial(g, g.stride), dilates = spatial(g, g.dilation, 1);
  const memory::dims low = spatial(g, g.pad_low), high = spatial(g, g.pad_high);
  const auto direct = algorithm::convolution_direct;
  if (!bias) return {engine(), direct, x, w, y, strides, dilates, low, high, hint, user_scratchpad()};
  const memory::desc b({g.filters}, t.type, memory::format_tag::a);
  return {engine(), direct, x, w, b, y, strides, dilates, low, high, hint, user_scratchpad()};
}

OnednnCall reorder(const memory::desc& from, int from_arg, const memory::desc& to, int to_arg, int threads) {
  const dnnl::reorder::primitive_desc desc(engine(), from, engine(), to, user_scratchpad());
  return OnednnCall(dnnl::reorder(desc), {{DNNL_ARG_FROM, from_arg}, {DNNL_ARG_TO, to_arg}}, threads);
}

// Lays out the scratch and makes the kernel. c.main is set; `plain` and `packed` are the weights' layouts.
Kernel finish(const KernelQuery& q, ConvCall c, const Task& t, std::string name, bool weights_out,
              const memory::desc& plain, const memory::desc& packed, int threads) {
  c.points = t.g.window_points();
  c.block = t.g.kernel_elements() / c.points * static_cast<int64_t>(memory::data_type_size(t.type));
  c.filters = t.g.filters;
  c.threads = threads;
  const bool turn = t.transposed && c.points > 1, changed = turn || c.scale >= 0;
  (weights_out ? c.turn_out : c.turn_in) = turn;
  const int plain_arg = changed ? c.args + kTurned : c.weights;
  if (plain != packed) {
    if (weights_out) {
      c.after = reorder(packed, c.args + kPacked, plain, plain_arg, threads);
    } else {
      c.before = reorder(plain, plain_arg, packed, c.args + kPacked, threads);
    }
  }
  const int64_t turned_bytes = changed ? aligned(c.points * c.block) : 0;
  int64_t packed_bytes = plain != packed ? aligned(static_cast<int64_t>(packed.get_size())) : 0;
  const int64_t scale_bytes = c.scale < 0 ? 0 : c.filters * static_cast<int64_t>(sizeof(float));
  if (c.before) c.kept = SteadyCopy::make(q, c.weights, packed_bytes, scale_bytes);
  if (c.kept) packed_bytes = 0;
  int64_t pad_bytes = c.main->scratch_bytes();
  for (const auto* call : {&c.before, &c.after}) {
    if (*call) pad_bytes = std::max(pad_bytes, (*call)->scratch_bytes());
  }
  c.offsets = {0, turned_bytes, turned_bytes + packed_bytes};
  return make_kernel<ConvCall, run>(std::move(name), std::move(c), turned_bytes + packed_bytes + pad_bytes);
}

// Where the primitive finds its weights: packed, turned round or scaled, or as they come.
int weights_arg(const ConvCall& c, const Task& t, const memory::desc& plain, const memory::desc& packed) {
  if (plain != packed) return c.args + kPacked;
  return c.scale >= 0 || (t.transposed && t.g.window_points() > 1) ? c.args + kTurned : c.weights;
}

// The scale goes into the weights and the residual into the sums' first value: oneDNN's binary post-ops of
// both take up to a quarter of the time of a convolution of one point.
primitive_attr epilogue_attr(const ConvEpilogue& e, Activation activation) {
  primitive_attr attr = user_scratchpad();
  dnnl::post_ops ops;
  if (e.residual >= 0) ops.append_sum(1.0f);
  append_activation(ops, activation);
  attr.set_post_ops(ops);
  return attr;
}

struct ForwardChoice {
  dnnl::convolution_forward::primitive_desc desc;
  Activation after;  // not done by the primitive
};

// oneDNN 3.2 keeps the code of "brg" convolutions for ever. Two that are equal share it, but none with an
// activation is equal to another: 20 to 40 KB are lost with every one that is made. Over one point the others
// are as fast; else the activation becomes a pass of its own. Only ReLU can do without the digits that a half
// has lost by then.
ForwardChoice choose_forward(const Task& t, const ConvEpilogue& e) {
  auto fused = good(forward_desc(t, true, epilogue_attr(e, e.activation)));
  if (e.activation == Activation::linear || !is_brg(fused)) return {fused, Activation::linear};
  if (t.g.window_points() == 1 && skip_to_good(fused, false)) return {fused, Activation::linear};
  if (t.type != memory::data_type::f32 && e.activation != Activation::relu)
    fail(ErrorKind::unsupported, "conv_bias", "no activation of halves apart from the convolution");
  return {good(forward_desc(t, true, epilogue_attr(e, Activation::linear))), e.activation};
}

// x, kernel [, bias, more...] -> y, with what the epilogue, if there is one, names.
Kernel forward(const KernelQuery& q, const Task& t, const ConvEpilogue* e) {
  const int threads = available_threads(q.threads);
  const ScopedThreads cap(threads);
  const auto [desc, after] =
      e ? choose_forward(t, *e)
        : ForwardChoice{good(forward_desc(t, false, user_scratchpad())), Activation::linear};
  const memory::desc plain = kernel_desc(t), packed = desc.weights_desc();
  const int y_arg = static_cast<int>(q.in.size());
  ConvCall c;
  c.args = y_arg + 1;
  c.weights = 1;
  c.result = static_cast<int64_t>(desc.dst_desc().get_size());
  std::vector<Binding> bindings;
  if (e) {
    c.scale = e->scale;
    c.residual = e->residual;
    c.element = static_cast<int64_t>(memory::data_type_size(t.type));
    c.activation = activation_kernel(after, DType::f32);
    if (c.activation != nullptr && t.type == memory::data_type::bf16) c.activation = relu_halves<0x7F80>;
    if (c.activation != nullptr && t.type == memory::data_type::f16) c.activation = relu_halves<0x7C00>;
    bindings.push_back({DNNL_ARG_BIAS, e->bias});
  }
  bindings.push_back({DNNL_ARG_SRC, 0});
  bindings.push_back({DNNL_ARG_WEIGHTS, weights_arg(c, t, plain, packed)});
  bindings.push_back({DNNL_ARG_DST, y_arg});
  c.main.emplace(dnnl::convolution_forward(desc), bindings, threads);
  return finish(q, std::move(c), t, kernel_name(desc), false, plain, packed, threads);
}

// dy, kernel -> dx
Kernel backward_data(const KernelQuery& q, const Task& t) {
  const int threads = available_threads(q.threads);
  const ScopedThreads cap(threads);
  const Hint hint = forward_desc(t, false, user_scratchpad());
  const auto desc = good(data_desc(t, hint));
  const memory::desc plain = kernel_desc(t), packed = desc.weights_desc();
  ConvCall c;
  c.args = 3;
  c.weights = 1;
  const std::array<Binding, 3> bindings{
      {{DNNL_ARG_DIFF_DST, 0}, {DNNL_ARG_WEIGHTS, weights_arg(c, t, plain, packed)}, {DNNL_ARG_DIFF_SRC, 2}}};
  c.main.emplace(dnnl::convolution_backward_data(desc), bindings, threads);
  return finish(q, std::move(c), t, kernel_name(desc), false, plain, packed, threads);
}

// x, dy -> dkernel [, dbias]
Kernel backward_weights(const KernelQuery& q, const Task& t, bool bias) {
  if (bias && t.transposed)
    fail(ErrorKind::unsupported, "conv_grad_filter", "no bias of a transposed convolution");
  const int threads = available_threads(q.threads);
  const ScopedThreads cap(threads);
  const Hint hint = forward_desc(t, bias, user_scratchpad());
  const auto desc = good(weights_desc(t, bias, hint));
  const memory::desc plain = kernel_desc(t), packed = desc.diff_weights_desc();
  ConvCall c;
  c.args = bias ? 4 : 3;
  c.weights = 2;
  std::vector<Binding> bindings{{DNNL_ARG_SRC, t.transposed ? 1 : 0},
                                {DNNL_ARG_DIFF_DST, t.transposed ? 0 : 1},
                                {DNNL_ARG_DIFF_WEIGHTS, weights_arg(c, t, plain, packed)}};
  if (bias) bindings.push_back({DNNL_ARG_DIFF_BIAS, 3});
  c.main.emplace(dnnl::convolution_backward_weights(desc), bindings, threads);
  return finish(q, std::move(c), t, kernel_name(desc), true, plain, packed, threads);
}

Kernel conv(const KernelQuery& q) {
  const Task t = task_of(conv_geometry("conv", q.in[0].shape, q.in[1].shape, q.attrs), q);
  if (t.transposed) return backward_data(q, t);
  return forward(q, t, nullptr);
}

Kernel conv_bias(const KernelQuery& q) {
  const Task t = task_of(conv_geometry("conv_bias", q.in[0].shape, q.in[1].shape, q.attrs), q);
  if (t.transposed) fail(ErrorKind::unsupported, "conv_bias", "no primitive with an input dilation");
  const ConvEpilogue e = conv_epilogue(q.attrs);
  if (e.scale >= 0 && t.type != memory::data_type::f32) {
    fail(ErrorKind::unsupported, "conv_bias", "weights times a scale would be rounded twice");
  }
  return forward(q, t, &e);
}

Kernel conv_grad_input(const KernelQuery& q) {
  const Task t = task_of(conv_geometry("conv_grad_input", q.out[0].shape, q.in[1].shape, q.attrs), q);
  if (t.transposed) return forward(q, t, nullptr);
  return backward_data(q, t);
}

Kernel conv_grad_filter(const KernelQuery& q) {
  const Task t = task_of(conv_geometry("conv_grad_filter", q.in[0].shape, q.out[0].shape, q.attrs), q);
  return backward_weights(q, t, q.out.size() == 2);
}

template <Kernel (*F)(const KernelQuery&)>
Kernel translated(const KernelQuery& q) {
  return checked("conv", [&] { return F(q); });
}

}  // namespace

bool conv_fits(const KernelQuery& q) {
  const auto fits = [](const TensorType& t) {
    return (t.dtype == DType::f32 || is_half(t.dtype)) && t.shape.elements() > 0;
  };
  return std::ranges::all_of(q.in, fits) && std::ranges::all_of(q.out, fits);
}

namespace {

// Halves as they are, or where there is no such primitive, images of float32 with what is fastest for those.
template <Prepare kOwn, bool (*kLeads)(const KernelQuery&), Prepare kOther>
Kernel halves_too(const KernelQuery& q) {
  if (!needs_widening(q)) return kOwn(q);
  const Prepare fastest = [](const KernelQuery& slice) {
    return !needs_widening(slice) && kLeads(slice) ? kOther(slice) : kOwn(slice);
  };
  return native_or_widened(q, fastest, conv_slices(q));
}

}  // namespace

Kernel prepare_conv(const KernelQuery& q) {
  return halves_too<translated<conv>, winograd::conv_leads, winograd::prepare_conv>(q);
}
Kernel prepare_conv_bias(const KernelQuery& q) {
  return halves_too<translated<conv_bias>, winograd::conv_leads, winograd::prepare_conv_bias>(q);
}
Kernel prepare_conv_grad_input(const KernelQuery& q) {
  return halves_too<translated<conv_grad_input>, winograd::conv_grad_input_leads,
                    winograd::prepare_conv_grad_input>(q);
}
Kernel prepare_conv_grad_filter(const KernelQuery& q) {
  return halves_too<translated<conv_grad_filter>, winograd::conv_grad_filter_leads,
                    winograd::prepare_conv_grad_filter>(q);
}

}  // namespace plimsoll::onednn

#else

namespace plimsoll::onednn {
namespace {
Kernel absent() { fail(ErrorKind::unsupported, "conv", "this build has no oneDNN"); }
}  // namespace

bool conv_fits(const KernelQuery&) { return false; }
Kernel prepare_conv(const KernelQuery&) { return absent(); }
Kernel prepare_conv_bias(const KernelQuery&) { return absent(); }
Kernel prepare_conv_grad_input(const KernelQuery&) { return absent(); }
Kernel prepare_conv_grad_filter(const KernelQuery&) { return absent(); }

}  // namespace plimsoll::onednn

#endif
