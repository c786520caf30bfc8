// MultiHeadAttention.
#include <cmath>

#include "layers/base/attention.h"
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/attention.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct AttentionLayer final : LayerBase {
  explicit AttentionLayer(int64_t num_heads = 1, int64_t key_dim = 1, MultiHeadAttentionOptions options = {})
      : num_heads(num_heads), key_dim(key_dim), o(std::move(options)) {}
  int64_t num_heads, key_dim;
  MultiHeadAttentionOptions o;

  std::string_view class_name() const override { return "MultiHeadAttention"; }
  void fields(Fields& f) override {
    f("num_heads", num_heads);
    f("key_dim", key_dim);
    if (!f.reading()) o.value_dim = o.value_dim.value_or(key_dim);
    f("value_dim", o.value_dim);
    f("dropout", o.dropout);
    f("use_bias", o.use_bias);
    f("use_gate", o.use_gate);
    f("output_shape", o.output_shape);
    f("attention_axes", o.attention_axes);
    f("sliding_window", o.sliding_window);
    f("kernel_initializer", o.kernel_initializer);
    f("bias_initializer", o.bias_initializer);
    f("kernel_regularizer", o.kernel_regularizer);
    f("bias_regularizer", o.bias_regularizer);
    f("activity_regularizer", o.activity_regularizer);
    f("kernel_constraint", o.kernel_constraint);
    f("bias_constraint", o.bias_constraint);
    f("seed", o.seed);
  }

  Tensor project(Scope& s, std::string_view part, const Tensor& x, int bound, const Ints& made) const {
    return attention_project(s, part, x, bound, made, o);
  }

  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    require(!xs.empty() && xs.size() <= 3, name(), "expected query, value and perhaps key, got ", xs.size(),
            " inputs");
    const Tensor& query = xs[0];
    const Tensor value = xs.size() > 1 ? xs[1] : s.argument("value");
    require(value.defined(), name(), "expected a value beside the query");
    const Tensor named_key = xs.size() > 2 ? xs[2] : s.argument("key");
    const Tensor key = named_key.defined() ? named_key : value;
    require(num_heads > 0 && key_dim > 0 && o.value_dim.value_or(1) > 0, name(),
            "expected num_heads and widths > 0");
    require(o.dropout >= 0 && o.dropout < 1, name(), "expected dropout of at least 0 and below 1, got ",
            o.dropout);
    require(query.rank() >= 3 && value.rank() == query.rank() && key.rank() == query.rank(), name(),
            "expected inputs (batch, positions..., features) of as many axes, got ", query.shape(), ", ",
            value.shape(), " and ", key.shape());
    for (int i = 0; i < key.rank() - 1; ++i) {
      require(key.dim(i) == value.dim(i), name(), "expected key and value alike but for features, got ",
              key.shape(), " and ", value.shape());
    }
    const bool wants_scores = attention_flag(s, "return_attention_scores");
    const bool causal = attention_flag(s, "use_causal_mask");
    const Tensor key_mask = named_key.defined() ? s.mask(key) : Tensor();
    const Tensor query_mask = s.mask(query);

    const int64_t width = o.value_dim.value_or(key_dim);
    AttentionHeads h;
    h.query = project(s, "query_dense", query, 1, {num_heads, key_dim});
    h.key = project(s, "key_dense", key, 1, {num_heads, key_dim});
    const Tensor gate = o.use_gate ? project(s, "gate_dense", query, 1, {num_heads, width}) : Tensor();
    h.value = project(s, "value_dense", value, 1, {num_heads, width});
    if (o.dropout > 0) s.add_seed_generator(o.seed, "dropout_layer/seed_generator");

    Ints axes;
    for (const int64_t axis : o.attention_axes) axes.push_back(normalize_axis(axis, query.rank(), name()));
    for (int i = 1; i < query.rank() - 1 && o.attention_axes.empty(); ++i) axes.push_back(i);
    const double scale = 1.0 / std::sqrt(static_cast<double>(key_dim));
    const bool simple = o.dropout == 0 && !wants_scores && h.query.rank() == 4;
    const Tensor others = attention_visible(s, {query, value, key_mask}, causal && !simple, o.sliding_window);
    Tensor y, scores;
    if (simple) {
      y = attend(h, others, causal, scale);
    } else {
      std::tie(y, scores) =
          attend_widely(s, h, axes, others, scale, {o.dropout, o.seed, "dropout_layer/seed_generator"});
    }
    if (gate.defined()) y = y * gate;
    y = project(s, "output_dense", y, 2, o.output_shape.empty() ? Ints{query.dim(-1)} : o.output_shape);
    s.set_mask(y, query_mask);
    if (wants_scores) return {y, scores};
    return {y};
  }
};

}  // namespace

Layer MultiHeadAttention(int64_t num_heads, int64_t key_dim, const MultiHeadAttentionOptions& options) {
  return own_layer(std::make_shared<AttentionLayer>(num_heads, key_dim, options), options.name);
}

std::span<const ClassDef> classes_multi_head_attention() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "MultiHeadAttention", "", make_default<AttentionLayer>, {"num_heads", "key_dim"}}};
  return rows;
}

}  // namespace plimsoll
