// Attention and AdditiveAttention: one head, nothing projected. attention({query, value}) or
// attention({query, value, key}).
#include "layers/base/attention.h"
#include "layers/base/trace.h"
#include "plimsoll/layers/attention.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// The one that the call was given for x, its i-th input; if it was given none, the one that x carries.
Tensor mask_of(const Scope& s, size_t i, const Tensor& x) {
  Arguments given;
  for (const Tensor& mask : s.arguments("mask")) given.tensors.emplace_back("mask", mask);
  for (size_t k = 0; k < 3; ++k) {
    const std::string own = concat("mask[", k, "]");
    if (const Tensor mask = s.argument(own); mask.defined()) given.tensors.emplace_back(own, mask);
  }
  return given.tensors.empty() ? s.mask(x) : given_mask(given, i);
}

struct PlainAttention : LayerBase {
  explicit PlainAttention(AttentionOptions options) : o(std::move(options)) {}
  AttentionOptions o;

  void fields(Fields& f) override {
    f("use_scale", o.use_scale);
    f("dropout", o.dropout);
    f("seed", o.seed);
  }
  // (batch, queries, keys)
  virtual Tensor scores(Scope& s, const Tensor& query, const Tensor& key) = 0;

  static Tensor pair_sums(const Tensor& query, const Tensor& key) {
    return expand_dims(query, -2) + expand_dims(key, -3);
  }

  // Where a query may look; undefined: everywhere.
  static Tensor visible(const Tensor& scores, const Tensor& value_mask, bool causal) {
    Tensor seen = value_mask.defined() ? expand_dims(value_mask, -2) : Tensor();
    if (!causal) return seen;
    const Shape shape{1, scores.dim(-2), scores.dim(-1)};
    const Tensor before = greater_equal(iota(DType::i32, shape, 1), iota(DType::i32, shape, 2));
    return seen.defined() ? bitwise_and(seen, before) : before;
  }

  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    require(xs.size() == 2 || xs.size() == 3, name(), "expected {query, value} or {query, value, key}, got ",
            xs.size(), " inputs");
    const Tensor &query = xs[0], &value = xs[1], &key = xs.back();
    require(query.rank() == 3 && value.rank() == 3 && key.rank() == 3, name(),
            "expected inputs (batch, positions, features), got ", query.shape(), ", ", value.shape(), " and ",
            key.shape());
    require(query.dim(-1) == key.dim(-1) && key.dim(1) == value.dim(1), name(),
            "expected query and key of as many features, key and value of as many positions, got ",
            query.shape(), ", ", value.shape(), " and ", key.shape());
    require(o.dropout >= 0 && o.dropout < 1, name(), "expected dropout of at least 0 and below 1, got ",
            o.dropout);
    const Tensor query_mask = mask_of(s, 0, query);
    Tensor found = scores(s, query, key);
    const Tensor seen = visible(found, mask_of(s, 1, value), attention_flag(s, "use_causal_mask"));
    // Keras takes a large number off, so that a row with nothing to look at keeps its proportions.
    const double far = found.dtype() == DType::f16 ? 65504.0 : 1e9;
    if (seen.defined()) found = where(seen, found, found - far);
    const Tensor weights = softmax(found);
    Tensor used = weights;
    if (o.dropout > 0) {
      s.add_seed_generator(o.seed);
      if (s.training()) used = dropout(weights, s.random_key(o.seed), o.dropout);
    }
    Tensor y = matmul(used, value);
    if (query_mask.defined()) y = where(expand_dims(query_mask, -1), y, scalar_like(y, 0));
    s.set_mask(y, query_mask);
    if (attention_flag(s, "return_attention_scores")) return {y, weights};
    return {y};
  }
};

struct DotAttentionLayer final : PlainAttention {
  explicit DotAttentionLayer(AttentionOptions options = {}) : PlainAttention(std::move(options)) {}
  std::string_view class_name() const override { return "Attention"; }
  void fields(Fields& f) override {
    f("use_scale", o.use_scale);
    f("score_mode", o.score_mode);
    f("dropout", o.dropout);
    f("seed", o.seed);
  }
  Tensor scores(Scope& s, const Tensor& query, const Tensor& key) override {
    check_choice(name(), "score_mode", o.score_mode, {"dot", "concat"});
    const Tensor scale = o.use_scale ? s.weight("scale", {}, "ones") : Tensor();
    if (o.score_mode == "dot") {
      const Tensor product = matmul(query, transpose(key, {0, 2, 1}));
      return scale.defined() ? product * scale : product;
    }
    const Tensor weight = s.weight("concat_score_weight", {}, "ones");
    const Tensor sums = pair_sums(query, key);
    return weight * sum(tanh(scale.defined() ? scale * sums : sums), {-1});
  }
};

struct AdditiveAttentionLayer final : PlainAttention {
  explicit AdditiveAttentionLayer(AdditiveAttentionOptions options = {})
      : PlainAttention({options.use_scale, "dot", options.dropout, options.seed, {}}) {}
  std::string_view class_name() const override { return "AdditiveAttention"; }
  Tensor scores(Scope& s, const Tensor& query, const Tensor& key) override {
    const Tensor bent = tanh(pair_sums(query, key));
    return sum(o.use_scale ? bent * s.weight("scale", {query.dim(-1)}, "glorot_uniform") : bent, {-1});
  }
};

}  // namespace

Layer Attention(const AttentionOptions& options) {
  return own_layer(std::make_shared<DotAttentionLayer>(options), options);
}
Layer AdditiveAttention(const AdditiveAttentionOptions& options) {
  return own_layer(std::make_shared<AdditiveAttentionLayer>(options), options);
}

std::span<const ClassDef> classes_attention() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Attention", "", make_default<DotAttentionLayer>},
      {Family::layer, "AdditiveAttention", "", make_default<AdditiveAttentionLayer>},
  };
  return rows;
}

}  // namespace plimsoll
