// CategoryEncoding, Discretization, IntegerLookup: numbers to classes, and classes to vectors.
#include <algorithm>
#include <cmath>
#include <map>

#include "layers/base/adaptable.h"
#include "layers/base/parts.h"
#include "layers/base/quantiles.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/categories.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// "one_hot": a vector per class. "multi_hot", "count": one per sample, over its axis 1 (of a vector: 0).
Tensor encoded(const Tensor& classes, std::string_view mode, int64_t depth, DType dtype,
               const Tensor& weights, const std::string& place) {
  check_choice(place, "output_mode", mode, {"one_hot", "multi_hot", "count"});
  Tensor x = classes.rank() == 0 ? reshape(classes, Shape{1}) : classes;
  if (mode == "one_hot") {
    if (x.rank() > 1 && x.dim(-1) == 1) x = squeeze(x, -1);
    return one_hot(x, depth, dtype);
  }
  const int axis = x.rank() > 1 ? 1 : 0;
  Tensor hot = one_hot(x, depth, dtype);
  if (mode == "multi_hot") return max(hot, {axis});
  if (weights.defined()) {
    require(weights.shape() == classes.shape(), place, "expected count_weights of shape ", classes.shape(),
            ", got ", weights.shape());
    hot = hot * expand_dims(cast(reshape(weights, x.shape()), dtype), -1);
  }
  return sum(hot, {axis});
}

// How many of `values`, which ascend, are at most x: a search by halves.
Tensor count_at_most(const Tensor& values, const Tensor& x) {
  const int64_t n = values.dim(0);
  Tensor found = cast(equal(x, x), DType::i32) * 0.0;
  int64_t step = 1;
  while (step * 2 <= n) step *= 2;
  for (; step > 0 && n > 0; step /= 2) {
    const Tensor next = found + static_cast<double>(step);
    const Tensor last = scalar_like(next, static_cast<double>(n));
    const Tensor value = take(values, minimum(next, last) - 1.0, 0);
    found = where(bitwise_and(less_equal(next, last), less_equal(value, x)), next, found);
  }
  return found;
}

struct CategoryEncodingLayer final : LayerBase {
  explicit CategoryEncodingLayer(int64_t num_tokens = 0, const CategoryEncodingOptions& options = {})
      : num_tokens(num_tokens), output_mode(options.output_mode) {}
  int64_t num_tokens;
  std::string output_mode;
  std::string_view class_name() const override { return "CategoryEncoding"; }
  bool casts_inputs() const override { return false; }
  void fields(Fields& f) override {
    f("num_tokens", num_tokens);
    f("output_mode", output_mode);
    if (output_mode == "binary") output_mode = "multi_hot";
  }
  Tensor call(Scope& s, const Tensor& x) override {
    require(num_tokens >= 1, name(), "expected num_tokens >= 1, got ", num_tokens);
    const Tensor weights = s.argument("count_weights");
    require(!weights.defined() || output_mode == "count", name(),
            "takes count_weights with the output_mode 'count' alone, got '", output_mode, "'");
    return encoded(cast(x, DType::i32), output_mode, num_tokens, s.compute_dtype(), weights, name());
  }
};

