// What a user can get wrong comes back as an Error that names the op, says what was expected and what came,
// and leaves the graph usable.
#include <gtest/gtest.h>

#include <functional>

#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

struct Bad {
  const char* name;
  const char* place;  // the message starts with: an op, or what stands above ops
  std::function<void(Graph&)> call;
};

Tensor f32(Graph& g, const Shape& shape) {
  return g.input("x" + std::to_string(g.inputs().size()), DType::f32, shape);
}
Tensor i32(Graph& g, const Shape& shape) {
  return g.input("i" + std::to_string(g.inputs().size()), DType::i32, shape);
}

std::vector<Bad> bad_calls() {
  return {
      {"shapes that do not broadcast", "add",
       [](Graph& g) {
         add(f32(g, {2, 3}), f32(g, {4}));
       }},
      {"inner sizes that differ", "matmul",
       [](Graph& g) {
         matmul(f32(g, {2, 3}), f32(g, {4, 5}));
       }},
      {"matmul of a scalar", "matmul",
       [](Graph& g) {
         matmul(f32(g, {}), f32(g, {4, 5}));
       }},
      {"contracting an axis twice", "dot_general",
       [](Graph& g) {
         dot_general(f32(g, {2, 2}), f32(g, {2, 2}), {1, 1}, {0, 0});
       }},
      {"contracting an axis that is not there", "dot_general",
       [](Graph& g) {
         dot_general(f32(g, {2, 2}), f32(g, {2, 2}), {5}, {0});
       }},
      {"an axis out of range", "reduce_sum",
       [](Graph& g) {
         sum(f32(g, {2, 3}), {2});
       }},
      {"an axis twice", "reduce_sum",
       [](Graph& g) {
         sum(f32(g, {2, 3}), {1, -1});
       }},
      {"argmax of nothing", "argmax",
       [](Graph& g) {
         argmax(f32(g, {2, 0}), 1);
       }},
      {"softmax along no axis", "softmax",
       [](Graph& g) {
         softmax(f32(g, {2, 3}), 3);
       }},
      {"reshape to another size", "reshape",
       [](Graph& g) {
         reshape(f32(g, {2, 3}), Shape{5});
       }},
      {"reshape with two unknowns", "reshape",
       [](Graph& g) {
         reshape(f32(g, {2, 3}), Ints{-1, -1});
       }},
      {"a permutation that is none", "transpose",
       [](Graph& g) {
         transpose(f32(g, {2, 3}), {0, 0});
       }},
      {"broadcast to a smaller shape", "broadcast_to",
       [](Graph& g) {
         broadcast_to(f32(g, {2, 3}), {3});
       }},
      {"slice past the end", "slice", [](Graph& g) { slice(f32(g, {4}), {0}, {5}); }},
      {"slice with stride 0", "slice", [](Graph& g) { slice(f32(g, {4}), {0}, {4}, {0}); }},
      {"pad that overflows", "pad", [](Graph& g) { pad(f32(g, {4}), {INT64_MAX}, {INT64_MAX}); }},
      {"concatenation of nothing", "concatenate", [](Graph&) { concatenate({}, 0); }},
      {"concatenation of ranks", "concatenate",
       [](Graph& g) {
         const Tensor parts[] = {f32(g, {2}), f32(g, {2, 2})};
         concatenate(parts, 0);
       }},
      {"float indices", "take", [](Graph& g) { take(f32(g, {4}), f32(g, {2}), 0); }},
      {"float labels", "sparse_softmax_cross_entropy",
       [](Graph& g) {
         sparse_softmax_cross_entropy(f32(g, {4, 3}), f32(g, {4}));
       }},
      {"labels of another shape", "sparse_softmax_cross_entropy",
       [](Graph& g) {
         sparse_softmax_cross_entropy(f32(g, {4, 3}), i32(g, {5}));
       }},
      {"convolution of a vector", "conv",
       [](Graph& g) {
         conv(f32(g, {4}), f32(g, {3, 3, 1, 1}));
       }},
      {"convolution of other channels", "conv",
       [](Graph& g) {
         conv(f32(g, {1, 8, 8, 3}), f32(g, {3, 3, 4, 8}));
       }},
      {"convolution with groups that do not divide", "conv",
       [](Graph& g) {
         conv(f32(g, {1, 8, 8, 4}), f32(g, {3, 3, 2, 7}), {.groups = 2});
       }},
      {"convolution kernel larger than the image", "conv",
       [](Graph& g) {
         conv(f32(g, {1, 2, 2, 3}), f32(g, {5, 5, 3, 8}));
       }},
      {"convolution with stride 0", "conv",
       [](Graph& g) {
         conv(f32(g, {1, 8, 8, 3}), f32(g, {3, 3, 3, 8}), {.strides = {0, 0}});
       }},
      {"pooling window larger than the image", "max_pool",
       [](Graph& g) {
         max_pool(f32(g, {1, 2, 2, 3}), {.window = {3, 3}});
       }},
      {"pooling window whose points overflow", "average_pool",
       [](Graph& g) {
         const int64_t large = (int64_t{1} << 31) - 1, pad = large - 1;
         average_pool(
             f32(g, {1, 1, 1, 1, 1}),
             {.window = {large, large, large}, .pad_low = {pad, pad, pad}, .pad_high = {pad, pad, pad}});
       }},
      {"window whose padding overflows", "reduce_window_sum",
       [](Graph& g) { reduce_window_sum(f32(g, {4}), {INT64_MAX}, {1}, {INT64_MAX - 1}, {INT64_MAX - 1}); }},
      {"batch norm with other gamma", "batch_norm",
       [](Graph& g) {
         batch_norm(f32(g, {2, 4}), f32(g, {3}), f32(g, {4}), 1e-3);
       }},
      {"layer norm with other gamma", "layer_norm",
       [](Graph& g) {
         layer_norm(f32(g, {2, 4}), f32(g, {3}), f32(g, {4}), 1e-3);
       }},
      {"LSTM with a kernel of 3u columns", "lstm",
       [](Graph& g) {
         lstm(f32(g, {2, 5, 4}), f32(g, {2, 8}), f32(g, {2, 8}), f32(g, {4, 24}), f32(g, {8, 32}),
              f32(g, {32}));
       }},
      {"attention with other heads", "attention",
       [](Graph& g) {
         attention(f32(g, {1, 4, 2, 8}), f32(g, {1, 4, 3, 8}), f32(g, {1, 4, 3, 8}), {}, 1);
       }},
      {"an unknown activation", "dense",
       [](Graph& g) {
         dense(f32(g, {2, 4}), f32(g, {4, 8}), f32(g, {8}), "reluu");
       }},
      {"bits of a float", "bitwise_and", [](Graph& g) { bitwise_and(f32(g, {2}), f32(g, {2})); }},
      {"bitcast to another size", "bitcast", [](Graph& g) { bitcast(f32(g, {3}), DType::f64); }},
      {"scatter with an unknown mode", "scatter_nd",
       [](Graph& g) {
         scatter_nd(f32(g, {4}), i32(g, {2, 1}), f32(g, {2}), "sub");
       }},
      {"more than 63 bits of elements", "shape",
       [](Graph& g) {
         f32(g, {INT64_MAX, 2});
       }},
      {"more than 63 bits of bytes", "shape", [](Graph& g) { f32(g, {INT64_MAX}) + 1.0; }},
      {"broadcast past 63 bits", "shape",
       [](Graph& g) {
         broadcast_to(f32(g, {1}), {int64_t{1} << 40, int64_t{1} << 40});
       }},
      {"an update of another shape", "graph",
       [](Graph& g) { g.update(g.variable("v", Tensor::zeros(DType::f32, {2})), f32(g, {3})); }},
      {"a second update", "graph",
       [](Graph& g) {
         const Tensor v = g.variable("v", Tensor::zeros(DType::f32, {2}));
         const Tensor x = f32(g, {2});
         g.update(v, x);
         g.update(v, x);
       }},
      {"a tensor of another graph", "graph",
       [](Graph& g) {
         Graph other;
         add(f32(g, {2}), f32(other, {2}));
       }},
      {"gradient of an integer", "gradients",
       [](Graph& g) {
         const Tensor x = f32(g, {2});
         gradients(argmax(x, 0), std::span(&x, 1));
       }},
  };
}

