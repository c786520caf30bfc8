// NewValues: what a file brings for the variables of a model, on its way there.
#pragma once

#include <utility>
#include <vector>

#include "keras_io/h5_tree.h"
#include "plimsoll/layer.h"

namespace plimsoll::keras_io {

enum class Write {
  at_once,   // into each variable as it is read: for a model that nobody has yet
  together,  // by commit(), until when they are held beside the variables: an error on the way changes
             // nothing
};

class NewValues {
 public:
  explicit NewValues(Write when) : when_(when) {}
  // Cast to the variable's type. Requires: the shapes are the same. Throw Error{bad_file} or {io} if the file
  // does not have the bytes, {out_of_memory}.
  void add(const H5File& file, const H5Dataset& from, const VariablePtr& to);
  void add(const Tensor& value, const VariablePtr& to);
  void commit() noexcept;

 private:
  Write when_;
  std::vector<std::pair<VariablePtr, Tensor>> held_;
};

}  // namespace plimsoll::keras_io
