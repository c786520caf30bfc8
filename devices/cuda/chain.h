// Element-wise work at the points of one space: a single op, or the body of a "fused" node, whose last
// members may be reductions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "build.h"

namespace plimsoll::cuda {

// Shape of the space, and how each access walks through it, with as few axes as possible.
struct Space {
  Sizes sizes;
  std::vector<Sizes> strides;  // of accesses, one list each

  int64_t count() const { return product(sizes); }
  void join();  // drops axes of size 1, joins those that all accesses walk as one
};

// Strides with which a tensor is read at the points of a larger space.
Sizes broadcast_strides(const Sizes& from, const Sizes& space);

struct Chain {
  struct Fold {
    std::string value;  // a variable of the text
    DType dtype;        // of the output
    std::string_view op;
    std::vector<bool> reduced;                // of the space's axes
    size_t output;                            // of the node
    std::optional<Ref> other = std::nullopt;  // bytes that are not an output's

    Ref to(const Build& b) const { return other ? *other : b.out(output); }
  };
  struct Write {
    std::string value;
    DType dtype;
    size_t output;
  };
  struct Read {
    Type type;
    size_t input;  // of the node
    std::string variable;
    std::optional<Ref> other = std::nullopt;  // bytes that are not an input's

    Ref from(const Build& b) const { return other ? *other : b.in(input); }
  };

  // What is done with the results of all folds instead of writing them, once for each element `at` of their
  // outputs: they are sum0, sum1, ... in the text, and each operand is a pointer of its name.
  struct Finish {
    struct Operand {
      std::string name;
      std::string_view type;
      Ref at;
    };
    std::vector<Operand> operands;
    std::string text;
  };

  Sizes sizes;
  std::vector<Read> reads;
  std::string text;  // declares a variable for each member, from those of the reads
  std::vector<Write> writes;
  std::vector<Fold> folds;  // with a finish, all over the same axes
  Finish finish{};
};

// Of a node that is element-wise, a reduction, or "fused".
Chain chain_of(const Node& node);
bool is_reduction(std::string_view op);

// How a reduction begins and goes on, in the type that it is kept in.
struct FoldText {
  DType kept;
  std::string start;
  std::string combine(const std::string& a, const std::string& b) const;

  std::string_view meaning;
};
FoldText fold_text(std::string_view op, DType dtype);

void lower_chain(Build& b);                       // all of the above
void lower_points(Build& b, const Chain& chain);  // of a chain without reductions
void lower_folds(Build& b, const Chain& chain);   // reduce.cpp: of a chain that has some

}  // namespace plimsoll::cuda
