// Ops at sizes where a device has kernels of another kind than for the small cases of the sweep: values and
// gradients beside the CPU's in float32, from the same numbers.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "device_plugin/interpreter.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

struct Case {
  const char* name;
  std::vector<Shape> in;
  std::vector<Tensor> (*build)(std::span<const Tensor> in);
  double grid = 0;    // inputs are multiples of it: sums of halves are exact, and equal where they were
  bool mask = false;  // of a ReLU behind what is rounded to halves: it lets other elements through
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Tensor> attention_of(std::span<const Tensor> in) {
  return {attention(in[0], in[1], in[2], in.size() == 4 ? in[3] : Tensor(), 0.3)};
}
// A mask that hides every key from some queries: of equal weight then, as scores are lost in rounding, or,
// where they are not, small.
std::vector<Tensor> masked_attention(std::span<const Tensor> in) {
  const double low = in[0].dtype() == DType::f16 ? -6e4 : -1e9;
  const Tensor hidden = greater(in[3], scalar_like(in[3], 0.2));
  const Tensor mask = where(hidden, scalar_like(in[3], low), scalar_like(in[3], 0)) + in[3] * 0.0;
  return {attention(in[0], in[1], in[2], mask + in[4] * 0.0, 1e-4)};
}
std::vector<Tensor> causal_attention(std::span<const Tensor> in) {
  return {attention(in[0], in[1], in[2], {}, 0.3, true)};
}
std::vector<Tensor> lstm_of(std::span<const Tensor> in) {
  return lstm(in[0], in[1], in[2], in[3] * 0.2, in[4] * 0.2, in[5]);
}
std::vector<Tensor> lstm_backwards(std::span<const Tensor> in) {
  return lstm(in[0], in[1], in[2], in[3] * 0.2, in[4] * 0.2, in[5], true);
}
std::vector<Tensor> layer_norm_of(std::span<const Tensor> in) {
  return {layer_norm(in[0], in[1], in[2], 1e-3)};
}
std::vector<Tensor> softmax_of(std::span<const Tensor> in) { return {softmax(in[0]), log_softmax(in[0])}; }
std::vector<Tensor> chain_of(std::span<const Tensor> in) { return {tanh(in[0] * in[1] + in[2]) * in[3]}; }
std::vector<Tensor> batch_norm_of(std::span<const Tensor> in) {
  return {relu(batch_norm(in[0], in[1], in[2], 1e-3)[0])};
}
std::vector<Tensor> residual_norm_of(std::span<const Tensor> in) {
  return {relu(batch_norm(in[0], in[1], in[2], 1e-3)[0] + in[3])};
}
// What stands behind a convolution moves behind the pooling.
std::vector<Tensor> conv_pool_of(std::span<const Tensor> in) {
  const ConvOptions grouped{.groups = 8};
  const Tensor y = conv_bias(in[0], in[1], in[2], grouped, "relu");
  return {max_pool(y, {.window = {2, 2}}),
          max_pool(y, {.window = {3, 3}, .strides = {2, 2}, .pad_low = {1, 1}, .pad_high = {1, 1}})};
}
std::vector<Tensor> pool_only_of(std::span<const Tensor> in) {
  return {max_pool(conv_bias(in[0], in[1], in[2], {.groups = 8}, "relu"), {.window = {2, 2}})};
}
// So many elements for each multiprocessor, of an H200 and of the emulator, that three might go to a thread.
std::vector<Tensor> row_of_three(std::span<const Tensor> in) {
  return {tanh(in[0] + in[2]), tanh(in[1] + in[2])};
}
std::vector<Tensor> few_channels_of(std::span<const Tensor> in) {
  return {conv(in[0], in[1] * 0.25),
          conv(in[0], in[1] * 0.25, {.strides = {2, 1}, .pad_low = {1, 0}, .pad_high = {0, 2}})};
}
std::vector<Tensor> max_pool_of(std::span<const Tensor> in) {
  return {max_pool(in[0], {.window = {2, 2}, .strides = {2, 2}, .pad_low = {0, 0}, .pad_high = {0, 0}}),
          max_pool(in[0], {.window = {3, 3}, .strides = {2, 2}, .pad_low = {1, 1}, .pad_high = {1, 1}})};
}

// As the first of a network for images; as those of ResNet, of one point, with and without steps; of a few
// images, with what follows.
std::vector<Tensor> stem_of(std::span<const Tensor> in) {
  return {conv(in[0], in[1] * 0.1, {.strides = {2, 2}, .pad_low = {3, 3}, .pad_high = {3, 3}})};
}
std::vector<Tensor> narrow_convs_of(std::span<const Tensor> in) {
  return {conv(in[0], in[1] * 0.1), conv(in[0], in[1] * 0.1, {.strides = {2, 2}})};
}
std::vector<Tensor> wide_conv_of(std::span<const Tensor> in) {
  return {conv(in[0], in[1] * 0.05, {.pad_low = {1, 1}, .pad_high = {1, 1}}) * in[2] + in[3] + in[4]};
}

// Sums with products, whose gradients are such sums too.
std::vector<Tensor> sums_of(std::span<const Tensor> in) {
  const Tensor a = in[0] + matmul(in[0], in[1] * 0.2) + in[2];
  const Tensor b = a + matmul(tanh(a), in[1] * 0.2);
  return {b + matmul(b, in[3] * 0.2)};
}
std::vector<Tensor> residual_convs_of(std::span<const Tensor> in) {
  const Tensor a = conv(in[0], in[1] * 0.2);
  return {in[0] + conv(tanh(a), in[2] * 0.2)};
}

std::vector<Shape> lstm_shapes(int64_t batch, int64_t time, int64_t features, int64_t units) {
  return {{batch, time, features}, {batch, units},     {batch, units},
          {features, 4 * units},   {units, 4 * units}, {4 * units}};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"attention_16", {{2, 70, 2, 16}, {2, 90, 2, 16}, {2, 90, 2, 16}}, attention_of},
      {"attention_64", {{1, 130, 2, 64}, {1, 64, 2, 64}, {1, 64, 2, 64}}, attention_of},
      {"attention_bias", {{2, 33, 2, 32}, {2, 40, 2, 32}, {2, 40, 2, 32}, {2, 1, 1, 40}}, attention_of},
      {"attention_masked",
       {{2, 33, 2, 32}, {2, 40, 2, 32}, {2, 40, 2, 32}, {2, 1, 33, 1}, {2, 1, 33, 40}},
       masked_attention},
      {"attention_causal", {{1, 100, 2, 32}, {1, 100, 2, 32}, {1, 100, 2, 32}}, causal_attention},
      {"lstm_128", lstm_shapes(20, 5, 8, 128), lstm_of},
      {"lstm_384", lstm_shapes(3, 3, 16, 384), lstm_backwards},
      {"lstm_40", lstm_shapes(18, 4, 7, 40), lstm_of},
      {"layer_norm_768", {{50, 768}, {768}, {768}}, layer_norm_of},
      {"layer_norm_3000", {{5, 3000}, {3000}, {3000}}, layer_norm_of},
      {"softmax_1000", {{30, 1000}}, softmax_of},
      {"softmax_9001", {{3, 9001}}, softmax_of},
      {"chain", {{64, 40, 96}, {64, 40, 96}, {96}, {64, 40, 1}}, chain_of},
      {"batch_norm", {{16, 20, 20, 24}, {24}, {24}}, batch_norm_of},
      {"residual_norm", {{16, 20, 20, 24}, {24}, {24}, {16, 20, 20, 24}}, residual_norm_of, 0, true},
      {"conv_pool", {{8, 20, 20, 16}, {3, 3, 2, 24}, {24}}, conv_pool_of, 0.5},
      {"pool_only", {{8, 21, 20, 16}, {3, 3, 2, 24}, {24}}, pool_only_of, 0.5},
      {"few_channels", {{5, 33, 30, 3}, {3, 3, 3, 64}}, few_channels_of},
      {"row_of_three", {{2500, 96}, {150, 96}, {96}}, row_of_three},
      {"max_pool", {{8, 21, 20, 24}}, max_pool_of},
      {"sums", {{40, 64}, {64, 64}, {64}, {64, 64}}, sums_of},
      {"residual_convs", {{2, 9, 10, 64}, {1, 1, 64, 32}, {1, 1, 32, 64}}, residual_convs_of},
      {"stem", {{18, 124, 125, 3}, {7, 7, 3, 32}}, stem_of},
      {"narrow_convs", {{4, 14, 15, 64}, {1, 1, 64, 96}}, narrow_convs_of},
      {"wide_conv", {{2, 14, 14, 64}, {3, 3, 64, 96}, {96}, {96}, {2, 14, 14, 96}}, wide_conv_of},
  };
  return all;
}

