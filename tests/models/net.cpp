#include "models/net.h"

#include <cmath>

#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "support/fill.h"

namespace plimsoll::models {

const Tensor& Weights::keep(const std::string& name, Tensor storage) {
  return all_.emplace_back(Weight{name, std::move(storage)}).storage;
}

const Tensor* Weights::find(std::string_view name) const {
  for (const Weight& w : all_) {
    if (w.name == name) return &w.storage;
  }
  return nullptr;
}

const Tensor& Weights::uniform(const std::string& name, DType dtype, const Shape& shape, double limit) {
  if (const Tensor* known = find(name)) return *known;
  return keep(name,
              testing::fill(dtype, shape, -limit, limit, testing::hash_at(seed_, testing::hash_text(name))));
}

const Tensor& Weights::full(const std::string& name, DType dtype, const Shape& shape, double value) {
  if (const Tensor* known = find(name)) return *known;
  return keep(name, Tensor::full(dtype, shape, value));
}

std::string Net::begin(std::string_view kind) {
  std::string name(kind);
  bool known = false;
  for (auto& [seen, count] : counts_) {
    if (seen != kind) continue;
    name += concat('_', count++);
    known = true;
  }
  if (!known) counts_.emplace_back(std::string(kind), 1);
  graph_.set_layer(name);
  return name;
}

Tensor Net::glorot(const std::string& layer, const char* name, const Shape& shape, int64_t fan_in,
                   int64_t fan_out) {
  const std::string full = layer + "/" + name;
  const double limit = std::sqrt(6.0 / static_cast<double>(fan_in + fan_out));
  const Tensor w = graph_.variable(full, weights_.uniform(full, precision_.weights, shape, limit));
  trainable_.push_back({full, w});
  return cast(w, precision_.compute);
}

Tensor Net::kept_weight(const std::string& layer, const char* name, const Shape& shape, double value) {
  const std::string full = layer + "/" + name;
  const Tensor w = graph_.variable(full, weights_.full(full, precision_.weights, shape, value));
  trainable_.push_back({full, w});
  return w;
}

Tensor Net::constant_weight(const std::string& layer, const char* name, const Shape& shape, double value) {
  return cast(kept_weight(layer, name, shape, value), precision_.compute);
}

Tensor Net::state(const std::string& name, DType dtype, const Shape& shape, double value) {
  return graph_.variable(name, weights_.full(name, dtype, shape, value));
}

Tensor Net::step() { return state("adam/step", DType::i64, {}, 0); }

Tensor Net::project(const std::string& layer, const char* part, const Tensor& x, int64_t units,
                    std::string_view activation) {
  const std::string prefix = *part == 0 ? layer : layer + "/" + part;
  const Tensor kernel = glorot(prefix, "kernel", {x.dim(-1), units}, x.dim(-1), units);
  return plimsoll::dense(x, kernel, constant_weight(prefix, "bias", {units}, 0), activation);
}

Tensor Net::dense(const Tensor& x, int64_t units, std::string_view activation) {
  return project(begin("dense"), "", x, units, activation);
}

Tensor Net::conv2d(const Tensor& x, const Conv& c) {
  const std::string layer = begin("conv2d");
  const int64_t area = c.size * c.size;
  const Tensor kernel = glorot(layer, "kernel", {c.size, c.size, x.dim(-1) / c.groups, c.filters},
                               area * x.dim(-1) / c.groups, area * c.filters / c.groups);
  ConvOptions options;
  options.strides = {c.stride, c.stride};
  options.groups = c.groups;
  if (c.same) {
    const int64_t pad = (c.size - 1) / 2;
    options.pad_low = {pad, pad};
    options.pad_high = {pad, pad};
  }
  if (!c.bias) return conv(x, kernel, options);
  return conv_bias(x, kernel, constant_weight(layer, "bias", {c.filters}, 0), options, c.activation);
}

Tensor Net::max_pool2d(const Tensor& x, int64_t window, int64_t stride, int64_t pad) {
  begin("max_pooling2d");
  return max_pool(x, {.window = {window, window},
                      .strides = {stride, stride},
                      .pad_low = {pad, pad},
                      .pad_high = {pad, pad}});
}

Tensor Net::batch_norm(const Tensor& x, double epsilon) {
  const std::string layer = begin("batch_normalization");
  const Shape shape{x.dim(-1)};
  const Tensor gamma = kept_weight(layer, "gamma", shape, 1);
  const Tensor beta = kept_weight(layer, "beta", shape, 0);
  const Tensor moving_mean = state(layer + "/moving_mean", precision_.weights, shape, 0);
  const Tensor moving_variance = state(layer + "/moving_variance", precision_.weights, shape, 1);
  if (!training_) return batch_norm_inference(x, moving_mean, moving_variance, gamma, beta, epsilon);
  const std::vector<Tensor> out = plimsoll::batch_norm(x, gamma, beta, epsilon);
  graph_.update(moving_mean, moving_mean * 0.99 + out[1] * 0.01);
  graph_.update(moving_variance, moving_variance * 0.99 + out[2] * 0.01);
  return out[0];
}

Tensor Net::layer_norm(const Tensor& x, double epsilon) {
  const std::string layer = begin("layer_normalization");
  const Tensor gamma = kept_weight(layer, "gamma", {x.dim(-1)}, 1);
  return plimsoll::layer_norm(x, gamma, kept_weight(layer, "beta", {x.dim(-1)}, 0), epsilon);
}

Tensor Net::flatten(const Tensor& x) {
  begin("flatten");
  return reshape(x, Shape{x.dim(0), x.shape().elements() / x.dim(0)});
}

Tensor Net::dropout(const Tensor& x, double rate) {
  const std::string layer = begin("dropout");
  if (!training_) return x;
  const auto salt = static_cast<uint32_t>(testing::hash_text(layer));
  const std::vector<uint32_t> key = {salt, 2026u};
  return plimsoll::dropout(x, fold_in(Tensor::from<uint32_t>(key, {2}), step()), rate);
}

Tensor Net::embedding(const Tensor& indices, int64_t vocabulary, int64_t width) {
  const std::string layer = begin("embedding") + "/embeddings";
  const Tensor table =
      graph_.variable(layer, weights_.uniform(layer, precision_.weights, {vocabulary, width}, 0.05));
  trainable_.push_back({layer, table});
  return cast(plimsoll::embedding(table, indices), precision_.compute);
}

std::vector<Tensor> Net::lstm_outputs(const Tensor& x, int64_t units) {
  const std::string layer = begin("lstm");
  const Tensor kernel = glorot(layer, "kernel", {x.dim(-1), 4 * units}, x.dim(-1), 4 * units);
  const Tensor recurrent = glorot(layer, "recurrent_kernel", {units, 4 * units}, units, 4 * units);
  const Tensor bias = constant_weight(layer, "bias", {4 * units}, 0);
  const Tensor zero = graph_.constant(Tensor::zeros(precision_.compute, {x.dim(0), units}));
  return plimsoll::lstm(x, zero, zero, kernel, recurrent, bias);
}
Tensor Net::lstm(const Tensor& x, int64_t units) { return lstm_outputs(x, units)[1]; }
Tensor Net::lstm_sequence(const Tensor& x, int64_t units) { return lstm_outputs(x, units)[0]; }

Tensor Net::self_attention(const Tensor& x, int64_t heads, int64_t width) {
  const std::string layer = begin("multi_head_attention");
  const Shape split{x.dim(0), x.dim(1), heads, width};
  const Tensor q = reshape(project(layer, "query", x, heads * width, "linear"), split);
  const Tensor k = reshape(project(layer, "key", x, heads * width, "linear"), split);
  const Tensor v = reshape(project(layer, "value", x, heads * width, "linear"), split);
  const Tensor mixed = attention(q, k, v, {}, 1.0 / std::sqrt(static_cast<double>(width)));
  const Tensor joined = reshape(mixed, Shape{x.dim(0), x.dim(1), heads * width});
  return project(layer, "output", joined, x.dim(-1), "linear");
}

void Net::adam(const Tensor& loss, double learning_rate) {
  graph_.set_layer("adam");
  std::vector<Tensor> ws;
  for (const Trainable& t : trainable_) ws.push_back(t.variable);
  const std::vector<Tensor> gs = gradients(loss, ws);
  const Tensor rate = state("adam/learning_rate", DType::f32, {}, learning_rate);
  const Tensor now = step();
  for (size_t i = 0; i < ws.size(); ++i) {
    const std::string& name = trainable_[i].name;
    const Tensor m = state("adam/m/" + name, precision_.weights, ws[i].shape(), 0);
    const Tensor v = state("adam/v/" + name, precision_.weights, ws[i].shape(), 0);
    const std::vector<Tensor> next = adam_update(ws[i], gs[i], m, v, rate, now);
    graph_.update(ws[i], next[0]);
    graph_.update(m, next[1]);
    graph_.update(v, next[2]);
  }
  graph_.update(now, add(now, scalar_like(now, 1)));
}

}  // namespace plimsoll::models
