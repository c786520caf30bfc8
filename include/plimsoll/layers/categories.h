// Numbers to classes, and classes to vectors. Output modes: "int" (the class), "one_hot" (a vector per
// class), "multi_hot" and "count" (one per sample: which classes it has, or how often).
#pragma once

#include "plimsoll/layers/core.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct CategoryEncodingOptions {
  std::string output_mode = "multi_hot";
  std::string name = {};
  PolicyName dtype = {};
};
// With "count", "count_weights" can be given by name. A class outside of 0 to num_tokens - 1 counts for none.
Layer CategoryEncoding(int64_t num_tokens, const CategoryEncodingOptions& options = {});

struct DiscretizationOptions {
  std::vector<double> bin_boundaries = {};  // ascending; n of them make n + 1 bins
  std::optional<int64_t> num_bins = {};     // of files whose boundaries adapt() has learnt
  std::string output_mode = "int";
  std::string name = {};
  PolicyName dtype = {};
};
Layer Discretization(const DiscretizationOptions& options = {});

struct IntegerLookupOptions {
  Ints vocabulary = {};
  int64_t num_oov_indices = 1;  // classes for what is not in it; 0: it becomes -1
  std::optional<int64_t> mask_token = {};
  int64_t oov_token = -1;
  bool invert = false;
  std::string output_mode = "int";
  std::optional<int64_t> max_tokens = {};
  bool pad_to_max_tokens = false;
  std::string name = {};
  PolicyName dtype = {};
};
Layer IntegerLookup(const IntegerLookupOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop
