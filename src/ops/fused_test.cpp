#include "ops/fused.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "graph/elements.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

Tensor random_tensor(DType t, const Shape& shape, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  Tensor x = Tensor::empty(t, shape);
  for (int64_t i = 0; i < shape.elements(); ++i) {
    write_element(t, static_cast<char*>(x.data()) + i * static_cast<int64_t>(size_of(t)), uniform(engine));
  }
  return x;
}

void run(const Kernel& kernel, std::vector<void*> args) {
  std::vector<char> scratch(static_cast<size_t>(kernel.scratch) + 64, '\x7F');
  args.push_back(reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64));
  kernel.run(kernel.state.get(), args.data());
}

// The body node by node, every value in a buffer of its own.
std::vector<Tensor> one_by_one(const Graph& body, const std::vector<Tensor>& in) {
  std::vector<Tensor> values(body.values().size());
  for (size_t i = 0; i < in.size(); ++i) values[body.inputs()[i].value] = in[i];
  for (const Node& node : body.nodes()) {
    const TensorType out[] = {body.type(node.outputs[0])};
    Tensor& result = values[node.outputs[0]];
    if (node.op->name == "constant") {
      result = node.attrs.tensor("value");
      continue;
    }
    std::vector<TensorType> types;
    std::vector<void*> args;
    for (const ValueId v : node.inputs) {
      types.push_back(values[v].type());
      args.push_back(values[v].data());
    }
    if (node.op->alias) {
      result = Tensor(out[0].dtype, out[0].shape, values[node.inputs[0]].buffer());
      continue;
    }
    result = Tensor::empty(out[0].dtype, out[0].shape);
    args.push_back(result.data());
    const KernelQuery query{types, out, node.attrs, 1};
    run(node.op->tile ? prepare_elementwise(*node.op, query) : node.op->kernels[0].prepare(query), args);
  }
  std::vector<Tensor> out;
  for (const GraphOutput& o : body.outputs()) out.push_back(values[o.value]);
  return out;
}

Kernel kernel_for(const KernelQuery& q) {
  for (const KernelDef& def : get_op("fused").kernels) {
    if (!def.fits || def.fits(q)) return def.prepare(q);
  }
  return {};
}

std::vector<Tensor> fused(const std::shared_ptr<const Graph>& body, const std::vector<Tensor>& in,
                          int threads) {
  const Attrs attrs = {{"body", body}};
  std::vector<TensorType> types, out_types;
  std::vector<Tensor> out;
  std::vector<void*> args;
  for (const Tensor& t : in) {
    types.push_back(t.type());
    args.push_back(t.data());
  }
  for (const GraphOutput& o : body->outputs()) {
    out_types.push_back(body->type(o.value));
    out.push_back(Tensor::empty(out_types.back().dtype, out_types.back().shape));
    args.push_back(out.back().data());
  }
  run(kernel_for({types, out_types, attrs, threads}), args);
  return out;
}

void expect_same_bits(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.type(), b.type());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(byte_size(a.dtype(), a.shape()))), 0) << what;
}

void expect_close(const Tensor& a, const Tensor& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.type(), b.type());
  double most = 1;
  const auto at = [](const Tensor& t, int64_t i) {
    return read_element(t.dtype(),
                        static_cast<const char*>(t.data()) + i * static_cast<int64_t>(size_of(t.dtype())));
  };
  for (int64_t i = 0; i < a.shape().elements(); ++i) most = std::max(most, std::abs(at(b, i)));
  for (int64_t i = 0; i < a.shape().elements(); ++i)
    ASSERT_NEAR(at(a, i), at(b, i), tolerance * most) << what << " at " << i;
}

const Shape kShapes[] = {Shape{},       Shape{1},           Shape{5, 7},     Shape{3, 1, 700},
                         Shape{33, 64}, Shape{2, 5, 6, 40}, Shape{70, 3000}, Shape{0, 4}};

TEST(Fused, ChainsGiveTheBitsOfSingleOpsInEveryFloatType) {
  for (const DType t : kFloats) {
    for (const Shape& shape : kShapes) {
      auto body = std::make_shared<Graph>();
      const Tensor x = body->input("x", t, shape);
      const Tensor row = body->input("row", t, shape.rank() ? Shape{shape.dim(-1)} : Shape{});
      const Tensor scalar = body->input("scalar", t, Shape{});
      const Tensor a = tanh(x * row + 0.5);
      const Tensor b = where(greater(a, scalar), exp(a) / 3.0, square(x) - row);
      body->output("b", b);
      body->output("mask", less(b, x));
      body->output("a", a);
      ASSERT_TRUE(can_fuse(*body));
      const std::vector<Tensor> in = {random_tensor(t, shape, 1), random_tensor(t, row.shape(), 2),
                                      random_tensor(t, Shape{}, 3)};
      const std::vector<Tensor> expected = one_by_one(*body, in);
      for (const int threads : {1, 2}) {
        const std::vector<Tensor> got = fused(body, in, threads);
        for (size_t o = 0; o < got.size(); ++o)
          expect_same_bits(got[o], expected[o], concat(t, shape, " output ", o));
      }
    }
  }
}