TEST(BadInput, GetsAnErrorAndTheGraphStaysUsable) {
  for (const Bad& bad : bad_calls()) {
    SCOPED_TRACE(bad.name);
    Graph graph;
    try {
      bad.call(graph);
      ADD_FAILURE() << "nothing was said";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument) << e.what();
      const std::string message = e.what();
      EXPECT_TRUE(message.starts_with(concat("[", bad.place, "] "))) << message;
      const bool says_what =
          message.find("got") != std::string::npos || message.find("overflows") != std::string::npos;
      EXPECT_TRUE(says_what) << message;
    }
    const Tensor x = f32(graph, {2});
    graph.output("y", x + 1.0);
    EXPECT_NO_THROW(graph.verify());
  }
}

TEST(BadInput, RunRefusesWrongInputsAndWorksAfterwards) {
  Graph graph;
  graph.output("y", f32(graph, {2, 3}) * 2.0);
  Program program = Program::compile(graph);
  const Tensor good = Tensor::full(DType::f32, {2, 3}, 1);
  const std::vector<std::vector<Tensor>> wrong = {
      {}, {good, good}, {Tensor()}, {Tensor::zeros(DType::f32, {3, 2})}, {Tensor::zeros(DType::f64, {2, 3})}};
  for (const std::vector<Tensor>& inputs : wrong) {
    EXPECT_THROW(program(inputs), Error);
  }
  EXPECT_EQ(program({&good, 1})[0].shape(), good.shape());
}

TEST(BadInput, GraphTextCutOffAnywhereIsAnError) {
  Graph graph;
  const Tensor x = f32(graph, {2, 3});
  graph.output("y", softmax(reshape(x * 2.0, Shape{3, 2})));
  const std::string text = graph.text();
  ASSERT_EQ(Graph::parse(text).text(), text);
  const std::string whole = text.substr(0, text.find_last_not_of(" \n\t") + 1);
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      Graph::parse(std::string_view(whole).substr(0, size));
      ADD_FAILURE() << "the first " << size << " of " << whole.size() << " bytes are taken for a graph";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument) << size << ": " << e.what();
    }
  }
}

// One byte changed: an Error of the right kind or another graph, which is whole, never a crash.
TEST(BadInput, DamagedGraphTextIsAnErrorOrAGraph) {
  Graph graph;
  const Tensor x = f32(graph, {2, 3});
  graph.output("y", softmax(transpose(sum(x * 2.0, {1}, true), {1, 0})));
  const std::string text = graph.text();
  int graphs = 0, errors = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char put : {'\0', '9', '-', '(', ')', '"', '%', ' ', '\n', '\xFF'}) {
      std::string damaged = text;
      damaged[at] = put;
      try {
        const Graph other = Graph::parse(damaged);
        other.verify();
        EXPECT_EQ(Graph::parse(other.text()).text(), other.text()) << "byte " << at;
        ++graphs;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::invalid_argument) << "byte " << at << ": " << e.what();
        ++errors;
      }
    }
  }
  EXPECT_GT(graphs, 0);
  EXPECT_GT(errors, graphs);
}

}  // namespace
}  // namespace plimsoll
