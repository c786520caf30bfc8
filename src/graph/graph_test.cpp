#include "plimsoll/graph.h"

#include <gtest/gtest.h>

#include <cstring>

#include "graph/op.h"
#include "graph/text.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

Graph sample() {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2, 3});
  const Tensor w = g.variable("w \"quoted\"", Tensor::zeros(DType::f32, {3, 4}));
  g.set_layer("dense_1");
  const Tensor y = relu(matmul(x, w)) * 0.1;
  g.output("y", y);
  g.update(w, w + 1.0);
  return g;
}

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Graph, TextReadsBackToTheSameText) {
  const std::string text = sample().text();
  EXPECT_EQ(Graph::parse(text).text(), Graph::parse(Graph::parse(text).text()).text());
  Graph::parse(text).verify();
}

TEST(Graph, TextKeepsConstantsToTheBit) {
  Graph g;
  const float values[] = {0.1f, -0.0f, 1e-42f, 3.4028235e38f};
  g.output("c", g.constant(Tensor::from<float>(values, {4})));
  const Graph back = Graph::parse(g.text());
  const Tensor& t = back.node(0).attrs.tensor("value");
  EXPECT_EQ(0, std::memcmp(t.data(), values, sizeof values));
}

TEST(Graph, ATextCutOffAnywhereIsAnErrorNotACrash) {
  const std::string text = sample().text();
  for (size_t n = 0; n + 2 < text.size(); ++n) {
    EXPECT_THROW(Graph::parse(std::string_view(text).substr(0, n)), Error) << n;
  }
}

TEST(Graph, ParseErrorsNameLineAndColumn) {
  const std::string m = message_of([] { Graph::parse("graph {\n  %0 = input \"x\" float33(2)\n}"); });
  EXPECT_NE(m.find("line 2"), std::string::npos) << m;
  EXPECT_NE(m.find("float33"), std::string::npos) << m;
}

TEST(Graph, ParseRefusesUnknownOpsValuesAndHugeShapes) {
  EXPECT_THROW(Graph::parse("graph { %0 = nonsense() }"), Error);
  EXPECT_THROW(Graph::parse("graph { output \"y\" %3 }"), Error);
  EXPECT_THROW(Graph::parse("graph { %0 = variable \"v\" float32(4611686018427387904, 4) }"), Error);
  EXPECT_THROW(Graph::parse("graph { %0 = constant() {value = tensor float32(1000000000) [0]} }"), Error);
}

TEST(Graph, ARefusedNodeLeavesTheGraphAsItWas) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2, 3});
  const std::string before = g.text();
  const Tensor bad = Tensor::zeros(DType::f32, {5, 7});
  const std::string m = message_of([&] { add(x, bad); });
  EXPECT_NE(m.find("(2, 3)"), std::string::npos) << m;
  EXPECT_NE(m.find("(5, 7)"), std::string::npos) << m;
  EXPECT_EQ(g.text(), before);
}

TEST(Graph, UpdatesMustFitTheirVariable) {
  Graph g;
  const Tensor v = g.variable("v", Tensor::zeros(DType::f32, {2}));
  EXPECT_THROW(g.update(v, g.input("x", DType::f32, {3})), Error);
  EXPECT_THROW(g.update(g.input("z", DType::f32, {2}), v), Error);
  g.update(v, v + 1.0);
  EXPECT_THROW(g.update(v, v + 2.0), Error);
}

TEST(Graph, OneStorageIsOneVariable) {
  Graph g;
  const Tensor storage = Tensor::zeros(DType::f32, {2});
  EXPECT_EQ(g.variable("a", storage).id(), g.variable("b", storage).id());
}

TEST(Graph, UnknownAndMissingAttributesAreNamed) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2, 3});
  const std::string m = message_of([&] {
    g.add(get_op("transpose"), std::span(&x, 1), {{"axis", int64_t{1}}});
  });
  EXPECT_NE(m.find("transpose"), std::string::npos) << m;
  EXPECT_NE(m.find("axis"), std::string::npos) << m;
  EXPECT_THROW(g.add(get_op("transpose"), std::span(&x, 1)), Error);
}

TEST(Graph, ValuesOfAnotherGraphAreRefused) {
  Graph a, b;
  const Tensor x = a.input("x", DType::f32, {2});
  const Tensor y = b.input("y", DType::f32, {2});
  EXPECT_THROW(add(x, y), Error);
}

TEST(Graph, DotNamesEveryNode) {
  const std::string dot = sample().dot();
  EXPECT_NE(dot.find("digraph"), std::string::npos);
  EXPECT_NE(dot.find("dense_1"), std::string::npos);
}

TEST(Registry, EveryOpHasAShapeRuleAndAWayToRun) {
  for (const OpDef* op : all_ops()) {
    EXPECT_NE(op->infer, nullptr) << op->name;
    const bool runs =
        op->alias || op->tile || op->decompose || !op->kernels.empty() || op->name == "constant";
    EXPECT_TRUE(runs) << op->name;
    EXPECT_EQ(find_op(op->name), op);
  }
}

TEST(Attrs, ParseAttrReadsEveryPlainKind) {
  EXPECT_EQ(std::get<int64_t>(parse_attr("-3", AttrKind::integer)), -3);
  EXPECT_EQ(std::get<double>(parse_attr("1e-3", AttrKind::real)), 1e-3);
  EXPECT_EQ(std::get<Ints>(parse_attr("[1, 2]", AttrKind::ints)), (Ints{1, 2}));
  EXPECT_EQ(std::get<std::string>(parse_attr("\"a\\\"b\"", AttrKind::string)), "a\"b");
  EXPECT_EQ(std::get<DType>(parse_attr("bfloat16", AttrKind::dtype)), DType::bf16);
  EXPECT_TRUE(std::get<bool>(parse_attr("true", AttrKind::boolean)));
  EXPECT_THROW(parse_attr("1 2", AttrKind::integer), Error);
}

}  // namespace
}  // namespace plimsoll