Tensor as(const Tensor& t, DType dtype) {
  const Tensor made = Tensor::empty(dtype, t.shape());
  for (int64_t i = 0; i < t.shape().elements(); ++i) set_element(made, i, element(t, i));
  return made;
}

Tensor on_grid(const Tensor& t, double grid) {
  for (int64_t i = 0; grid > 0 && i < t.shape().elements(); ++i)
    set_element(t, i, std::round(element(t, i) / grid) * grid);
  return t;
}

// The outputs and the gradients of a weighted sum of them.
Graph graph_of(const Case& c, DType dtype) {
  Graph graph;
  std::vector<Tensor> in;
  for (size_t i = 0; i < c.in.size(); ++i) in.push_back(graph.input(concat("in", i), dtype, c.in[i]));
  Tensor loss;
  for (const Tensor& out : c.build(in)) {
    graph.output(concat("out", graph.outputs().size()), out);
    const Tensor weights = graph.constant(as(fill(DType::f32, out.shape(), -1, 1, 50), dtype));
    const Tensor part = sum(cast(out * weights, DType::f32));
    loss = loss.defined() ? loss + part : part;
  }
  for (const Tensor& d : gradients(loss, in)) graph.output(concat("d", graph.outputs().size()), d);
  return graph;
}

double distance(const Tensor& got, const Tensor& want) {
  double off = 0, size = 0;
  for (int64_t i = 0; i < want.shape().elements(); ++i) {
    const double w = element(want, i), d = element(got, i) - w;
    if (std::isnan(d)) return d;
    off += d * d;
    size += w * w;
  }
  return std::sqrt(off / std::max(size, 1e-30));
}

