// The convolutions of the benchmark rows, one by one: GFLOP/s of the kernel the engine picks, of its other
// kernels, and of oneDNN's best primitive with layouts of its own choice (no reordering counted). Usage:
//   conv_shapes [threads] [part of a name]
// With one thread the thread's own clock is read, so that a busy machine does not matter.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bench/timing.h"
#include "device/cpu/conv_geometry.h"
#include "device/cpu/onednn.h"
#include "device/cpu/thread_pool.h"
#include "device/kernel.h"
#include "graph/op.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using bench::best_seconds, bench::Floats, bench::floats;

struct Row {
  const char* name;
  int64_t batch, size, channels, filters, window, stride, pad;
};
constexpr Row kRows[] = {
    {"mnist_b128 1", 128, 28, 1, 32, 3, 1, 0},
    {"mnist_b128 2", 128, 13, 32, 64, 3, 1, 0},
    {"cnn64bn_b32 1", 32, 64, 3, 32, 3, 1, 0},
    {"cnn64bn_b32 2", 32, 31, 32, 64, 3, 1, 0},
    {"cnn64bn_b32 3", 32, 14, 64, 128, 3, 1, 0},
    {"cnn100_b512 1 (b64)", 64, 100, 3, 32, 3, 1, 0},
    {"cnn100_b512 2 (b64)", 64, 49, 32, 64, 3, 1, 0},
    {"resnet50_b8 stem", 8, 224, 3, 64, 7, 2, 3},
    {"resnet50_b8 56 64-64", 8, 56, 64, 64, 1, 1, 0},
    {"resnet50_b8 56 3x3", 8, 56, 64, 64, 3, 1, 1},
    {"resnet50_b8 56 64-256", 8, 56, 64, 256, 1, 1, 0},
    {"resnet50_b8 56 256-64", 8, 56, 256, 64, 1, 1, 0},
    {"resnet50_b8 56 s2 128", 8, 56, 256, 128, 1, 2, 0},
    {"resnet50_b8 56 s2 512", 8, 56, 256, 512, 1, 2, 0},
    {"resnet50_b8 56 3x3 s2", 8, 56, 128, 128, 3, 2, 1},
    {"resnet50_b8 28 3x3 s2", 8, 28, 256, 256, 3, 2, 1},
    {"resnet50_b8 14 3x3 s2", 8, 14, 512, 512, 3, 2, 1},
    {"resnet50_b8 28 3x3", 8, 28, 128, 128, 3, 1, 1},
    {"resnet50_b8 28 128-512", 8, 28, 128, 512, 1, 1, 0},
    {"resnet50_b8 28 512-128", 8, 28, 512, 128, 1, 1, 0},
    {"resnet50_b8 28 s2 256", 8, 28, 512, 256, 1, 2, 0},
    {"resnet50_b8 28 s2 1024", 8, 28, 512, 1024, 1, 2, 0},
    {"resnet50_b8 14 3x3", 8, 14, 256, 256, 3, 1, 1},
    {"resnet50_b8 14 256-1024", 8, 14, 256, 1024, 1, 1, 0},
    {"resnet50_b8 14 1024-256", 8, 14, 1024, 256, 1, 1, 0},
    {"resnet50_b8 14 s2 512", 8, 14, 1024, 512, 1, 2, 0},
    {"resnet50_b8 14 s2 2048", 8, 14, 1024, 2048, 1, 2, 0},
    {"resnet50_b8 7 3x3", 8, 7, 512, 512, 3, 1, 1},
    {"resnet50_b8 7 512-2048", 8, 7, 512, 2048, 1, 1, 0},
    {"resnet50_b8 7 2048-512", 8, 7, 2048, 512, 1, 1, 0},
};

double time_kernel(const Kernel& k, const std::vector<TensorType>& types, int threads) {
  std::vector<Floats> held;
  std::vector<void*> args;
  for (const TensorType& t : types) held.push_back(floats(byte_size(t.dtype, t.shape) / 4));
  held.push_back(floats((k.scratch + 3) / 4));
  for (const Floats& f : held) args.push_back(f.get());
  return best_seconds(threads, [&] { k.run(k.state.get(), args.data()); });
}

enum class Pass { forward, grad_input, grad_filter };

