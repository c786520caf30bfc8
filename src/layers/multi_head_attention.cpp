// MultiHeadAttention.
#include <cmath>

#include "layers/base/einsum.h"
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

std::string letters(char from, int count) {
  std::string s;
  for (int i = 0; i < count; ++i) s += static_cast<char>(from + i);
  return s;
}

bool flag(const Scope& s, std::string_view name) {
  const Attr* given = s.constant(name);
  const bool* on = given == nullptr ? nullptr : std::get_if<bool>(given);
  return on != nullptr && *on;
}

// Far below every score, and finite: a row with nothing to look at becomes an average.
double low_score(DType dtype) { return dtype == DType::f16 ? -3e4 : -1e30; }

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

  // A projection, as Keras's inner EinsumDense: the last `bound` axes of x to `made`.
  Tensor project(Scope& s, std::string_view part, const Tensor& x, int bound, const Ints& made) const {
    const int free = x.rank() - bound;
    const std::string kept = letters('a', free);
    const std::string summed = letters('k', bound);
    const std::string added = letters('p', static_cast<int>(made.size()));
    Ints kernel_shape(x.shape().end() - bound, x.shape().end());
    kernel_shape.insert(kernel_shape.end(), made.begin(), made.end());
    Tensor y = einsum(kept + summed + "," + summed + added + "->" + kept + added, x,
                      s.weight(concat(part, "/kernel"), Shape(kernel_shape), o.kernel_initializer,
                               {.regularizer = o.kernel_regularizer, .constraint = o.kernel_constraint}),
                      name());
    y = with_bias(s, y, Shape(made), o, concat(part, "/bias"));
    if (part == "gate_dense") y = sigmoid(y);
    if (o.activity_regularizer) s.add_loss(o.activity_regularizer->loss(y) / static_cast<double>(y.dim(0)));
    return y;
  }

  // Positions as (1, queries, 1) and (1, 1, keys).
  static Tensor both_near(int64_t queries, int64_t keys, bool causal, const std::optional<int64_t>& window) {
    const Tensor row = iota(DType::i32, {1, queries, keys}, 1);
    const Tensor column = iota(DType::i32, {1, queries, keys}, 2);
    Tensor seen = causal ? greater_equal(row, column) : Tensor();
    if (window) {
      const Tensor near = less(absolute(row - column), scalar_like(row, double(*window)));
      seen = seen.defined() ? bitwise_and(seen, near) : near;
    }
    return seen;
  }
  // Where a query may look, broadcasting to (batch, queries, keys); undefined: everywhere.
  Tensor visible(Scope& s, const Tensor& query, const Tensor& value, const Tensor& key_mask,
                 bool causal) const {
    Tensor seen;
    const auto narrow = [&](const Tensor& mask) {
      if (mask.defined()) seen = seen.defined() ? bitwise_and(seen, mask) : mask;
    };
    if (const Tensor m = s.mask(query); m.defined()) narrow(expand_dims(m, -1));
    if (const Tensor m = s.mask(value); m.defined()) narrow(expand_dims(m, -2));
    if (key_mask.defined()) narrow(expand_dims(key_mask, -2));
    narrow(both_near(query.dim(1), value.dim(1), causal, o.sliding_window));
    if (const Tensor given = s.argument("attention_mask"); given.defined()) {
      narrow(given.dtype() == DType::boolean ? given : not_equal(given, scalar_like(given, 0)));
    }
    return seen;
  }

  struct Heads {
    Tensor query, key, value;  // (batch, positions..., heads, width)
  };

  // Any axes, with scores: {result, scores}.
  std::pair<Tensor, Tensor> attend_widely(Scope& s, const Heads& h, const Ints& axes, Tensor mask,
                                          double scale) const {
    const int rank = h.query.rank();
    const std::string target = letters('a', rank);
    std::string source = target, batch, target_axes, source_axes;
    char next = static_cast<char>('a' + rank);
    for (const int64_t axis : axes) source[static_cast<size_t>(axis)] = next++;
    for (int i = 0; i < rank - 1; ++i) {
      if (source[static_cast<size_t>(i)] == target[static_cast<size_t>(i)])
        batch += target[static_cast<size_t>(i)];
    }
    for (const int64_t axis : axes) {
      target_axes += target[static_cast<size_t>(axis)];
      source_axes += source[static_cast<size_t>(axis)];
    }
    const std::string product = batch + target_axes + source_axes;
    Tensor scores = einsum(source + "," + target + "->" + product, h.key, h.query * scale, name());
    if (mask.defined()) {
      const int at = -2 * static_cast<int>(axes.size()) - 1;
      while (mask.rank() < scores.rank()) mask = expand_dims(mask, at);
      scores = where(mask, scores, scalar_like(scores, low_score(scores.dtype())));
    }
    Ints over;
    for (size_t i = 0; i < axes.size(); ++i) over.push_back(-1 - static_cast<int64_t>(i));
    const Tensor e = exp(scores - max(scores, over, true));
    Tensor weights = e / sum(e, over, true);
    if (mask.defined()) weights = where(mask, weights, scalar_like(weights, 0));
    Tensor used = weights;
    if (o.dropout > 0 && s.training())
      used = dropout(weights, s.random_key(o.seed, "dropout_layer/seed_generator"), o.dropout);
    return {einsum(product + "," + source + "->" + target, used, h.value, name()), weights};
  }

  Tensor attend(const Heads& h, const Tensor& mask, bool causal, double scale) const {
    Tensor bias;
    if (mask.defined()) {
      Tensor seen = mask;
      while (seen.rank() < 4) seen = expand_dims(seen, -3);
      const Tensor zero = scalar_like(h.query, 0);
      bias = where(seen, zero, scalar_like(h.query, low_score(h.query.dtype())));
    }
    return attention(h.query, h.key, h.value, bias, scale, causal);
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
    const bool wants_scores = flag(s, "return_attention_scores");
    const bool causal = flag(s, "use_causal_mask");
    const Tensor key_mask = named_key.defined() ? s.mask(key) : Tensor();
    const Tensor query_mask = s.mask(query);

    const int64_t width = o.value_dim.value_or(key_dim);
    Heads h;
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
    const Tensor others = visible(s, query, value, key_mask, causal && !simple);
    Tensor y, scores;
    if (simple) {
      y = attend(h, others, causal, scale);
    } else {
      std::tie(y, scores) = attend_widely(s, h, axes, others, scale);
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
