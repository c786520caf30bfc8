// What Python holds: tensors that own what they stand for. A value of a trace keeps the trace's state alive
// and knows when it has ended; the value of a variable keeps its contents when the variable changes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plimsoll/graph.h"
#include "plimsoll/tensor.h"

namespace plimsoll::python {

// The graph that values of one trace, or of the body of a loop in it, belong to.
struct Tracing {
  Graph* graph = nullptr;  // null once it has ended
};

class Storage;

class PyTensor {
 public:
  explicit PyTensor(Tensor concrete) : tensor_(std::move(concrete)) {}
  PyTensor(Tensor symbolic, std::shared_ptr<Tracing> tracing)
      : tensor_(std::move(symbolic)), tracing_(std::move(tracing)) {}
  PyTensor(const PyTensor&) = delete;
  PyTensor& operator=(const PyTensor&) = delete;
  ~PyTensor();

  // Throws Error{invalid_argument} if it belongs to a trace that has ended.
  const Tensor& get() const;
  const TensorType& type() const { return tensor_.type(); }
  bool is_symbolic() const { return tracing_ != nullptr; }

 private:
  friend class Storage;
  Tensor tensor_;
  std::shared_ptr<Tracing> tracing_;
  std::shared_ptr<Storage> storage_;  // whose contents these are, until it is written
};

// The bytes of a variable. Programs write them in place; whoever holds a value() keeps what it was.
class Storage : public std::enable_shared_from_this<Storage> {
 public:
  explicit Storage(const Tensor& initial) : tensor_(initial.copy()) {}

  const Tensor& tensor() const { return tensor_; }
  std::unique_ptr<PyTensor> value();
  void assign(const Tensor& value);
  // Before they are written: gives each value() still held bytes of its own.
  void detach();

 private:
  friend class PyTensor;
  Tensor tensor_;
  std::vector<PyTensor*> views_;
};

// The trace that this thread is in; null outside of any.
std::shared_ptr<Tracing>& current_tracing();

std::unique_ptr<PyTensor> wrap(Tensor tensor);
std::vector<std::unique_ptr<PyTensor>> wrap(std::vector<Tensor> tensors);

}  // namespace plimsoll::python
