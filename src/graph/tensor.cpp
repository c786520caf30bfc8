#include "plimsoll/tensor.h"

#include <cstring>

#include "graph/elements.h"
#include "memory/buffer.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"

namespace plimsoll {
std::string TensorType::str() const { return concat(dtype, shape); }

template <>
DType dtype_of<bool>() {
  return DType::boolean;
}
template <>
DType dtype_of<uint8_t>() {
  return DType::u8;
}
template <>
DType dtype_of<uint16_t>() {
  return DType::u16;
}
template <>
DType dtype_of<uint32_t>() {
  return DType::u32;
}
template <>
DType dtype_of<uint64_t>() {
  return DType::u64;
}
template <>
DType dtype_of<int8_t>() {
  return DType::i8;
}
template <>
DType dtype_of<int16_t>() {
  return DType::i16;
}
template <>
DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
DType dtype_of<float>() {
  return DType::f32;
}
template <>
DType dtype_of<double>() {
  return DType::f64;
}

Tensor::Tensor(DType dtype, const Shape& shape, std::shared_ptr<Buffer> buffer)
    : type_{dtype, shape}, buffer_(std::move(buffer)) {
  require(buffer_ != nullptr && buffer_->bytes() >= byte_size(dtype, shape), "tensor",
          "expected a buffer of ", byte_size(dtype, shape), " bytes, got ", buffer_ ? buffer_->bytes() : 0);
}

Tensor::Tensor(Graph& graph, ValueId id) : graph_(&graph), id_(id) {
  require(id < graph.values().size(), "tensor", "expected a value of the graph, which has ",
          graph.values().size(), ", got number ", id);
  type_ = graph.type(id);
}

Graph& Tensor::graph() const {
  require(graph_ != nullptr, "tensor", "expected a value of a graph, got ",
          defined() ? "a concrete tensor" : "an undefined one");
  return *graph_;
}

Tensor Tensor::empty(DType dtype, const Shape& shape) {
  return Tensor(dtype, shape, Buffer::make(byte_size(dtype, shape)));
}

Tensor Tensor::zeros(DType dtype, const Shape& shape) {
  Tensor t = empty(dtype, shape);
  std::memset(t.buffer_->data(), 0, static_cast<size_t>(byte_size(dtype, shape)));
  return t;
}

Tensor Tensor::full(DType dtype, const Shape& shape, double value) {
  Tensor t = empty(dtype, shape);
  char* p = static_cast<char*>(t.buffer_->data());
  const size_t step = size_of(dtype);
  for (int64_t i = 0; i < shape.elements(); ++i, p += step) write_element(dtype, p, value);
  return t;
}

Tensor Tensor::from_bytes(DType dtype, const Shape& shape, const void* bytes) {
  Tensor t = empty(dtype, shape);
  if (shape.elements() > 0)
    std::memcpy(t.buffer_->data(), bytes, static_cast<size_t>(byte_size(dtype, shape)));
  return t;
}

template <class T>
Tensor Tensor::from(std::span<const T> values, const Shape& shape) {
  require(static_cast<int64_t>(values.size()) == shape.elements(), "tensor", "expected ", shape.elements(),
          " values for shape ", shape, ", got ", values.size());
  return from_bytes(dtype_of<T>(), shape, values.data());
}

static Buffer& buffer_of(const Tensor& t) {
  require(t.buffer() != nullptr, "tensor",
          t.is_symbolic() ? "expected a concrete tensor, got a value of a graph"
                          : "expected a tensor, got an undefined one");
  return *t.buffer();
}

const void* read_bytes(const Tensor& t) { return buffer_of(t).data(); }

template <class T>
std::vector<T> to_vector(const Tensor& t) {
  require(t.dtype() == dtype_of<T>(), "tensor", "expected elements of ", dtype_of<T>(), ", got ", t.dtype());
  const T* const first = static_cast<const T*>(read_bytes(t));
  return std::vector<T>(first, first + t.shape().elements());
}

void assign(const Tensor& to, const Tensor& from) {
  require(to.type() == from.type(), "tensor", "expected a tensor of type ", to.type(), " to assign, got ",
          from.type());
  Buffer& written = buffer_of(to);
  const void* const bytes = read_bytes(from);
  const auto count = static_cast<size_t>(byte_size(to.dtype(), to.shape()));
  if (count > 0) std::memmove(written.overwrite(), bytes, count);
}

void write_bytes(const Tensor& to, const std::function<void(void* bytes)>& fill) {
  fill(buffer_of(to).overwrite());
}

void* Tensor::data() const {
  (void)read_bytes(*this);
  buffer_->expose();
  return buffer_->data();
}

template <class T>
T* Tensor::data() const {
  require(dtype() == dtype_of<T>(), "tensor", "expected elements of ", dtype_of<T>(), ", got ", dtype());
  return static_cast<T*>(data());
}

double Tensor::item() const {
  require(shape().elements() == 1, "tensor", "expected one element, got shape ", shape());
  return read_element(dtype(), read_bytes(*this));
}

Tensor Tensor::copy() const { return from_bytes(dtype(), shape(), read_bytes(*this)); }

#define PLIMSOLL_FOR(T)                                                           \
  template Tensor Tensor::from<T>(std::span<const T> values, const Shape& shape); \
  template T* Tensor::data<T>() const;                                            \
  template std::vector<T> to_vector<T>(const Tensor& tensor);
PLIMSOLL_FOR(bool)
PLIMSOLL_FOR(uint8_t)
PLIMSOLL_FOR(uint16_t)
PLIMSOLL_FOR(uint32_t)
PLIMSOLL_FOR(uint64_t)
PLIMSOLL_FOR(int8_t)
PLIMSOLL_FOR(int16_t)
PLIMSOLL_FOR(int32_t)
PLIMSOLL_FOR(int64_t)
PLIMSOLL_FOR(float)
PLIMSOLL_FOR(double)
#undef PLIMSOLL_FOR

}  // namespace plimsoll
