#include "rows.h"

#include <algorithm>
#include <cstring>

#include "device/cpu/thread_pool.h"
#include "memory/buffer.h"
#include "plimsoll/error.h"

namespace plimsoll::python {
namespace {

constexpr int64_t kChunkBytes = 256 << 10;  // for one thread at a time

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

void Rows::check(std::span<const Tensor> batch, int64_t first, std::span<const int64_t> order) const {
  require(batch.size() == views_.size(), "rows", "expected ", batch.size(), " arrays, got ", views_.size());
  const int64_t rows = batch[0].rank() > 0 ? batch[0].dim(0) : -1;
  for (size_t i = 0; i < batch.size(); ++i) {
    const TensorType& type = batch[i].type();
    const bool fits = type.shape.rank() > 0 && type.shape.dim(0) == rows &&
                      byte_size(type.dtype, type.shape) == rows * row_bytes_[i];
    require(fits, "rows", "expected rows for ", type, ", got ", row_bytes_[i], " bytes each");
  }
  const int64_t most = order.empty() ? count_ : std::ssize(order);
  require(first >= 0 && rows <= most - first, "rows", "expected rows up to ", most, ", got ", first + rows);
  if (order.empty()) return;
  for (const int64_t row : order.subspan(static_cast<size_t>(first), static_cast<size_t>(rows)))
    require(row >= 0 && row < count_, "rows", "expected a row below ", count_, ", got ", row);
}

void Rows::fill(std::span<const Tensor> batch, int64_t first, std::span<const int64_t> order) const {
  check(batch, first, order);
  const int64_t rows = batch[0].dim(0);
  for (size_t i = 0; i < batch.size(); ++i) {
    const Py_buffer& v = views_[i]->view();
    const auto* from = static_cast<const char*>(v.buf);
    auto* to = static_cast<char*>(batch[i].buffer()->overwrite());
    const int64_t size = row_bytes_[i], stride = v.strides[0];
    const int64_t each = std::max<int64_t>(kChunkBytes / std::max<int64_t>(size, 1), 1);
    parallel_for((rows + each - 1) / each, hardware_threads(), [&](int64_t chunk, int) noexcept {
      for (int64_t k = chunk * each; k < std::min(rows, (chunk + 1) * each); ++k) {
        const int64_t row = order.empty() ? first + k : order[static_cast<size_t>(first + k)];
        std::memcpy(to + k * size, from + row * stride, static_cast<size_t>(size));
      }
    });
  }
}

}  // namespace plimsoll::python