TEST(Fused, FoldsBesideElementwiseOutputs) {
  for (const DType t : {DType::f32, DType::bf16, DType::f64}) {
    for (const Shape& shape : kShapes) {
      if (shape.rank() == 0) continue;
      Ints leading;
      for (int i = 0; i + 1 < shape.rank(); ++i) leading.push_back(i);
      auto body = std::make_shared<Graph>();
      const Tensor x = body->input("x", t, shape), scale = body->input("scale", t, Shape{shape.dim(-1)});
      const Tensor y = relu(x * scale);
      body->output("y", y);
      body->output("total", sum(y));
      body->output("rows", max(y, {-1}, true));
      if (!leading.empty()) body->output("columns", sum(square(y), leading));
      ASSERT_TRUE(can_fuse(*body));
      const std::vector<Tensor> in = {random_tensor(t, shape, 4), random_tensor(t, scale.shape(), 5)};
      const std::vector<Tensor> expected = one_by_one(*body, in);
      const std::vector<Tensor> got = fused(body, in, 2), alone = fused(body, in, 1);
      for (size_t o = 0; o < got.size(); ++o) {
        expect_same_bits(got[o], alone[o], "depends on the threads");
        expect_close(got[o], expected[o], t == DType::bf16 ? 8e-3 : 1e-6, concat(t, shape, " output ", o));
      }
    }
  }
}

TEST(Fused, AsksWhetherAllIsFiniteInOnePass) {
  const auto name_of = [](const std::shared_ptr<const Graph>& body) {
    const Attrs attrs = {{"body", body}};
    const TensorType in[] = {body->type(body->inputs()[0].value)};
    const TensorType out[] = {body->type(body->outputs()[0].value)};
    return kernel_for({in, out, attrs, 1}).name;
  };
  for (const DType t : kFloats) {
    for (const Shape& shape : kShapes) {
      auto body = std::make_shared<Graph>(), other = std::make_shared<Graph>();
      body->output("flag", reshape(all(isfinite(body->input("x", t, shape))), {1}));
      other->output("flag", all(isfinite(exp(other->input("x", t, shape)))));
      EXPECT_EQ(name_of(body), "highway all finite");
      EXPECT_EQ(name_of(other).find("all finite"), std::string::npos);
      Tensor x = random_tensor(t, shape, 6);
      EXPECT_EQ(fused(body, {x}, 2)[0].item(), 1);
      if (shape.elements() == 0) continue;
      const int64_t last = (shape.elements() - 1) * static_cast<int64_t>(size_of(t));
      write_element(t, static_cast<char*>(x.data()) + last, -INFINITY);
      EXPECT_EQ(fused(body, {x}, 2)[0].item(), 0);
    }
  }
}

TEST(Fused, ReadsTransposedReshapedAndBroadcastInputs) {
  auto body = std::make_shared<Graph>();
  const Tensor x = body->input("x", DType::f32, Shape{40, 30}),
               flat = body->input("flat", DType::f32, Shape{1200});
  const Tensor column = body->input("column", DType::f32, Shape{30, 1});
  const Tensor y = transpose(x, {1, 0}) + reshape(flat, Shape{30, 40}) * broadcast_to(column, Shape{30, 40});
  body->output("y", reshape(y, Shape{1200}));
  body->output("rows", sum(y, {1}));
  ASSERT_TRUE(can_fuse(*body));
  const std::vector<Tensor> in = {random_tensor(DType::f32, Shape{40, 30}, 6),
                                  random_tensor(DType::f32, Shape{1200}, 7),
                                  random_tensor(DType::f32, Shape{30, 1}, 8)};
  const std::vector<Tensor> expected = one_by_one(*body, in), got = fused(body, in, 2);
  expect_same_bits(got[0], expected[0], "y");
  expect_close(got[1], expected[1], 1e-6, "rows");
}

TEST(Fused, RefusesWhatItCannotRun) {
  Graph uses_fold;
  const Tensor x = uses_fold.input("x", DType::f32, Shape{4, 5});
  uses_fold.output("y", x - max(x, {1}, true));
  EXPECT_FALSE(can_fuse(uses_fold));
  Graph small_output;
  const Tensor a = small_output.input("a", DType::f32, Shape{5}),
               b = small_output.input("b", DType::f32, Shape{4, 5});
  small_output.output("small", exp(a));
  small_output.output("large", exp(a) + b);
  EXPECT_FALSE(can_fuse(small_output));
}

// An output may take an input's place only once nobody reads that input any more.
TEST(Fused, WorksInPlaceWhereItSaysSo) {
  auto body = std::make_shared<Graph>();
  const Tensor x = body->input("x", DType::f32, Shape{1000}), y = body->input("y", DType::f32, Shape{1000});
  const Tensor first = x + y;
  body->output("first", first);
  body->output("second", first * y);
  const OpDef& op = get_op("fused");
  const Attrs attrs = {{"body", std::shared_ptr<const Graph>(body)}};
  const TensorType types[] = {x.type(), y.type()};
  const OpCall call{op, types, attrs};
  EXPECT_EQ(op.in_place(call, 0), 0b01u) << "y is read again after the first output is written";
  EXPECT_EQ(op.in_place(call, 1), 0b11u);
}

}  // namespace
}  // namespace plimsoll