struct DiscretizationLayer final : LayerBase, Adaptable {
  explicit DiscretizationLayer(DiscretizationOptions options = {}) : o(std::move(options)) {}
  DiscretizationOptions o;
  double epsilon = 0.01;
  bool sparse = false;
  bool learnt = false;  // by adapt()
  std::string_view class_name() const override { return "Discretization"; }
  bool takes_trainable() const override { return false; }
  void fields(Fields& f) override {
    f("bin_boundaries", o.bin_boundaries);
    f("num_bins", o.num_bins);
    f("epsilon", epsilon);
    f("output_mode", o.output_mode);
    f("sparse", sparse);
    require(!sparse, class_name(), "the argument 'sparse' is not supported");
  }
  void adapt(const Layer&, const Tensor& data) override {
    constexpr int64_t kMost = 1 << 24;
    require(o.bin_boundaries.empty() || learnt, name(),
            "was given its bin_boundaries: there is nothing to adapt");
    require(o.num_bins && *o.num_bins > 1 && *o.num_bins <= kMost, name(), "expected num_bins from 2 to ",
            kMost, " to adapt, got ", o.num_bins.value_or(0));
    require(epsilon > 0 && epsilon <= 1, name(), "expected an epsilon above 0 and up to 1, got ", epsilon);
    require(!built() || o.output_mode == "int", name(), "was built for other bin_boundaries");
    const Tensor x = cast(data, DType::f32);
    require(x.shape().elements() > 0, name(), "expected data to adapt to, got shape ", x.shape());
    const float* const values = x.data<float>();
    o.bin_boundaries =
        bin_boundaries_of({values, values + x.shape().elements()}, static_cast<int>(*o.num_bins), epsilon);
    learnt = true;
  }
  Tensor call(Scope& s, const Tensor& input) override {
    require(!o.bin_boundaries.empty(), name(),
            "expected bin_boundaries: they were neither given nor learnt by adapt()");
    require(std::is_sorted(o.bin_boundaries.begin(), o.bin_boundaries.end()), name(),
            "expected bin_boundaries that ascend");
    const Tensor x = cast(input, DType::f32);
    const auto count = std::ssize(o.bin_boundaries);
    const Tensor bounds = cast(Tensor::from<double>(o.bin_boundaries, {count}), DType::f32);
    const Tensor bins = count_at_most(bounds, x);
    if (o.output_mode == "int") return bins;
    return encoded(bins, o.output_mode, count + 1, s.compute_dtype(), {}, name());
  }
};

struct IntegerLookupLayer final : LayerBase, Adaptable {
  explicit IntegerLookupLayer(IntegerLookupOptions options = {}) : o(std::move(options)) { settle(); }
  IntegerLookupOptions o;
  std::optional<int64_t> vocabulary_size;
  bool learnt = false;  // by adapt()

  std::string_view class_name() const override { return "IntegerLookup"; }
  bool casts_inputs() const override { return false; }
  void fields(Fields& f) override {
    std::string dtype = "int64", oov_method = "floormod";
    bool sparse = false;
    f("max_tokens", o.max_tokens);
    f("invert", o.invert);
    f("num_oov_indices", o.num_oov_indices);
    f("oov_token", o.oov_token);
    f("mask_token", o.mask_token);
    f("output_mode", o.output_mode);
    f("sparse", sparse);
    f("pad_to_max_tokens", o.pad_to_max_tokens);
    f("vocabulary_dtype", dtype);
    f.refused("idf_weights");
    f("vocabulary", o.vocabulary);
    f("vocabulary_size", vocabulary_size);
    f("oov_method", oov_method);
    f.refused("salt");
    require(!sparse, class_name(), "the argument 'sparse' is not supported");
    require(dtype == "int64", class_name(), "expected the vocabulary_dtype int64, got ", dtype);
    check_choice(class_name(), "oov_method", oov_method, {"floormod"});
    if (f.reading()) settle();
  }
  void settle() {
    require(o.num_oov_indices >= 0, class_name(), "expected num_oov_indices >= 0, got ", o.num_oov_indices);
    if (!o.vocabulary.empty()) vocabulary_size = first_token() + std::ssize(o.vocabulary);
  }
  int64_t first_oov() const { return o.mask_token && o.output_mode == "int" ? 1 : 0; }
  int64_t first_token() const { return first_oov() + o.num_oov_indices; }

  // The most frequent first, of those alike the largest, as Keras sorts them.
  void adapt(const Layer&, const Tensor& data) override {
    require(o.vocabulary.empty() || learnt, name(), "was given its vocabulary: there is nothing to adapt");
    require(!built() || o.output_mode == "int", name(), "was built for another vocabulary");
    require(is_integer(data.dtype()), name(), "expected integers to adapt to, got ", data.dtype());
    const Tensor numbers = cast(data, DType::i64);
    std::map<int64_t, int64_t> counts;
    const int64_t* const values = numbers.data<int64_t>();
    for (int64_t i = 0; i < numbers.shape().elements(); ++i) ++counts[values[i]];
    counts.erase(o.oov_token);
    if (o.mask_token) counts.erase(*o.mask_token);
    std::vector<std::pair<int64_t, int64_t>> sorted;
    for (const auto& [token, count] : counts) sorted.emplace_back(count, token);
    std::sort(sorted.rbegin(), sorted.rend());
    const int64_t most =
        o.max_tokens ? std::max<int64_t>(*o.max_tokens - first_token(), 0) : std::ssize(sorted);
    sorted.resize(std::min(sorted.size(), static_cast<size_t>(most)));
    o.vocabulary.clear();
    for (const auto& [count, token] : sorted) o.vocabulary.push_back(token);
    learnt = true;
    settle();
  }

