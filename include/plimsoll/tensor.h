// Tensor is a small handle, cheap to copy. It is either concrete (dense, row-major bytes in memory, shared
// by all copies of the handle) or symbolic (a value of a Graph that is being built). The functions of
// ops.h take both: with a symbolic operand they add a node to its graph, else they compute at once.
// Concrete tensors may be read from several threads; a symbolic one belongs to the thread that builds.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/dtype.h"
#include "plimsoll/indexing.h"
#include "plimsoll/shape.h"

#pragma GCC visibility push(default)
namespace plimsoll {

class Buffer;
class Graph;
using ValueId = uint32_t;

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
  std::string str() const;  // "float32(32, 10)"
};

template <class T>
DType dtype_of();  // for bool, the fixed-width integers, float and double

// Numbers as Python lists them: 1.5, {1, 2}, {{1, 2}, {3, 4}}.
struct Numbers {
  Numbers(double value) : value(value) {}
  Numbers(std::initializer_list<Numbers> list) : list(list), is_list(true) {}
  double value = 0;
  std::vector<Numbers> list = {};
  bool is_list = false;
};

class Tensor {
 public:
  Tensor() = default;  // neither: defined() is false

  // Concrete tensors. Throw Error{out_of_memory} when the account refuses.
  static Tensor empty(DType dtype, const Shape& shape);  // bytes not set
  static Tensor zeros(DType dtype, const Shape& shape);
  static Tensor full(DType dtype, const Shape& shape, double value);
  static Tensor from_bytes(DType dtype, const Shape& shape, const void* bytes);
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape);  // throws if the counts differ
  // NumPy's array([[0, 1], [2, 3]]): Tensor::of({{0, 1}, {2, 3}}). Throws if the lists differ in length.
  static Tensor of(const Numbers& numbers, DType dtype = DType::f32);
  // Wraps bytes that `buffer` keeps alive.
  Tensor(DType dtype, const Shape& shape, std::shared_ptr<Buffer> buffer);
  // A value of a graph.
  Tensor(Graph& graph, ValueId id);

  bool defined() const { return buffer_ != nullptr || graph_ != nullptr; }
  bool is_symbolic() const { return graph_ != nullptr; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  const TensorType& type() const { return type_; }
  int rank() const { return type_.shape.rank(); }
  int64_t dim(int axis) const { return type_.shape.dim(axis); }

  // Concrete only: throws Error{invalid_argument} on a symbolic tensor.
  void* data() const;
  template <class T>
  T* data() const;      // throws too if T is not the dtype
  double item() const;  // the one element, as a double (of a complex one, the real part)
  Tensor copy() const;
  // NumPy's text of the elements, shortened if there are more than 1000.
  std::string str() const;
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }

  // x[0], x[{Slice{1, 3}, Ellipsis, -1}] (indexing.h): of a concrete tensor a copy. x[{1, 2}].item() is one
  // element. Throws Error{invalid_argument} for a place that the axis has not.
  Tensor operator[](const Index& index) const { return (*this)[{index}]; }
  Tensor operator[](std::initializer_list<Index> indices) const {
    return at(std::span<const Index>(indices.begin(), indices.size()));
  }
  Tensor at(std::span<const Index> indices) const;

  // Symbolic only: graph() throws Error{invalid_argument} on another.
  Graph& graph() const;
  ValueId id() const { return id_; }

 private:
  TensorType type_;
  std::shared_ptr<Buffer> buffer_;
  Graph* graph_ = nullptr;
  ValueId id_ = 0;
};

// A concrete tensor's str(); of another, its type.
std::ostream& operator<<(std::ostream& out, const Tensor& t);

}  // namespace plimsoll
#pragma GCC visibility pop
