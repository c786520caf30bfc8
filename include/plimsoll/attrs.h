// Attrs: the named constants of one node, such as axis = -1 or strides = [2, 2]. Few and small, kept
// sorted by name so that equal sets compare and print equal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "plimsoll/dtype.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

using Ints = std::vector<int64_t>;
using Attr =
    std::variant<bool, int64_t, double, std::string, Ints, DType, Tensor, std::shared_ptr<const Graph>>;
enum class AttrKind : uint8_t { boolean, integer, real, string, ints, dtype, tensor, graph };
inline AttrKind kind_of(const Attr& a) { return static_cast<AttrKind>(a.index()); }
std::string_view name_of(AttrKind kind);
std::string to_text(const Attr& attr);  // the graph's text form; tensors and graphs only by type

class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<std::string_view, Attr>> list);

  void set(std::string_view name, Attr value);
  const Attr* find(std::string_view name) const;  // nullptr if absent
  // Throw Error{internal} if absent or of another kind: nodes of a graph have been checked before.
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  const std::string& string(std::string_view name) const;
  const Ints& ints(std::string_view name) const;
  DType dtype(std::string_view name) const;
  const Tensor& tensor(std::string_view name) const;
  const std::shared_ptr<const Graph>& graph(std::string_view name) const;

  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  bool empty() const { return list_.empty(); }
  // Tensors and graphs are compared by identity, doubles by bits.
  bool operator==(const Attrs& other) const;
  size_t hash() const;

 private:
  std::vector<std::pair<std::string, Attr>> list_;
};

}  // namespace plimsoll
#pragma GCC visibility pop
