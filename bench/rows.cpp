#include "rows.h"

#include <memory>
#include <span>

#include "models/models.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/contents.h"
#include "plimsoll/devices.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"
#include "support/fill.h"

namespace plimsoll::bench {
namespace {

using testing::fill;

// Where a row runs.
struct On {
  int threads;
  std::string_view device;
  int64_t memory = -1;

  CompileOptions options() const {
    CompileOptions options;
    options.threads = threads;
    options.device = find_device(device);
    options.memory = memory;
    options.micro_batch = memory >= 0;
    return options;
  }
};

// The same tensors with their bytes on the device, as what a program there has made: a run copies nothing.
std::vector<Tensor> moved(const std::vector<Tensor>& tensors, const CompileOptions& options) {
  Graph graph;
  for (const Tensor& t : tensors) graph.output("", graph.input("", t.dtype(), t.shape()));
  return Program::compile(graph, options)(tensors);
}

// A program with its inputs and outputs, made once; run() then allocates nothing.
struct Ready {
  models::Weights weights;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::unique_ptr<Program> program;

  void compile(const Graph& graph, const On& on) {
    const CompileOptions options = on.options();
    if (options.device) inputs = moved(inputs, On{on.threads, on.device}.options());
    program = std::make_unique<Program>(Program::compile(graph, options));
    outputs.resize(graph.outputs().size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const TensorType& type = graph.type(graph.outputs()[i].value);
      outputs[i] = Tensor::empty(type.dtype, type.shape);
    }
  }
  // Waits for the device where there is one.
  void finish() const { (void)read_bytes(outputs[0]); }
};

// waits: the answer is read after every run, as one who asks for one prediction does.
Round round_of(std::shared_ptr<Ready> ready, int64_t count, bool waits = false) {
  Round round;
  round.count = count;
  round.run = [ready, count, waits] {
    for (int64_t i = 0; i < count; ++i) {
      ready->program->run(ready->inputs, ready->outputs);
      if (waits) ready->finish();
    }
    ready->finish();
  };
  round.profile = [ready](int runs) { return ready->program->profile(ready->inputs, runs); };
  round.text = [ready] { return ready->program->text(); };
  return round;
}

int64_t steps_per_round(const models::Model& model) {
  if (model.name.starts_with("mlp")) return 1000;
  if (model.name.starts_with("mnist")) return 20;
  if (model.name.starts_with("cnn64")) return 8;
  if (model.name.starts_with("lstm")) return 8;
  if (model.name.starts_with("transformer")) return 3;
  if (model.name.starts_with("bert") || model.name == "resnet50_b1") return 20;
  if (model.name == "resnet50_b256") return 3;
  return 1;
}

// In halves: a step under the policy mixed_bfloat16, a forward pass under bfloat16.
Round model_row(const models::Model& model, bool predict, bool halves, const On& on) {
  auto ready = std::make_shared<Ready>();
  ready->inputs = models::sample_batch(model, model.batch);
  if (predict) ready->inputs.pop_back();
  const models::Precision precision = !halves   ? models::Precision{}
                                      : predict ? models::kBf16
                                                : models::kMixedBf16;
  ready->compile(predict ? models::predict_graph(model, ready->weights, model.batch, precision)
                         : models::train_graph(model, ready->weights, model.batch, precision),
                 on);
  return round_of(ready, steps_per_round(model), predict && model.batch == 1);
}

Tensor add_input(Graph& graph, Ready& ready, const Tensor& value) {
  ready.inputs.push_back(value);
  return graph.input(concat("in", ready.inputs.size()), value.dtype(), value.shape());
}

Round op_row(int64_t count, const On& on, Tensor (*build)(Graph&, Ready&)) {
  auto ready = std::make_shared<Ready>();
  Graph graph;
  graph.output("out", build(graph, *ready));
  ready->compile(graph, on);
  return round_of(ready, count);
}

template <DType kType>
Tensor matmul_1024(Graph& graph, Ready& ready) {
  const Tensor a = add_input(graph, ready, fill(kType, {1024, 1024}, 0, 1, 1));
  return matmul(a, add_input(graph, ready, fill(kType, {1024, 1024}, 0, 1, 2)));
}

Tensor eltwise_chain8(Graph& graph, Ready& ready) {
  const Tensor x = add_input(graph, ready, fill(DType::f32, {1 << 24}, 0, 1, 1));
  const Tensor y = add_input(graph, ready, fill(DType::f32, {1 << 24}, 0, 1, 2));
  return tanh(exp(-absolute((x * y + x) * 0.5 - y)));
}

// The loss and its gradient, as a training step needs them.
Tensor softmax_xent(Graph& graph, Ready& ready) {
  const Tensor logits = add_input(graph, ready, fill(DType::f32, {4096, 1000}, -3, 3, 1));
  const Tensor labels = add_input(graph, ready, fill(DType::i32, {4096}, 0, 999, 2));
  const Tensor loss = mean(sparse_softmax_cross_entropy(logits, labels));
  graph.output("loss", loss);
  return gradients(loss, std::span(&logits, 1))[0];
}

Tensor layernorm(Graph& graph, Ready& ready) {
  const Tensor x = add_input(graph, ready, fill(DType::f32, {4096, 768}, -3, 3, 1));
  const Tensor gamma = add_input(graph, ready, fill(DType::f32, {768}, 0, 1, 2));
  return layer_norm(x, gamma, add_input(graph, ready, fill(DType::f32, {768}, 0, 1, 3)), 1e-3);
}

Round eager_add8() {
  Round round;
  const Tensor a = fill(DType::f32, {8}, 0, 1, 1);
  const Tensor b = fill(DType::f32, {8}, 0, 1, 2);
  round.count = 20000;
  round.scale = 1e6;
  round.run = [a, b, count = round.count] {
    for (int64_t i = 0; i < count; ++i) add(a, b);
  };
  return round;
}

// From graph to ready Program; the graph itself, gradients included, is built once.
Round compile_resnet50(int threads) {
  struct Source {
    models::Weights weights;
    Graph graph;
  };
  auto source = std::make_shared<Source>();
  const models::Model& model = models::get_model("resnet50_b8");
  source->graph = models::train_graph(model, source->weights, model.batch);
  Round round;
  round.scale = 1;
  round.run = [source, threads] {
    CompileOptions options;
    options.threads = threads;
    Program::compile(source->graph, options);
  };
  return round;
}

constexpr std::string_view kPredict = "_predict", kHalves = "_bf16";
constexpr std::string_view kOpRows[] = {
    "matmul_1024",        "matmul_1024_bf16", "eltwise_chain8_16m", "softmax_xent_4096x1000",
    "layernorm_4096x768", "eager_add8",       "compile_resnet50"};

std::vector<std::string> rows_of(std::span<const models::Model> models) {
  std::vector<std::string> names;
  for (const models::Model& model : models) {
    for (const std::string_view halves : {std::string_view(), kHalves}) {
      names.push_back(concat(model.name, halves));
      names.push_back(concat(model.name, halves, kPredict));
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> device_row_names() { return rows_of(models::device_models()); }

std::vector<std::string> row_names() {
  std::vector<std::string> names = rows_of(models::bench_models());
  const std::vector<std::string> fits = fit_row_names();
  names.insert(names.end(), fits.begin(), fits.end());
  names.insert(names.end(), std::begin(kOpRows), std::end(kOpRows));
  return names;
}

std::string_view unit_of(std::string_view row) {
  if (row == "eager_add8") return "us";
  return row == "compile_resnet50" ? "s" : "ms";
}

Round make_row(std::string_view row, int threads, std::string_view device, int64_t memory) {
  const On on{threads, device, memory};
  if (row == "matmul_1024") return op_row(20, on, matmul_1024<DType::f32>);
  if (row == "matmul_1024_bf16") return op_row(20, on, matmul_1024<DType::bf16>);
  if (row == "eltwise_chain8_16m") return op_row(1, on, eltwise_chain8);
  if (row == "softmax_xent_4096x1000") return op_row(10, on, softmax_xent);
  if (row == "layernorm_4096x768") return op_row(20, on, layernorm);
  if (row == "eager_add8") return eager_add8();
  if (row == "compile_resnet50") return compile_resnet50(threads);
  if (is_fit_row(row)) return make_fit_row(row, threads, device);
  const auto ends_with = [&](std::string_view suffix) {
    const bool has = row.ends_with(suffix);
    if (has) row.remove_suffix(suffix.size());
    return has;
  };
  const bool predict = ends_with(kPredict);
  const bool halves = ends_with(kHalves);
  return model_row(models::get_model(row), predict, halves, on);
}

}  // namespace plimsoll::bench