#if PLIMSOLL_HAVE_ONEDNN
double best_onednn(const Row& r, Pass pass, const ConvGeometry& g, int threads) {
  using dnnl::memory;
  const ScopedThreads cap(threads);
  const auto any = [](memory::dims dims) {
    return memory::desc(std::move(dims), memory::data_type::f32, memory::format_tag::any);
  };
  const memory::desc x = any({r.batch, r.channels, r.size, r.size}),
                     w = any({r.filters, r.channels, r.window, r.window});
  const memory::desc y = any({r.batch, r.filters, g.out[1], g.out[2]});
  const memory::dims strides{r.stride, r.stride}, pad{r.pad, r.pad};
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc f(onednn::engine(), dnnl::prop_kind::forward_training,
                                                    direct, x, w, y, strides, pad, pad);
  const auto time = [&](const dnnl::primitive& p, std::vector<std::pair<int, memory::desc>> descs) {
    std::unordered_map<int, memory> args;
    for (const auto& [arg, desc] : descs) {
      args[arg] = memory(desc, onednn::engine());
      std::fill_n(static_cast<float*>(args[arg].get_data_handle()), desc.get_size() / 4, 0.5f);
    }
    return best_seconds(threads, [&] { p.execute(onednn::stream(), args); });
  };
  if (pass == Pass::forward) {
    return time(
        dnnl::convolution_forward(f),
        {{DNNL_ARG_SRC, f.src_desc()}, {DNNL_ARG_WEIGHTS, f.weights_desc()}, {DNNL_ARG_DST, f.dst_desc()}});
  }
  if (pass == Pass::grad_input) {
    const dnnl::convolution_backward_data::primitive_desc d(onednn::engine(), direct, x, w, y, strides, pad,
                                                            pad, f);
    return time(dnnl::convolution_backward_data(d), {{DNNL_ARG_DIFF_SRC, d.diff_src_desc()},
                                                     {DNNL_ARG_WEIGHTS, d.weights_desc()},
                                                     {DNNL_ARG_DIFF_DST, d.diff_dst_desc()}});
  }
  const dnnl::convolution_backward_weights::primitive_desc d(onednn::engine(), direct, x, w, y, strides, pad,
                                                             pad, f);
  return time(dnnl::convolution_backward_weights(d), {{DNNL_ARG_SRC, d.src_desc()},
                                                      {DNNL_ARG_DIFF_WEIGHTS, d.diff_weights_desc()},
                                                      {DNNL_ARG_DIFF_DST, d.diff_dst_desc()}});
}
#endif

void print_row(const Row& r, Pass pass, int threads) {
  const TensorType x{DType::f32, {r.batch, r.size, r.size, r.channels}};
  const TensorType kernel{DType::f32, {r.window, r.window, r.channels, r.filters}};
  Attrs attrs{{"strides", Ints{r.stride, r.stride}}, {"pad_low", Ints{r.pad, r.pad}},
              {"pad_high", Ints{r.pad, r.pad}},      {"lhs_dilation", Ints{1, 1}},
              {"rhs_dilation", Ints{1, 1}},          {"groups", int64_t{1}}};
  const ConvGeometry g = conv_geometry("conv", x.shape, kernel.shape, attrs);
  const TensorType y{DType::f32, conv_output_shape(g)};
  const OpDef& op = get_op(pass == Pass::forward      ? "conv"
                           : pass == Pass::grad_input ? "conv_grad_input"
                                                      : "conv_grad_filter");
  std::vector<TensorType> types{x, kernel, y};
  if (pass == Pass::grad_input) types = {y, kernel, x};
  if (pass == Pass::grad_filter) types = {x, y, kernel};
  const KernelQuery q{std::span(types).first(2), std::span(types).last(1), attrs, threads};
  std::printf("%-24s %-11s", r.name,
              pass == Pass::forward      ? "forward"
              : pass == Pass::grad_input ? "grad_input"
                                         : "grad_filter");
  const double work = 1e-9 * g.flops();
  bool first = true;
  std::vector<std::string_view> done;
  for (const KernelDef& k : op.kernels) {
    if (k.name == "reference" || std::ranges::find(done, k.name) != done.end()) continue;
    if (k.fits && !k.fits(q)) continue;
    try {
      const Kernel ready = k.prepare(q);
      const double seconds = time_kernel(ready, types, threads);
      std::printf(" | %s%-32s %7.1f %8.3f ms", first ? "* " : "", ready.name.c_str(), work / seconds,
                  1e3 * seconds);
      first = false;
      done.push_back(k.name);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::unsupported) throw;
    }
  }
#if PLIMSOLL_HAVE_ONEDNN
  std::printf(" | oneDNN, any layout %7.1f", work / best_onednn(r, pass, g, threads));
#endif
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  using namespace plimsoll;
  const int threads = argc > 1 ? available_threads(std::max(1, std::atoi(argv[1]))) : hardware_threads();
  const std::string_view part = argc > 2 ? argv[2] : "";
  std::printf("GFLOP/s on %d thread(s); * is what the engine takes\n", threads);
  for (const Row& r : kRows) {
    if (std::string_view(r.name).find(part) == std::string_view::npos) continue;
    print_row(r, Pass::forward, threads);
    if (r.channels > 3) print_row(r, Pass::grad_input, threads);
    print_row(r, Pass::grad_filter, threads);
  }
  return 0;
}