  Tensor looked_up(const Tensor& x) const {
    std::vector<std::pair<int64_t, int64_t>> tokens;  // and their classes
    for (size_t i = 0; i < o.vocabulary.size(); ++i)
      tokens.emplace_back(o.vocabulary[i], first_token() + static_cast<int64_t>(i));
    std::sort(tokens.begin(), tokens.end());
    std::vector<int64_t> keys, classes;
    for (const auto& [key, index] : tokens) {
      require(keys.empty() || keys.back() != key, name(), "the vocabulary has ", key, " twice");
      keys.push_back(key);
      classes.push_back(index);
    }
    const Shape shape{std::ssize(keys)};
    const Tensor sorted = Tensor::from<int64_t>(keys, shape);
    const Tensor count = count_at_most(sorted, x);
    const Tensor place = maximum(count - 1.0, scalar_like(count, 0));
    const Tensor known = equal(take(sorted, place, 0), x);
    // What is not in the vocabulary; with no class for it, -1.
    Tensor other = scalar_like(x, -1);
    if (o.num_oov_indices > 0) {
      const auto n = static_cast<double>(o.num_oov_indices);
      other = mod(x, scalar_like(x, n)) + static_cast<double>(first_oov());
    }
    Tensor y = where(known, take(Tensor::from<int64_t>(classes, shape), place, 0), other);
    if (o.mask_token) {  // the first class, or in vectors none
      const Tensor masked = scalar_like(y, o.output_mode == "int" ? 0 : -1);
      y = where(equal(x, scalar_like(x, static_cast<double>(*o.mask_token))), masked, y);
    }
    return y;
  }
  Tensor inverted(const Tensor& x) const {
    const Tensor vocabulary = Tensor::from<int64_t>(o.vocabulary, {std::ssize(o.vocabulary)});
    const Tensor place = x - static_cast<double>(first_token());
    const Tensor zero = scalar_like(place, 0),
                 end = scalar_like(place, static_cast<double>(vocabulary.dim(0)));
    const Tensor known = bitwise_and(greater_equal(place, zero), less(place, end));
    Tensor y = where(known, take(vocabulary, clip(place, zero, end - 1.0), 0),
                     scalar_like(x, static_cast<double>(o.oov_token)));
    if (o.mask_token)
      y = where(equal(x, scalar_like(x, 0)), scalar_like(y, static_cast<double>(*o.mask_token)), y);
    return y;
  }

  Tensor call(Scope& s, const Tensor& input) override {
    require(!o.vocabulary.empty(), name(),
            "expected a vocabulary: it was neither given nor learnt by adapt()");
    const Tensor x = cast(input, DType::i64);
    if (o.invert) return inverted(x);
    const Tensor classes = looked_up(x);
    if (o.output_mode == "int") return classes;
    const int64_t depth = o.pad_to_max_tokens && o.max_tokens ? *o.max_tokens : *vocabulary_size;
    return encoded(cast(classes, DType::i32), o.output_mode, depth, s.compute_dtype(), {}, name());
  }
};

}  // namespace

Layer CategoryEncoding(int64_t num_tokens, const CategoryEncodingOptions& options) {
  return own_layer(std::make_shared<CategoryEncodingLayer>(num_tokens, options), options);
}
Layer Discretization(const DiscretizationOptions& options) {
  return own_layer(std::make_shared<DiscretizationLayer>(options), options);
}
Layer IntegerLookup(const IntegerLookupOptions& options) {
  return own_layer(std::make_shared<IntegerLookupLayer>(options), options);
}

std::span<const ClassDef> classes_categories() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "CategoryEncoding", "", make_default<CategoryEncodingLayer>},
      {Family::layer, "Discretization", "", make_default<DiscretizationLayer>},
      {Family::layer, "IntegerLookup", "", make_default<IntegerLookupLayer>},
  };
  return rows;
}

}  // namespace plimsoll
