#include "rows.h"

#include <algorithm>
#include <cstring>

#include "memory/buffer.h"
#include "plimsoll/error.h"

namespace plimsoll::python {
namespace {

// Bytes of a row; its elements lie next to each other.
int64_t row_size(const Py_buffer& v) {
  require(v.ndim > 0, "rows", "expected arrays with at least one axis, got a number");
  int64_t bytes = v.itemsize;
  for (int axis = v.ndim - 1; axis > 0; --axis) {
    require(v.shape[axis] <= 1 || v.strides[axis] == bytes, "rows",
            "expected rows without gaps, got an array with strides");
    bytes *= v.shape[axis];
  }
  return bytes;
}

}  // namespace

Bytes::Bytes(nanobind::handle object, int flags) {
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nanobind::python_error();
}

Rows::Rows(const std::vector<nanobind::object>& arrays) {
  require(!arrays.empty(), "rows", "expected at least one array, got none");
  for (const nanobind::object& array : arrays) {
    const Py_buffer& v = views_.emplace_back(std::make_unique<Bytes>(array, PyBUF_STRIDED_RO))->view();
    row_bytes_.push_back(row_size(v));
    require(views_.size() == 1 || v.shape[0] == count_, "rows", "expected ", count_,
            " rows in each array, got ", v.shape[0]);
    count_ = v.shape[0];
  }
}

std::span<Tensor> Rows::batch(const std::vector<TensorType>& types) {
  require(types.size() == views_.size(), "rows", "expected ", types.size(), " arrays, got ", views_.size());
  batch_.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const TensorType& type = types[i];
    const bool fits = type.shape.rank() > 0 && type.shape.dim(0) == types[0].shape.dim(0) &&
                      byte_size(type.dtype, type.shape) == type.shape.dim(0) * row_bytes_[i];
    require(fits, "rows", "expected rows for ", type, ", got ", row_bytes_[i], " bytes each");
    if (batch_[i].defined() && batch_[i].type() == type) continue;
    batch_[i] = Tensor();
    batch_[i] = Tensor::empty(type.dtype, type.shape);
  }
  return batch_;
}

void Rows::fill(int64_t first, std::span<const int64_t> order) {
  const int64_t rows = batch_[0].dim(0);
  const int64_t most = order.empty() ? count_ : std::ssize(order);
  require(first >= 0 && rows <= most - first, "rows", "expected rows up to ", most, ", got ", first + rows);
  for (size_t i = 0; i < batch_.size(); ++i) {
    const Py_buffer& v = views_[i]->view();
    const auto* from = static_cast<const char*>(v.buf);
    auto* to = static_cast<char*>(batch_[i].buffer()->overwrite());
    const int64_t size = row_bytes_[i], stride = v.strides[0];
    if (order.empty() && stride == size) {
      std::memcpy(to, from + first * stride, static_cast<size_t>(rows * size));
      continue;
    }
    for (int64_t k = first; k < first + rows; ++k, to += size) {
      const int64_t row = order.empty() ? k : order[static_cast<size_t>(k)];
      require(row >= 0 && row < count_, "rows", "expected a row below ", count_, ", got ", row);
      std::memcpy(to, from + row * stride, static_cast<size_t>(size));
    }
  }
}

}  // namespace plimsoll::python
