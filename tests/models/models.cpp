#include "models/models.h"

#include "plimsoll/error.h"
#include "support/fill.h"

namespace plimsoll::models {

Tensor resnet50(Net& net, const Tensor& x);      // resnet50.cpp
Tensor mobilenet_v2(Net& net, const Tensor& x);  // line_models.cpp
Tensor unet(Net& net, const Tensor& x);
Tensor vgg16(Net& net, const Tensor& x);

namespace {

Tensor mlp10(Net& net, const Tensor& x) {
  return net.dense(net.dense(net.dense(x, 64, "relu"), 32, "relu"), 1);
}

Tensor mlp100(Net& net, const Tensor& x) { return net.dense(net.dense(x, 64, "relu"), 1); }

Tensor mnist(Net& net, const Tensor& x) {
  Tensor y = net.max_pool2d(net.conv2d(x, {.filters = 32, .activation = "relu"}));
  y = net.max_pool2d(net.conv2d(y, {.filters = 64, .activation = "relu"}));
  return net.dense(net.dropout(net.flatten(y), 0.5), 10);
}

Tensor conv_norm_pool(Net& net, const Tensor& x, int64_t filters) {
  return net.max_pool2d(net.batch_norm(net.conv2d(x, {.filters = filters, .activation = "relu"})));
}

Tensor cnn64bn(Net& net, const Tensor& x) {
  const Tensor y = conv_norm_pool(net, conv_norm_pool(net, conv_norm_pool(net, x, 32), 64), 128);
  return net.dense(net.dropout(net.dense(net.flatten(y), 128, "relu"), 0.5), 10);
}

Tensor cnn100(Net& net, const Tensor& x) {
  Tensor y = net.max_pool2d(net.conv2d(x, {.filters = 32, .activation = "relu"}));
  y = net.max_pool2d(net.conv2d(y, {.filters = 64, .activation = "relu"}));
  return net.dense(net.dense(net.flatten(y), 128, "relu"), 10);
}

Tensor text_lstm(Net& net, const Tensor& x, int64_t vocabulary, int64_t width) {
  return net.dense(net.lstm(net.embedding(x, vocabulary, width), width), 1);
}
Tensor lstm128(Net& net, const Tensor& x) { return text_lstm(net, x, 20000, 128); }

Tensor encoder(Net& net, const Tensor& x, int64_t heads) {
  const int64_t width = x.dim(-1);
  const Tensor y = net.layer_norm(x + net.self_attention(x, heads, width / heads));
  return net.layer_norm(y + net.dense(net.dense(y, 4 * width, "gelu"), width));
}

Tensor transformer(Net& net, const Tensor& x) {
  Tensor y = net.embedding(x, 8000, 256);
  for (int i = 0; i < 4; ++i) y = encoder(net, y, 8);
  return net.dense(mean(y, {1}), 10);
}

Tensor lstm512(Net& net, const Tensor& x) { return net.dense(net.lstm(net.lstm_sequence(x, 512), 512), 10); }

Tensor bert(Net& net, const Tensor& x) {
  Tensor y = net.embedding(x, 30522, 768);
  for (int i = 0; i < 12; ++i) y = encoder(net, y, 12);
  return net.dense(mean(y, {1}), 10);
}

Tensor small_cnn(Net& net, const Tensor& x) {
  const Tensor y = conv_norm_pool(net, conv_norm_pool(net, x, 8), 16);
  return net.dense(net.flatten(y), 10);
}

Tensor small_lstm(Net& net, const Tensor& x) { return text_lstm(net, x, 50, 16); }

Tensor small_transformer(Net& net, const Tensor& x) {
  return net.dense(mean(encoder(net, net.embedding(x, 50, 32), 4), {1}), 10);
}

constexpr int kBenchModels = 8, kParityModels = 4, kLineModels = 4;

std::span<const Model> all_models() {
  static const Model models[] = {
      {"mlp10_b32", {10}, 32, 1, 0, mlp10},
      {"mlp100_b32", {100}, 32, 1, 0, mlp100},
      {"mnist_b128", {28, 28, 1}, 128, 10, 0, mnist},
      {"cnn64bn_b32", {64, 64, 3}, 32, 10, 0, cnn64bn},
      {"cnn100_b512", {100, 100, 3}, 512, 10, 0, cnn100},
      {"resnet50_b8", {224, 224, 3}, 8, 10, 0, resnet50},
      {"lstm_b32", {80}, 32, 1, 8000, lstm128},
      {"transformer_b16", {128}, 16, 10, 8000, transformer},
      {"parity_mlp", {10}, 32, 1, 0, mlp10},
      {"parity_cnn", {14, 14, 3}, 16, 10, 0, small_cnn},
      {"parity_lstm", {12}, 16, 1, 50, small_lstm},
      {"parity_transformer", {12}, 16, 10, 50, small_transformer},
      {"mobilenetv2_b16", {224, 224, 3}, 16, 10, 0, mobilenet_v2},
      {"unet_b4", {128, 128, 3}, 4, 10, 0, unet},
      {"vgg16_b16", {112, 112, 3}, 16, 10, 0, vgg16},
      {"bert_b4", {128}, 4, 10, 30522, bert},
      {"mlp10_b1", {10}, 1, 1, 0, mlp10},
      {"resnet50_b1", {224, 224, 3}, 1, 10, 0, resnet50},
      {"resnet50_b256", {224, 224, 3}, 256, 10, 0, resnet50},
      {"lstm512_b64", {100, 128}, 64, 10, 0, lstm512},
      {"bert_b32", {128}, 32, 10, 30522, bert},
  };
  return models;
}

Tensor logits_of(const Model& model, Net& net, int64_t batch) {
  Shape shape = model.sample.inserted(0, batch);
  const Tensor x = net.graph().input("x", model.vocabulary > 0 ? DType::i32 : DType::f32, shape);
  return model.logits(net, model.vocabulary > 0 ? x : cast(x, net.precision().compute));
}

}  // namespace

std::span<const Model> bench_models() { return all_models().first(kBenchModels); }
std::span<const Model> parity_models() { return all_models().subspan(kBenchModels, kParityModels); }
std::span<const Model> device_models() {
  return all_models().subspan(kBenchModels + kParityModels + kLineModels);
}

const Model& get_model(std::string_view name) {
  for (const Model& model : all_models()) {
    if (model.name == name) return model;
  }
  fail(ErrorKind::not_found, "models", "there is no model \"", name, "\"");
}

Graph train_graph(const Model& model, Weights& weights, int64_t batch, Precision precision) {
  Graph graph;
  Net net(graph, weights, true, precision);
  const Tensor logits = cast(logits_of(model, net, batch), DType::f32);
  graph.set_layer("loss");
  Tensor loss;
  if (model.classes == 1) {
    loss = mean(sigmoid_cross_entropy(logits, graph.input("y", DType::f32, {batch, 1})));
  } else {
    loss = mean(sparse_softmax_cross_entropy(logits, graph.input("y", DType::i32, {batch})));
  }
  net.adam(loss);
  graph.output("loss", loss);
  return graph;
}

Graph predict_graph(const Model& model, Weights& weights, int64_t batch, Precision precision) {
  Graph graph;
  Net net(graph, weights, false, precision);
  const Tensor logits = logits_of(model, net, batch);
  graph.output("p", model.classes == 1 ? sigmoid(logits) : softmax(logits));
  return graph;
}

std::vector<Tensor> sample_batch(const Model& model, int64_t batch, uint64_t seed) {
  const Shape shape = model.sample.inserted(0, batch);
  const bool tokens = model.vocabulary > 0;
  const Tensor x = tokens
                       ? testing::fill(DType::i32, shape, 0, static_cast<double>(model.vocabulary - 1), seed)
                       : testing::fill(DType::f32, shape, 0, 1, seed);
  const Tensor y = model.classes == 1 ? testing::fill(DType::i32, {batch, 1}, 0, 1, seed + 1)
                                      : testing::fill(DType::i32, {batch}, 0,
                                                      static_cast<double>(model.classes - 1), seed + 1);
  if (model.classes > 1) return {x, y};
  const Tensor targets = Tensor::empty(DType::f32, y.shape());
  for (int64_t i = 0; i < batch; ++i) testing::set_element(targets, i, testing::element(y, i));
  return {x, targets};
}

}  // namespace plimsoll::models
