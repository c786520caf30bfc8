// The text form of graphs: what parses must verify, print and parse again; what does not is an Error.
#include "fuzz.h"
#include "memory/account.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops.h"

using namespace plimsoll;

std::vector<std::string> seeds() {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2, 3});
  const Tensor w = g.variable("w", Tensor::zeros(DType::f32, {3, 4}));
  g.set_layer("dense");
  const Tensor y = relu(matmul(x, w) + 0.5);
  const Body half = [](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] * 0.5}; };
  g.output("y", cond(any(greater(y, scalar_like(y, 0))), std::span(&y, 1), half, half)[0]);
  g.update(w, w * 2.0);
  return {g.text(), "graph { %0 = constant() {value = tensor bfloat16(2) [1, nan]}\n output \"c\" %0 }",
          "graph { %0 = input \"x\" int32(1, 4, 4, 1)\n %1 = transpose(%0) {permutation = [0, 3, 1, 2]} @ "
          "\"t\" }"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  account::set_limit(int64_t{1} << 26);  // a text must not take much memory
  try {
    const Graph graph = Graph::parse(std::string_view(reinterpret_cast<const char*>(data), size));
    graph.verify();
    if (Graph::parse(graph.text()).nodes().size() != graph.nodes().size()) __builtin_trap();
  } catch (const Error&) {
  }
  return 0;
}
