// EinsumDense: activation(einsum(equation, x, kernel) + bias).
#include <cctype>

#include "layers/base/einsum.h"
#include "plimsoll/activations.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/core.h"
#include "plimsoll/ops/math.h"

namespace plimsoll {
namespace {

struct Equation {
  std::string input, kernel, output;
  std::string text() const { return input + "," + kernel + "->" + output; }
};

struct EinsumDenseLayer final : LayerBase {
  explicit EinsumDenseLayer(std::string equation = "ab,bc->ac", Ints output_shape = {1},
                            EinsumDenseOptions options = {})
      : equation(std::move(equation)), output_shape(std::move(output_shape)), o(std::move(options)) {
    set_activity_regularizer(std::move(o.activity_regularizer));
  }
  std::string equation;
  Ints output_shape;
  EinsumDenseOptions o;

  std::string_view class_name() const override { return "EinsumDense"; }
  void fields(Fields& f) override {
    f("output_shape", output_shape);
    f("equation", equation);
    f("activation", o.activation);
    std::optional<std::string> axes;
    if (!o.bias_axes.empty()) axes = o.bias_axes;
    f("bias_axes", axes);
    o.bias_axes = axes.value_or("");
    f("kernel_initializer", o.kernel_initializer);
    f("bias_initializer", o.bias_initializer);
    f("kernel_regularizer", o.kernel_regularizer);
    f("bias_regularizer", o.bias_regularizer);
    activity_field(f);
    f("kernel_constraint", o.kernel_constraint);
    f("bias_constraint", o.bias_constraint);
    f.refused("quantization_config");
  }

  // The three parts, with letters of their own for the axes of "...".
  Equation parse(int rank) const {
    std::string plain;
    for (const char c : equation) {
      if (!std::isspace(static_cast<unsigned char>(c))) plain += c;
    }
    const size_t comma = plain.find(',');
    const size_t arrow = plain.find("->");
    require(comma != std::string::npos && arrow != std::string::npos && comma < arrow, name(),
            "expected an equation such as ab,bc->ac, got ", equation);
    Equation e{plain.substr(0, comma), plain.substr(comma + 1, arrow - comma - 1), plain.substr(arrow + 2)};
    const auto expand = [&](std::string& part, const std::string& letters) {
      if (const size_t dots = part.find("..."); dots != std::string::npos) part.replace(dots, 3, letters);
    };
    if (e.input.find("...") != std::string::npos) {
      const int hidden = rank - (static_cast<int>(e.input.size()) - 3);
      require(hidden >= 0 && hidden <= 26, name(), "the equation ", equation, " does not fit an input of ",
              rank, " axes");
      std::string letters;
      for (char c = 'A'; std::ssize(letters) < hidden; ++c) letters += c;
      expand(e.input, letters);
      expand(e.output, letters);
    }
    require(std::ssize(e.input) == rank, name(), "the equation ", equation, " does not fit an input of ",
            rank, " axes");
    return e;
  }
  // The size a letter stands for: the input's, or the last entries of output_shape.
  int64_t size_of(char letter, const Equation& e, const Tensor& x) const {
    const size_t in = e.input.find(letter);
    const size_t out = e.output.find(letter);
    if (out != std::string::npos) {
      const int64_t back = std::ssize(e.output) - static_cast<int64_t>(out);
      const int64_t at = std::ssize(output_shape) - back;
      if (at >= 0 && output_shape[static_cast<size_t>(at)] > 0) {
        const int64_t size = output_shape[static_cast<size_t>(at)];
        require(in == std::string::npos || x.dim(static_cast<int>(in)) == size, name(), "output_shape has ",
                size, " where the input has shape ", x.shape());
        return size;
      }
    }
    require(in != std::string::npos, name(), "output_shape must give the size of '", letter, "' in ",
            equation);
    return x.dim(static_cast<int>(in));
  }

  Tensor call(Scope& s, const Tensor& x) override {
    const Equation e = parse(x.rank());
    Ints kernel_shape;
    for (const char c : e.kernel) kernel_shape.push_back(size_of(c, e, x));
    Tensor y = einsum(e.text(), x,
                      s.weight("kernel", Shape(kernel_shape), o.kernel_initializer,
                               {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint}),
                      name());
    if (!o.bias_axes.empty()) {
      // As Keras shapes it: from the first axis with a bias on, 1 where there is none.
      Ints shape;
      for (const char c : e.output) {
        const bool with_bias = o.bias_axes.find(c) != std::string::npos;
        if (with_bias || !shape.empty()) shape.push_back(with_bias ? size_of(c, e, x) : 1);
      }
      require(!shape.empty(), name(), "expected bias_axes among the letters of the output ", e.output,
              ", got ", o.bias_axes);
      y = y + s.weight("bias", Shape(shape), o.bias_initializer,
                       {.regularizer = o.bias_regularizer, .constraint = o.bias_constraint});
    }
    return activate(o.activation, y);
  }
};

}  // namespace

Layer EinsumDense(std::string equation, Ints output_shape, const EinsumDenseOptions& options) {
  return own_layer(std::make_shared<EinsumDenseLayer>(std::move(equation), std::move(output_shape), options),
                   options);
}

std::span<const ClassDef> classes_einsum_dense() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "EinsumDense", "", make_default<EinsumDenseLayer>, {"equation", "output_shape"}}};
  return rows;
}

}  // namespace plimsoll
