// Rows: arrays of Python that batches are cut from, in whatever order, without the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll::python {

// A view of a Python object's bytes, kept alive. Made and destroyed with the interpreter's lock.
class Bytes {
 public:
  Bytes(nanobind::handle object, int flags);
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  void* data() const { return view_.buf; }
  int64_t size() const { return view_.len; }
  const Py_buffer& view() const { return view_; }

 private:
  Py_buffer view_;
};

class Rows {
 public:
  // Each has at least one axis, equally many rows, and rows without gaps.
  explicit Rows(const std::vector<nanobind::object>& arrays);
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // Fills a batch with rows [first, first + as many as it has), or with those that `order` names there.
  // Throws Error{invalid_argument} before anything is written if they do not fit.
  void fill(std::span<const Tensor> batch, int64_t first, std::span<const int64_t> order) const;

 private:
  void check(std::span<const Tensor> batch, int64_t first, std::span<const int64_t> order) const;
  std::vector<std::unique_ptr<Bytes>> views_;
  std::vector<int64_t> row_bytes_;
  int64_t count_ = 0;
};

}  // namespace plimsoll::python
