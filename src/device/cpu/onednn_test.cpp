#include "device/cpu/onednn.h"

#if PLIMSOLL_HAVE_ONEDNN

#include <gtest/gtest.h>

#include <vector>

#include "device/cpu/thread_pool.h"

extern "C" bool plimsoll_GOMP_loop_static_start(long, long, long, long, long*, long*);
extern "C" bool plimsoll_GOMP_loop_static_next(long*, long*);
extern "C" void plimsoll_GOMP_loop_end_nowait();

namespace plimsoll {
namespace {

using dnnl::memory;

std::vector<float> ramp(int64_t n, int step, int modulus) {
  std::vector<float> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i * step % modulus) * 0.125f - 0.5f;
  return v;
}

std::vector<float> run_matmul(int64_t m, int64_t k, int64_t n, int threads) {
  const ScopedThreads cap(threads);
  const auto a = onednn::row_major({DType::f32, {m, k}});
  const auto b = onednn::row_major({DType::f32, {k, n}});
  const auto c = onednn::row_major({DType::f32, {m, n}});
  const dnnl::matmul::primitive_desc desc(onednn::engine(), a, b, c, onednn::user_scratchpad());
  const onednn::OnednnCall call(dnnl::matmul(desc),
                                {{DNNL_ARG_SRC, 0}, {DNNL_ARG_WEIGHTS, 1}, {DNNL_ARG_DST, 2}}, threads);
  auto left = ramp(m * k, 37, 11), right = ramp(k * n, 17, 13);
  std::vector<float> out(static_cast<size_t>(m * n));
  std::vector<char> scratch(static_cast<size_t>(call.scratch_bytes()));
  void* args[] = {left.data(), right.data(), out.data(), scratch.data()};
  call.run(args, 3);
  return out;
}

TEST(Onednn, FindsOurOpenMpFunctions) { EXPECT_TRUE(onednn_uses_our_pool()); }

TEST(Onednn, MatmulOnOurPoolIsRightForAnyThreadCount) {
  const int64_t m = 67, k = 45, n = 39;
  const auto left = ramp(m * k, 37, 11), right = ramp(k * n, 17, 13);
  for (int threads : {1, 2, 3}) {
    const auto out = run_matmul(m, k, n, available_threads(threads));
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p) sum += double(left[i * k + p]) * right[p * n + j];
        ASSERT_NEAR(out[i * n + j], sum, 1e-4) << threads << " threads, element " << i << ", " << j;
      }
    }
  }
}

// The gradient of the weights is summed over threads with a barrier between: the team must be whole.
std::vector<float> run_weights_gradient(int threads) {
  const ScopedThreads cap(threads);
  const auto x = onednn::channels_last({DType::f32, {4, 10, 10, 8}});
  const auto y = onednn::channels_last({DType::f32, {4, 10, 10, 16}});
  const memory::desc w({16, 8, 3, 3}, memory::data_type::f32, memory::format_tag::oihw);
  const memory::dims one{1, 1};
  const auto kind = dnnl::prop_kind::forward_training;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto attr = onednn::user_scratchpad();
  const dnnl::convolution_forward::primitive_desc forward(onednn::engine(), kind, algorithm, x,
                                                          onednn::any_layout(w), y, one, one, one, attr);
  const dnnl::convolution_backward_weights::primitive_desc desc(
      onednn::engine(), algorithm, x, onednn::any_layout(w), y, one, one, one, forward, attr);
  const onednn::OnednnCall call(dnnl::convolution_backward_weights(desc),
                                {{DNNL_ARG_SRC, 0}, {DNNL_ARG_DIFF_DST, 1}, {DNNL_ARG_DIFF_WEIGHTS, 2}},
                                threads);
  auto in = ramp(4 * 10 * 10 * 8, 37, 11), dout = ramp(4 * 10 * 10 * 16, 17, 13);
  const size_t packed = desc.diff_weights_desc().get_size() / sizeof(float);
  std::vector<float> out(packed);
  std::vector<char> scratch(static_cast<size_t>(call.scratch_bytes()));
  void* args[] = {in.data(), dout.data(), out.data(), scratch.data()};
  call.run(args, 3);
  double sum = 0;
  for (float v : out) sum += v;
  return {static_cast<float>(sum), out[0], out[packed - 1]};
}

TEST(Onednn, WeightsGradientAgreesBetweenThreadCounts) {
  const auto one = run_weights_gradient(1);
  const auto two = run_weights_gradient(available_threads(2));
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], two[i], 1e-3 * (1 + std::abs(one[i])));
}

TEST(Onednn, AnUnknownDtypeIsUnsupported) {
  try {
    onednn::data_type(DType::f64);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
  }
}

struct LoopCheck {
  long step, chunk;
  std::vector<std::atomic<int>> seen;
};

void walk(void* context, int) {
  auto& check = *static_cast<LoopCheck*>(context);
  const long n = static_cast<long>(check.seen.size());
  const long start = check.step > 0 ? 0 : n - 1, end = check.step > 0 ? n : -1;
  long first = 0, last = 0;
  for (bool more = plimsoll_GOMP_loop_static_start(start, end, check.step, check.chunk, &first, &last); more;
       more = plimsoll_GOMP_loop_static_next(&first, &last)) {
    for (long i = first; check.step > 0 ? i < last : i > last; i += check.step) check.seen[i].fetch_add(1);
  }
  plimsoll_GOMP_loop_end_nowait();
}

TEST(GompShim, StaticLoopsCoverEveryIterationOnce) {
  const int size = available_threads(3);
  for (long chunk : {0, 1, 4}) {
    for (long step : {1, -1}) {
      for (size_t n : {0, 1, 2, 3, 17, 40}) {
        LoopCheck check{step, chunk, std::vector<std::atomic<int>>(n)};
        team::begin(team::Kind::whole, size, walk, &check);
        walk(&check, 0);
        team::end();
        for (auto& s : check.seen)
          EXPECT_EQ(s.load(), 1) << "chunk " << chunk << " step " << step << " of " << n;
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll

#endif
