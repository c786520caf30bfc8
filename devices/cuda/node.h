// A node of a graph of the engine as lowering reads it. Views: valid during the call that brought the graph.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plimsoll/device.h"
#include "plimsoll/dtype.h"

namespace plimsoll::cuda {

using Sizes = std::vector<int64_t>;

int64_t product(const Sizes& sizes);
Sizes row_major(const Sizes& sizes);

struct Type {
  DType dtype = DType::f32;
  Sizes sizes;

  int rank() const { return static_cast<int>(sizes.size()); }
  int64_t count() const { return product(sizes); }
  int64_t bytes() const { return count() * static_cast<int64_t>(size_of(dtype)); }
};
Type type_of(const plimsoll_type& type);

// Axis -1 is the last one.
inline size_t axis_of(int64_t axis, int rank) { return static_cast<size_t>(axis < 0 ? axis + rank : axis); }

class Node {
 public:
  Node(const plimsoll_graph& graph, int32_t index);

  std::string_view op() const { return node_.op; }
  bool runs() const { return node_.alias == 0 && op() != "constant"; }
  size_t input_count() const { return static_cast<size_t>(node_.input_count); }
  size_t output_count() const { return static_cast<size_t>(node_.output_count); }
  int32_t input(size_t i) const { return node_.inputs[i]; }  // values
  int32_t output(size_t i) const { return node_.outputs[i]; }
  Type in(size_t i) const { return type_of(graph_.values[node_.inputs[i]]); }
  Type out(size_t i) const { return type_of(graph_.values[node_.outputs[i]]); }
  const plimsoll_node& get() const { return node_; }
  const plimsoll_graph& graph() const { return graph_; }

  // Attributes; what is not there is 0, empty or null.
  const plimsoll_attr* attr(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  std::string_view string(std::string_view name) const;
  Sizes ints(std::string_view name) const;
  // Entry i of a list, 'otherwise' where the list is shorter.
  int64_t item(std::string_view name, size_t i, int64_t otherwise) const;

 private:
  const plimsoll_graph& graph_;
  plimsoll_node node_{};  // a copy: that of an older engine may be smaller
};

}  // namespace plimsoll::cuda
