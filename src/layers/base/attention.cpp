#include "layers/base/attention.h"

#include <cmath>

#include "layers/base/trace.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// Far below every score, and finite: a row with nothing to look at becomes an average.
double low_score(DType dtype) { return dtype == DType::f16 ? -3e4 : -1e30; }

// Positions as (1, queries, 1) and (1, 1, keys).
Tensor both_near(int64_t queries, int64_t keys, bool causal, const std::optional<int64_t>& window) {
  const Tensor row = iota(DType::i32, {1, queries, keys}, 1);
  const Tensor column = iota(DType::i32, {1, queries, keys}, 2);
  Tensor seen = causal ? greater_equal(row, column) : Tensor();
  if (window) {
    const Tensor near = less(absolute(row - column), scalar_like(row, double(*window)));
    seen = seen.defined() ? bitwise_and(seen, near) : near;
  }
  return seen;
}

// A query that sees no key becomes zero: its scores are the mask's all the same, and no gradient goes through
// them, as in Keras on JAX and TensorFlow.
Tensor without_blind(const Tensor& query, Tensor seen, int64_t keys, bool causal) {
  if (causal) seen = bitwise_and(seen, expand_dims(both_near(query.dim(1), keys, true, {}), 0));
  return where(transpose(any(seen, {-1}, true), {0, 2, 1, 3}), query, scalar_like(query, 0));
}

// By the engine's own op: (batch, positions, heads, width).
Tensor attend_by_op(const AttentionHeads& h, const Tensor& mask, bool causal, double scale) {
  Tensor bias, query = h.query;
  if (mask.defined()) {
    Tensor seen = mask;
    while (seen.rank() < 4) seen = expand_dims(seen, -3);
    const Tensor zero = scalar_like(h.query, 0);
    bias = where(seen, zero, scalar_like(h.query, low_score(h.query.dtype())));
    query = without_blind(query, seen, h.key.dim(1), causal);
  }
  return attention(query, h.key, h.value, bias, scale, causal);
}

}  // namespace

std::string letters(char from, int count) {
  std::string s;
  for (int i = 0; i < count; ++i) s += static_cast<char>(from + i);
  return s;
}

bool attention_flag(const Scope& s, std::string_view name) {
  const Attr* given = s.constant(name);
  const bool* on = given == nullptr ? nullptr : std::get_if<bool>(given);
  return on != nullptr && *on;
}

AttentionCall::AttentionCall(Scope& s, std::span<const Tensor> xs)
    : wants_scores(attention_flag(s, "return_attention_scores")),
      causal(attention_flag(s, "use_causal_mask")) {
  const std::string& place = s.layer().name();
  require(!xs.empty() && xs.size() <= 3, place, "expected query, value and perhaps key, got ", xs.size(),
          " inputs");
  query = xs[0];
  value = xs.size() > 1 ? xs[1] : s.argument("value");
  require(value.defined(), place, "expected a value beside the query");
  const Tensor named = xs.size() > 2 ? xs[2] : s.argument("key");
  key = named.defined() ? named : value;
  const auto given = [&](std::string_view name, const Tensor& otherwise) {
    const Tensor mask = s.argument(name);
    return mask.defined() ? as_mask(mask) : otherwise;
  };
  query_mask = s.mask(query);  // MultiHeadAttention puts it in the place of one that the call is given
  if (s.argument("query_mask").defined() && s.layer().class_name() != "MultiHeadAttention") {
    fail(ErrorKind::unsupported, place,
         "was called with a query_mask, which there is none of here: let the query carry its mask (Masking, "
         "Embedding(mask_zero=True)), or give an attention_mask");
  }
  value_mask = given("value_mask", s.mask(value));
  key_mask = given("key_mask", named.defined() ? s.mask(key) : Tensor());
}

Tensor attention_visible(Scope& s, const AttentionCall& in, bool causal,
                         const std::optional<int64_t>& window) {
  Tensor seen;
  const auto narrow = [&](const Tensor& mask) {
    if (mask.defined()) seen = seen.defined() ? bitwise_and(seen, mask) : mask;
  };
  if (in.query_mask.defined()) narrow(expand_dims(in.query_mask, -1));
  if (in.value_mask.defined()) narrow(expand_dims(in.value_mask, -2));
  if (in.key_mask.defined()) narrow(expand_dims(in.key_mask, -2));
  narrow(both_near(in.query.dim(1), in.value.dim(1), causal, window));
  if (const Tensor given = s.argument("attention_mask"); given.defined()) narrow(as_mask(given));
  return seen;
}

std::pair<Tensor, Tensor> attend_widely(Scope& s, const AttentionHeads& h, const Ints& axes, Tensor mask,
                                        double scale, const AttentionDropout& drop) {
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
  const std::string& place = s.layer().name();
  Tensor scores = einsum(source + "," + target + "->" + product, h.key, h.query * scale, place);
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
  if (drop.rate > 0 && s.training())
    used = dropout(weights, s.random_key(drop.seed, drop.generator), drop.rate);
  return {einsum(product + "," + source + "->" + target, used, h.value, place), weights};
}

std::pair<Tensor, Tensor> attend(Scope& s, const AttentionCall& call, const AttentionHeads& h,
                                 const Ints& axes, const std::optional<int64_t>& window,
                                 const AttentionDropout& drop) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(h.query.dim(-1)));
  const bool simple = drop.rate == 0 && !call.wants_scores && h.query.rank() == 4;
  const Tensor seen = attention_visible(s, call, call.causal && !simple, window);
  if (simple) return {attend_by_op(h, seen, call.causal, scale), Tensor()};
  return attend_widely(s, h, axes, seen, scale, drop);
}

}  // namespace plimsoll
