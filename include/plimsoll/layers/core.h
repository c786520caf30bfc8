// Input, Dense, EinsumDense, Embedding, Masking, Identity.
#pragma once

#include "plimsoll/layer.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// Where Keras takes a dtype or its name. Throws Error{invalid_argument} for a name that is none.
struct DTypeName {
  DTypeName(DType dtype) : dtype(dtype) {}
  DTypeName(const char* name);
  operator DType() const { return dtype; }
  DType dtype;
};

struct InputOptions {
  std::string name = {};
  DTypeName dtype = DType::f32;  // or "int32"
  std::optional<int64_t> batch_size = {};
};
// The shape is without the batch; -1 where Keras has None.
Symbol Input(const SymbolShape& shape, const InputOptions& options = {});

struct DenseOptions {
  std::string activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer Dense(int64_t units, const DenseOptions& options = {});

struct NameOptions {
  std::string name = {};
  PolicyName dtype = {};
};
Layer Identity(const NameOptions& options = {});
// Marks time steps in which every feature is `mask_value`.
Layer Masking(double mask_value = 0.0, const NameOptions& options = {});

// Integers below input_dim to vectors. mask_zero: 0 stands for "nothing here".
struct EmbeddingOptions {
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint embeddings_constraint = {};
  bool mask_zero = false;
  std::string name = {};
  PolicyName dtype = {};
};
Layer Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& options = {});

// An Embedding that goes back too: called with the constant {"reverse", true}, vectors to one logit per id.
struct ReversibleEmbeddingOptions {
  bool tie_weights = true;  // the way back uses the same table
  Initializer embeddings_initializer = "random_uniform";
  Regularizer embeddings_regularizer = {};
  Constraint embeddings_constraint = {};
  bool mask_zero = false;
  std::optional<double> logit_soft_cap = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer ReversibleEmbedding(int64_t input_dim, int64_t output_dim,
                          const ReversibleEmbeddingOptions& options = {});

// A dense layer by an equation: EinsumDense("abc,cd->abd", {-1, 64}, {.bias_axes = "d"}). The output shape is
// without the batch; -1 where it is the input's.
struct EinsumDenseOptions {
  std::string activation = "linear";
  std::string bias_axes = {};  // empty: no bias
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer EinsumDense(std::string equation, Ints output_shape, const EinsumDenseOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
