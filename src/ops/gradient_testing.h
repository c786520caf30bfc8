// For tests: first and second derivatives of a function of float64 tensors, against central differences.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll::testing_gradients {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

inline Tensor noise(const Shape& shape, unsigned seed, double low = -1, double high = 1,
                    DType dtype = DType::f64) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Tensor t = Tensor::empty(DType::f64, shape);
  for (int64_t i = 0; i < shape.elements(); ++i) t.data<double>()[i] = uniform(random);
  return dtype == DType::f64 ? t : cast(t, dtype);
}

// A number that depends on every element of y, with weights that do not let errors cancel.
inline Tensor weigh(const Tensor& y) {
  Tensor weights = noise(y.shape(), 77);
  return sum(y * weights);
}

// The graph of f: {number, gradient by each input}.
inline Program program_of(const Function& f, const std::vector<Tensor>& at) {
  Graph graph;
  std::vector<Tensor> xs;
  for (const Tensor& t : at) xs.push_back(graph.input(concat("x", xs.size()), t.dtype(), t.shape()));
  const Tensor y = weigh(f(xs));
  graph.output("y", y);
  for (const Tensor& d : gradients(y, xs)) graph.output(concat("d", graph.outputs().size()), d);
  return Program::compile(graph);
}

inline void expect_gradients(const Function& f, const std::vector<Tensor>& at, double tolerance = 1e-6) {
  Program program = program_of(f, at);
  const std::vector<Tensor> got = program(at);
  constexpr double kStep = 1e-5;
  for (size_t i = 0; i < at.size(); ++i) {
    double largest = 1e-3, error = 0;
    for (int64_t e = 0; e < at[i].shape().elements(); ++e) {
      const auto value = [&](double by) {
        std::vector<Tensor> moved = at;
        moved[i] = at[i].copy();
        moved[i].data<double>()[e] += by;
        return program(moved)[0].item();
      };
      const double expected = (value(kStep) - value(-kStep)) / (2 * kStep);
      largest = std::max(largest, std::abs(expected));
      error = std::max(error, std::abs(expected - got[i + 1].data<double>()[e]));
    }
    EXPECT_LE(error / largest, tolerance) << "gradient of input " << i;
  }
}

// The gradient of the gradients of f by its inputs, each weighed.
inline void expect_second_gradients(const Function& f, const std::vector<Tensor>& at,
                                    double tolerance = 1e-5) {
  const Function first = [&](const std::vector<Tensor>& xs) {
    const std::vector<Tensor> d = gradients(weigh(f(xs)), xs);
    Tensor total = weigh(d[0]);
    for (size_t i = 1; i < d.size(); ++i) total = total + weigh(d[i]);
    return total;
  };
  expect_gradients(first, at, tolerance);
}

}  // namespace plimsoll::testing_gradients