// Of halves: their rounding, some times over. TF32 has the mantissa of float16.
double tolerance(DType dtype) {
  const char* const options = std::getenv("PLIMSOLL_CUDA");
  const bool tf32 = options != nullptr && std::strstr(options, "tf32") != nullptr;
  if (dtype == DType::bf16) return 2e-2;
  return dtype == DType::f16 || tf32 ? 4e-3 : 1e-5;
}

class LargeOps : public ::testing::TestWithParam<std::tuple<DType, Case>> {};
INSTANTIATE_TEST_SUITE_P(Types, LargeOps,
                         ::testing::Combine(::testing::Values(DType::f32, DType::bf16, DType::f16),
                                            ::testing::ValuesIn(cases())),
                         [](const auto& info) {
                           return concat(std::get<0>(info.param), "_", std::get<1>(info.param).name);
                         });

TEST_P(LargeOps, GiveTheValuesAndGradientsOfTheCpu) {
  const auto& [dtype, c] = GetParam();
  std::vector<Tensor> in, wide;
  for (size_t i = 0; i < c.in.size(); ++i) {
    in.push_back(as(on_grid(fill(DType::f32, c.in[i], -1, 1, 10 + i), c.grid), dtype));
    wide.push_back(as(in.back(), DType::f32));
  }
  const std::vector<Tensor> want = Program::compile(graph_of(c, DType::f32))(wide);
  const std::vector<Tensor> got =
      Program::compile(graph_of(c, dtype), on(open_tested_device("fuse_folds")))(in);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_LE(distance(got[i], want[i]), tolerance(dtype) * (c.mask && dtype != DType::f32 ? 5 : 1))
        << "output " << i;
}

}  // namespace
}  // namespace plimsoll::testing
