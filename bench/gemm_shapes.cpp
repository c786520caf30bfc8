// The matrix products of the benchmark rows, one by one: GFLOP/s of our Gemm and of oneDNN's matmul, each
// beside what the processor's multiply-adds alone give at that moment. Usage:
//   gemm_shapes [threads] [part of a name]
// With one thread the thread's own clock is read, so that a busy machine does not matter.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <unordered_map>

#include "bench/timing.h"
#include "device/cpu/gemm.h"
#include "device/cpu/onednn.h"
#include "device/cpu/thread_pool.h"

namespace plimsoll {
namespace {

using bench::best_seconds, bench::Floats, bench::floats;

// C[m, n] = A[m, k] . B[k, n]; a transposed operand lies with its axes the other way round.
struct Row {
  const char* name;
  int64_t m, n, k;
  bool a_transposed, b_transposed;
};
constexpr Row kRows[] = {
    {"matmul 1024", 1024, 1024, 1024, false, false},
    {"transformer qkv", 2048, 256, 256, false, false},
    {"transformer qkv dx", 2048, 256, 256, false, true},
    {"transformer qkv dw", 256, 256, 2048, true, false},
    {"transformer up", 2048, 1024, 256, false, false},
    {"transformer up dx", 2048, 256, 1024, false, true},
    {"transformer up dw", 256, 1024, 2048, true, false},
    {"transformer down", 2048, 256, 1024, false, false},
    {"transformer down dx", 2048, 1024, 256, false, true},
    {"transformer down dw", 1024, 256, 2048, true, false},
    {"lstm dw", 128, 512, 2560, true, false},
    {"resnet 56 64-64", 25088, 64, 64, false, false},
    {"resnet 56 64-256", 25088, 256, 64, false, false},
    {"resnet 56 256-64", 25088, 64, 256, false, false},
    {"resnet 28 128-512", 6272, 512, 128, false, false},
    {"resnet 28 512-128", 6272, 128, 512, false, false},
    {"resnet 14 256-1024", 1568, 1024, 256, false, false},
    {"resnet 14 1024-256", 1568, 256, 1024, false, false},
    {"resnet 7 512-2048", 392, 2048, 512, false, false},
    {"resnet 7 2048-512", 392, 512, 2048, false, false},
    {"resnet 56 64-256 dx", 25088, 64, 256, false, true},
    {"resnet 28 128-512 dx", 6272, 128, 512, false, true},
    {"resnet 14 256-1024 dx", 1568, 256, 1024, false, true},
    {"resnet 7 512-2048 dx", 392, 512, 2048, false, true},
    {"resnet 56 64-64 dw", 64, 64, 25088, true, false},
    {"resnet 56 64-256 dw", 64, 256, 25088, true, false},
    {"resnet 56 256-64 dw", 256, 64, 25088, true, false},
    {"resnet 28 128-512 dw", 128, 512, 6272, true, false},
    {"resnet 28 512-128 dw", 512, 128, 6272, true, false},
    {"resnet 14 256-1024 dw", 256, 1024, 1568, true, false},
    {"resnet 14 1024-256 dw", 1024, 256, 1568, true, false},
    {"resnet 7 512-2048 dw", 512, 2048, 392, true, false},
    {"resnet 7 2048-512 dw", 2048, 512, 392, true, false},
};

double own_seconds(const Row& r, int threads) {
  const Gemm gemm({.m = r.m,
                   .n = r.n,
                   .k = r.k,
                   .a_row = r.a_transposed ? 1 : r.k,
                   .a_col = r.a_transposed ? r.m : 1,
                   .b_row = r.b_transposed ? 1 : r.n,
                   .b_col = r.b_transposed ? r.k : 1,
                   .c_row = r.n,
                   .threads = threads});
  const Floats a = floats(r.m * r.k), b = floats(r.k * r.n), c = floats(r.m * r.n);
  const Floats scratch = floats((gemm.scratch_bytes() + 3) / 4);
  return best_seconds(threads, [&] { gemm.run(a.get(), b.get(), nullptr, c.get(), scratch.get()); });
}

// A product whose operands stay in the first cache: what the multiply-adds allow.
double peak_gflops(int threads) {
  return 2e-9 * threads * 96 * 64 * 64 / own_seconds({"", 96, 64, 64, false, false}, 1);
}

#if PLIMSOLL_HAVE_ONEDNN
double onednn_seconds(const Row& r, int threads) {
  using dnnl::memory;
  const ScopedThreads cap(threads);
  const auto desc = [](memory::dims dims, bool transposed) {
    return memory::desc(std::move(dims), memory::data_type::f32,
                        transposed ? memory::format_tag::ba : memory::format_tag::ab);
  };
  const dnnl::matmul::primitive_desc d(onednn::engine(), desc({r.m, r.k}, r.a_transposed),
                                       desc({r.k, r.n}, r.b_transposed), desc({r.m, r.n}, false));
  const Floats a = floats(r.m * r.k), b = floats(r.k * r.n), c = floats(r.m * r.n);
  const std::unordered_map<int, memory> args = {
      {DNNL_ARG_SRC, memory(d.src_desc(), onednn::engine(), a.get())},
      {DNNL_ARG_WEIGHTS, memory(d.weights_desc(), onednn::engine(), b.get())},
      {DNNL_ARG_DST, memory(d.dst_desc(), onednn::engine(), c.get())}};
  const dnnl::matmul primitive(d);
  return best_seconds(threads, [&] { primitive.execute(onednn::stream(), args); });
}
#endif

void print_row(const Row& r, int threads) {
  const double work = 2e-9 * static_cast<double>(r.m) * static_cast<double>(r.n) * static_cast<double>(r.k);
  std::printf("%-24s %6ld x %5ld x %5ld | peak %6.1f", r.name, static_cast<long>(r.m), static_cast<long>(r.n),
              static_cast<long>(r.k), peak_gflops(threads));
  const double own = own_seconds(r, threads);
  std::printf(" | ours %6.1f %8.3f ms", work / own, 1e3 * own);
#if PLIMSOLL_HAVE_ONEDNN
  std::printf(" | oneDNN %6.1f", work / onednn_seconds(r, threads));
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
  std::printf("GFLOP/s on %d thread(s)\n", threads);
  for (const Row& r : kRows) {
    if (std::string_view(r.name).find(part) != std::string_view::npos) print_row(r, threads);
  }
  return 0;
}
