// GroupQueryAttention: several query heads share one head of keys and values.
#include "layers/base/attention.h"
#include "plimsoll/layers/attention.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct GroupedLayer final : LayerBase {
  explicit GroupedLayer(int64_t head_dim = 1, int64_t num_query_heads = 1, int64_t num_key_value_heads = 1,
                        GroupQueryAttentionOptions options = {})
      : head_dim(head_dim),
        num_query_heads(num_query_heads),
        num_key_value_heads(num_key_value_heads),
        o(std::move(options)) {}
  int64_t head_dim, num_query_heads, num_key_value_heads;
  GroupQueryAttentionOptions o;

  std::string_view class_name() const override { return "GroupQueryAttention"; }
  void fields(Fields& f) override {
    f("head_dim", head_dim);
    f("num_query_heads", num_query_heads);
    f("num_key_value_heads", num_key_value_heads);
    f("use_bias", o.use_bias);
    f("use_gate", o.use_gate);
    f("sliding_window", o.sliding_window);
    f("dropout", o.dropout);
    projection_fields(f, o);
  }

  void check(const Tensor& query, const Tensor& value, const Tensor& key) const {
    require(head_dim > 0 && num_key_value_heads > 0 && num_query_heads > 0 &&
                num_query_heads % num_key_value_heads == 0,
            name(), "expected num_query_heads (", num_query_heads, ") divisible by num_key_value_heads (",
            num_key_value_heads, "), and head_dim (", head_dim, ") > 0");
    require(o.sliding_window.value_or(1) > 0, name(), "expected sliding_window > 0, got ",
            o.sliding_window.value_or(1));
    require(o.dropout >= 0 && o.dropout < 1, name(), "expected dropout of at least 0 and below 1, got ",
            o.dropout);
    require(query.rank() == 3 && value.rank() == 3 && key.rank() == 3, name(),
            "expected inputs (batch, positions, features), got ", query.shape(), ", ", value.shape(), " and ",
            key.shape());
    require(query.dim(2) == value.dim(2) && key.dim(1) == value.dim(1), name(),
            "expected query and value of as many features, key and value of as many positions, got ",
            query.shape(), ", ", value.shape(), " and ", key.shape());
  }

  // Each head of (batch, positions, heads, width) as often as queries share it.
  Tensor repeated(const Tensor& x) const {
    const int64_t times = num_query_heads / num_key_value_heads;
    if (times == 1) return x;
    const Shape wide{x.dim(0), x.dim(1), num_key_value_heads, times, head_dim};
    return reshape(broadcast_to(expand_dims(x, 3), wide),
                   Shape{x.dim(0), x.dim(1), num_query_heads, head_dim});
  }

  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    const AttentionCall in(s, xs);
    check(in.query, in.value, in.key);
    const auto project = [&](std::string_view part, const Tensor& x, int64_t heads) {
      return attention_project(s, part, x, 1, {heads, head_dim}, o);
    };
    AttentionHeads h;
    h.query = project("_query_dense", in.query, num_query_heads);
    h.key = repeated(project("_key_dense", in.key, num_key_value_heads));
    const Tensor gate = o.use_gate ? project("_gate_dense", in.query, num_query_heads) : Tensor();
    h.value = repeated(project("_value_dense", in.value, num_key_value_heads));
    constexpr std::string_view kGenerator = "_dropout_layer/seed_generator";
    if (o.dropout > 0) s.add_seed_generator(o.seed, kGenerator);

    auto [y, scores] = attend(s, in, h, {1}, o.sliding_window, {o.dropout, o.seed, kGenerator});
    if (gate.defined()) y = y * gate;
    y = attention_project(s, "_output_dense", y, 2, {in.query.dim(2)}, o);
    s.set_mask(y, in.query_mask);
    if (in.wants_scores) return {y, scores};
    return {y};
  }
};

}  // namespace

Layer GroupQueryAttention(int64_t head_dim, int64_t num_query_heads, int64_t num_key_value_heads,
                          const GroupQueryAttentionOptions& options) {
  return own_layer(std::make_shared<GroupedLayer>(head_dim, num_query_heads, num_key_value_heads, options),
                   options);
}

std::span<const ClassDef> classes_grouped_query_attention() {
  static constexpr ClassDef rows[] = {{Family::layer,
                                       "GroupQueryAttention",
                                       "",
                                       make_default<GroupedLayer>,
                                       {"head_dim", "num_query_heads", "num_key_value_heads"}}};
  return rows;
}

}  // namespace plimsoll
