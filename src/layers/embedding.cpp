// Embedding, Masking, Identity.
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/core.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct EmbeddingLayer : LayerBase {
  explicit EmbeddingLayer(int64_t input_dim = 1, int64_t output_dim = 1, EmbeddingOptions options = {})
      : input_dim(input_dim), output_dim(output_dim), o(std::move(options)) {
    set_activity_regularizer(std::move(o.activity_regularizer));
  }
  int64_t input_dim, output_dim;
  EmbeddingOptions o;

  std::string_view class_name() const override { return "Embedding"; }
  bool casts_inputs() const override { return false; }
  void fields(Fields& f) override {
    f("input_dim", input_dim);
    f("output_dim", output_dim);
    f("embeddings_initializer", o.embeddings_initializer);
    f("embeddings_regularizer", o.embeddings_regularizer);
    activity_field(f);
    f("embeddings_constraint", o.embeddings_constraint);
    f("mask_zero", o.mask_zero);
    f.refused("quantization_config");
  }
  Tensor table_of(Scope& s) const {
    require(input_dim > 0 && output_dim > 0, name(), "expected input_dim and output_dim > 0, got ", input_dim,
            " and ", output_dim);
    return s.weight("embeddings", {input_dim, output_dim}, o.embeddings_initializer,
                    {.regularizer = o.embeddings_regularizer,
                     .constraint = o.embeddings_constraint,
                     .dtype = variable_dtype()});
  }
  Tensor call(Scope& s, const Tensor& x) override {
    // Rows are cast, not the table: so its gradient is summed in its own dtype.
    const Tensor table = table_of(s);
    const Tensor ids = x.dtype() == DType::i32 || x.dtype() == DType::i64 ? x : cast(x, DType::i32);
    const Tensor y = cast(embedding(table, ids), s.compute_dtype());
    if (o.mask_zero) s.set_mask(y, not_equal(x, scalar_like(x, 0)));
    return y;
  }
};

struct ReversibleEmbeddingLayer final : EmbeddingLayer {
  explicit ReversibleEmbeddingLayer(int64_t input_dim = 1, int64_t output_dim = 1,
                                    const ReversibleEmbeddingOptions& options = {})
      : EmbeddingLayer(input_dim, output_dim,
                       {options.embeddings_initializer,
                        options.embeddings_regularizer,
                        {},
                        options.embeddings_constraint,
                        options.mask_zero,
                        {}}),
        tie_weights(options.tie_weights),
        logit_soft_cap(options.logit_soft_cap) {}
  bool tie_weights;
  std::optional<double> logit_soft_cap;
  std::string_view class_name() const override { return "ReversibleEmbedding"; }
  void fields(Fields& f) override {
    EmbeddingLayer::fields(f);
    f("tie_weights", tie_weights);
    f.refused("reverse_dtype");
    f("logit_soft_cap", logit_soft_cap);
  }
  Tensor call(Scope& s, const Tensor& x) override {
    const Tensor table = table_of(s);
    Tensor back;
    if (!tie_weights)
      back = s.weight("reverse_embeddings", {output_dim, input_dim}, o.embeddings_initializer);
    const Attr* given = s.constant("reverse");
    const bool* reverse = given == nullptr ? nullptr : std::get_if<bool>(given);
    if (reverse == nullptr || !*reverse) return EmbeddingLayer::call(s, x);
    const DType dtype = s.compute_dtype();
    require(is_float(x.dtype()) && x.rank() >= 1 && x.dim(-1) == output_dim, name(), "expected vectors of ",
            output_dim, " numbers to turn back, got ", x.type());
    Tensor logits = matmul(cast(x, dtype), cast(tie_weights ? transpose(table, {1, 0}) : back, dtype));
    if (logit_soft_cap) logits = tanh(logits / *logit_soft_cap) * *logit_soft_cap;
    return logits;
  }
};

struct MaskingLayer final : LayerBase {
  explicit MaskingLayer(double value = 0) : mask_value(value) {}
  double mask_value;
  std::string_view class_name() const override { return "Masking"; }
  void fields(Fields& f) override { f("mask_value", mask_value); }
  Tensor call(Scope& s, const Tensor& x) override {
    require(x.rank() >= 2, name(), "expected an input (batch, time, features...), got shape ", x.shape());
    const Tensor kept = any(not_equal(x, scalar_like(x, mask_value)), {-1}, true);
    const Tensor y = where(kept, x, scalar_like(x, 0));
    s.set_mask(y, squeeze(kept, -1));
    return y;
  }
};

struct IdentityLayer final : LayerBase {
  std::string_view class_name() const override { return "Identity"; }
  bool passes_mask() const override { return true; }
  Tensor call(Scope&, const Tensor& x) override { return x; }
};

}  // namespace

Layer Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& options) {
  return own_layer(std::make_shared<EmbeddingLayer>(input_dim, output_dim, options), options);
}
Layer ReversibleEmbedding(int64_t input_dim, int64_t output_dim, const ReversibleEmbeddingOptions& options) {
  return own_layer(std::make_shared<ReversibleEmbeddingLayer>(input_dim, output_dim, options), options);
}
Layer Masking(double mask_value, const NameOptions& options) {
  return own_layer(std::make_shared<MaskingLayer>(mask_value), options);
}
Layer Identity(const NameOptions& options) { return own_layer(std::make_shared<IdentityLayer>(), options); }

std::span<const ClassDef> classes_embedding() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Embedding", "", make_default<EmbeddingLayer>, {"input_dim", "output_dim"}},
      {Family::layer,
       "ReversibleEmbedding",
       "",
       make_default<ReversibleEmbeddingLayer>,
       {"input_dim", "output_dim"}},
      {Family::layer, "Masking", "", make_default<MaskingLayer>},
      {Family::layer, "Identity", "", make_default<IdentityLayer>},
  };
  return rows;
}

}  // namespace plimsoll
