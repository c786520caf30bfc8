// MultiHeadAttention.
#include "layers/base/attention.h"
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/attention.h"

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
    projection_fields(f, o);
  }

  Tensor project(Scope& s, std::string_view part, const Tensor& x, int bound, const Ints& made) const {
    return attention_project(s, part, x, bound, made, o);
  }

  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    const AttentionCall in(s, xs);
    const Tensor &query = in.query, &value = in.value, &key = in.key;
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
    const int64_t width = o.value_dim.value_or(key_dim);
    AttentionHeads h;
    h.query = project(s, "query_dense", query, 1, {num_heads, key_dim});
    h.key = project(s, "key_dense", key, 1, {num_heads, key_dim});
    const Tensor gate = o.use_gate ? project(s, "gate_dense", query, 1, {num_heads, width}) : Tensor();
    h.value = project(s, "value_dense", value, 1, {num_heads, width});
    constexpr std::string_view kGenerator = "dropout_layer/seed_generator";
    if (o.dropout > 0) s.add_seed_generator(o.seed, kGenerator);

    Ints axes;
    for (const int64_t axis : o.attention_axes) axes.push_back(normalize_axis(axis, query.rank(), name()));
    for (int i = 1; i < query.rank() - 1 && o.attention_axes.empty(); ++i) axes.push_back(i);
    auto [y, scores] = attend(s, in, h, axes, o.sliding_window, {o.dropout, o.seed, kGenerator});
    if (gate.defined()) y = y * gate;
    y = project(s, "output_dense", y, 2, o.output_shape.empty() ? Ints{query.dim(-1)} : o.output_shape);
    s.set_mask(y, in.query_mask);
    if (in.wants_scores) return {y, scores};
    return {y};
  }
};

}  // namespace

Layer MultiHeadAttention(int64_t num_heads, int64_t key_dim, const MultiHeadAttentionOptions& options) {
  return own_layer(std::make_shared<AttentionLayer>(num_heads, key_dim, options), options);
}

std::span<const ClassDef> classes_multi_head_attention() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "MultiHeadAttention", "", make_default<AttentionLayer>, {"num_heads", "key_dim"}}};
  return rows;
}

}  // namespace plimsoll
