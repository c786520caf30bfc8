// Trace: a computation recorded from Python, and the Program made of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plimsoll/program.h"
#include "rows.h"
#include "tensor.h"

namespace plimsoll::python {

using Writes = std::vector<std::shared_ptr<Storage>>;
using Outputs = std::vector<std::unique_ptr<PyTensor>>;

// What of spilled variables is resident at a time while a step updates these: those of one weight at most.
int64_t spill_window(const Writes& written);

class PyProgram {
 public:
  // Requires the turn of `place`.
  PyProgram(const Graph& graph, Writes written, std::shared_ptr<Workplace> place, CompileOptions options);

  // Without the interpreter's lock while it runs; so does run_rows.
  std::optional<Outputs> run(const std::vector<const PyTensor*>& inputs);

  // Steps over `batches` batches of rows from `first` on, in the order that `order` says (empty: theirs).
  // Returns after `seconds` at the latest, or when another thread wants its turn, though not before a step
  // has ended; signals are handled meanwhile. `into`: for each output bytes where those of all steps are put
  // one after the other; or empty. `flag`: an output, a bool, after which it returns if it is false; -1:
  // none.
  struct Round {
    int64_t done = 0;  // batches
    Outputs last;      // of the last of them
  };
  Round run_rows(const Rows& rows, nanobind::handle order, int64_t first, int64_t batches, double seconds,
                 const std::vector<nanobind::object>& into, int64_t flag);
  // Where the numbers come from that the last output says are not finite, for people. No inputs: those of the
  // last step of run_rows().
  std::string find_nonfinite(const std::optional<std::vector<const PyTensor*>>& inputs);

  const MemoryReport& memory() const { return program_.memory(); }
  // Whether its variables are where they were when it was made. One that is not does nothing: run() gives
  // nothing, run_rows() does no batch.
  bool is_current() const;
  std::string text() const { return program_.text(); }

 private:
  class Writing;
  Program program_;
  Writes written_;
  std::vector<const Buffer*> places_;  // of these
  std::shared_ptr<Workplace> place_;
  std::vector<TensorType> inputs_, outputs_;
};

// While it is entered, ops on concrete tensors that make something large are recorded too.
class Trace {
 public:
  using Updates = std::vector<std::pair<std::shared_ptr<Storage>, const PyTensor*>>;

  explicit Trace(bool eager) : tracing_(std::make_shared<Tracing>(Tracing{&graph_, eager})) {}
  ~Trace() { finish(); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  std::unique_ptr<PyTensor> input(const std::string& name, const TensorType& type);
  // An input of an eager trace, that gradients can be taken to.
  std::unique_ptr<PyTensor> watched(const PyTensor& value);
  // The same one for the same storage.
  std::unique_ptr<PyTensor> variable(const std::string& name, const std::shared_ptr<Storage>& storage);
  void enter();
  void exit();
  // Names of layers for what is recorded from now on; returns the one before.
  std::string set_layer(std::string layer) { return graph_.set_layer(std::move(layer)); }

  // Its tensors are dead, those of an eager one go on as what they stand for.
  void finish() noexcept;
  // After these the trace has ended. `updates`: (variable, what it is after a run).
  std::unique_ptr<PyProgram> compile(const std::vector<const PyTensor*>& outputs, const Updates& updates,
                                     const std::shared_ptr<Workplace>& place, CompileOptions options);
  struct Forecast {
    MemoryReport program;
    int64_t spilled = 0;  // of the variables
    int64_t window = 0;   // of these, resident while a step runs
  };
  // rehearsed: the Program is made for a moment, so that its code can be measured.
  Forecast forecast(const std::vector<const PyTensor*>& outputs, const Updates& updates,
                    const CompileOptions& options, bool rehearsed);
  std::string text() const { return graph_.text(); }

 private:
  void end(const std::vector<const PyTensor*>& outputs, const Updates& updates);
  std::unique_ptr<PyTensor> known(const Tensor& symbolic, std::shared_ptr<PyTensor> value);
  Graph graph_;
  std::shared_ptr<Tracing> tracing_;
  std::vector<std::shared_ptr<Tracing>> before_;
  std::vector<std::shared_ptr<Storage>> storages_;  // kept alive as long as the graph names them
};

}  // namespace plimsoll::python
