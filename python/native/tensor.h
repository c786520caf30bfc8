// What Python holds: tensors that own what they stand for. A value of a trace keeps the trace's state alive
// and knows when it has ended; the value of a variable keeps its contents when the variable changes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plimsoll/graph.h"
#include "plimsoll/tensor.h"
#include "workplace.h"

namespace plimsoll::python {

class PyTensor;
class Storage;

// The graph that values of one trace, or of the body of a loop in it, belong to. An eager one is a tape: what
// is recorded is computed at once too, so that its values can be looked at, and gradients be asked for later.
struct Tracing {
  Graph* graph = nullptr;  // null once it has ended
  bool eager = false;
  std::vector<std::shared_ptr<PyTensor>> values = {};  // eager: what each value of the graph is
  size_t computed = 0;                                 // eager: nodes that have theirs
  std::shared_ptr<Tracing> around = nullptr;           // of a body: where the loop is recorded

  void compute();
};

class PyTensor {
 public:
  explicit PyTensor(Tensor concrete) : tensor_(std::move(concrete)) {}
  // One of an eager trace needs what it stands for.
  PyTensor(Tensor symbolic, std::shared_ptr<Tracing> tracing);
  PyTensor(const PyTensor&) = delete;
  PyTensor& operator=(const PyTensor&) = delete;
  ~PyTensor();

  // As an operand of what is done now. Throws Error{invalid_argument} if it belongs to a trace that has
  // ended.
  const Tensor& get() const;
  // What it stands for. Throws Error{invalid_argument} if that is not known before the trace is run.
  const Tensor& concrete() const;
  const TensorType& type() const { return tensor_.type(); }
  bool is_symbolic() const { return tracing_ != nullptr && value_ == nullptr; }

 private:
  friend class Storage;
  Tensor tensor_;
  std::shared_ptr<Tracing> tracing_;
  std::shared_ptr<PyTensor> value_;   // of an eager trace
  std::shared_ptr<Storage> storage_;  // whose contents these are, until it is written
};

// The bytes of a variable. Programs write them in place; whoever holds a value() keeps what it was. All needs
// the interpreter's lock, and waits while a Program of another thread writes.
class Storage : public std::enable_shared_from_this<Storage> {
 public:
  // `spill`: in a file in this folder (memory/spill.h), where it is large enough; empty: in memory.
  explicit Storage(const Tensor& initial, const std::string& spill = {});
  // Of zeros: never held twice, as what is copied is.
  static std::shared_ptr<Storage> zeros(const TensorType& type);
  // One that has addresses but no memory: to plan steps with, not to run them.
  static std::shared_ptr<Storage> planned(const TensorType& type, bool spilled);
  // Moves the contents of those that are large enough into files. Throws as spill::make(); then all are where
  // they were. Programs made before have the old places: is_current() says so.
  static void spill(const std::vector<std::shared_ptr<Storage>>& all, const std::string& folder);

  const Tensor& tensor() const { return tensor_; }
  bool is_spilled() const { return spilled_; }
  std::unique_ptr<PyTensor> value();
  void assign(const Tensor& value);
  // Before they are written: gives each value() still held bytes of its own.
  void detach();
  // Who writes from now on; nullptr: nobody.
  void set_writer(std::shared_ptr<Workplace> writer) { writer_ = std::move(writer); }

 private:
  friend class PyTensor;
  struct Planned {};
  Storage(Planned, Tensor tensor, bool spilled) : tensor_(std::move(tensor)), spilled_(spilled) {}
  // Whether another thread writes.
  bool is_busy() const { return writer_ && !writer_->is_mine(); }
  void wait();
  void let_go() const noexcept;
  Tensor tensor_;
  bool spilled_ = false;
  std::vector<PyTensor*> views_;
  std::shared_ptr<Workplace> writer_;
};

// The trace that this thread is in; nullptr outside of any.
std::shared_ptr<Tracing>& current_tracing();

std::unique_ptr<PyTensor> wrap(Tensor tensor);
std::vector<std::unique_ptr<PyTensor>> wrap(std::vector<Tensor> tensors);

}  // namespace plimsoll::python
