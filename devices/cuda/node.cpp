#include "node.h"

#include <algorithm>
#include <cstring>

namespace plimsoll::cuda {

int64_t product(const Sizes& sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

Sizes row_major(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

Type type_of(const plimsoll_type& type) {
  return {static_cast<DType>(type.dtype), Sizes(type.sizes, type.sizes + type.rank)};
}

Node::Node(const plimsoll_graph& graph, int32_t index) : graph_(graph) {
  const char* const from = reinterpret_cast<const char*>(graph.nodes) + size_t{graph.node_size} * index;
  std::memcpy(&node_, from, std::min<size_t>(graph.node_size, sizeof node_));
}

const plimsoll_attr* Node::attr(std::string_view name) const {
  const char* at = reinterpret_cast<const char*>(node_.attrs);
  for (int32_t i = 0; i < node_.attr_count; ++i, at += graph_.attr_size) {
    const auto* const found = reinterpret_cast<const plimsoll_attr*>(at);
    if (name == found->name) return found;
  }
  return nullptr;
}

int64_t Node::integer(std::string_view name) const {
  const plimsoll_attr* const a = attr(name);
  return a ? a->integer : 0;
}
double Node::real(std::string_view name) const {
  const plimsoll_attr* const a = attr(name);
  return a ? a->real : 0;
}
std::string_view Node::string(std::string_view name) const {
  const plimsoll_attr* const a = attr(name);
  return a && a->string ? a->string : "";
}
Sizes Node::ints(std::string_view name) const {
  const plimsoll_attr* const a = attr(name);
  return a && a->count > 0 ? Sizes(a->ints, a->ints + a->count) : Sizes();
}
int64_t Node::item(std::string_view name, size_t i, int64_t otherwise) const {
  const plimsoll_attr* const a = attr(name);
  return a && i < static_cast<size_t>(a->count) ? a->ints[i] : otherwise;
}

}  // namespace plimsoll::cuda
