// Trace: a computation recorded from Python, and the Program made of it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plimsoll/program.h"
#include "tensor.h"

namespace plimsoll::python {

class PyProgram {
 public:
  PyProgram(const Graph& graph, std::vector<std::shared_ptr<Storage>> written, const CompileOptions& options)
      : program_(Program::compile(graph, options)), written_(std::move(written)) {}

  // Without the interpreter's lock while it runs.
  std::vector<std::unique_ptr<PyTensor>> run(const std::vector<const PyTensor*>& inputs);
  const MemoryReport& memory() const { return program_.memory(); }
  std::string text() const { return program_.text(); }

 private:
  Program program_;
  std::vector<std::shared_ptr<Storage>> written_;
};

// While it is entered, ops on concrete tensors that make something large are recorded too.
class Trace {
 public:
  Trace() : tracing_(std::make_shared<Tracing>()) { tracing_->graph = &graph_; }
  ~Trace() { tracing_->graph = nullptr; }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  std::unique_ptr<PyTensor> input(const std::string& name, const TensorType& type);
  // The same one for the same storage.
  std::unique_ptr<PyTensor> variable(const std::string& name, const std::shared_ptr<Storage>& storage);
  void enter();
  void exit();
  // Names of layers for what is recorded from now on; returns the one before.
  std::string set_layer(std::string layer) { return graph_.set_layer(std::move(layer)); }

  // After it the trace has ended and its tensors are dead. `updates`: (variable, what it is after a run).
  std::unique_ptr<PyProgram> compile(
      const std::vector<const PyTensor*>& outputs,
      const std::vector<std::pair<std::shared_ptr<Storage>, const PyTensor*>>& updates,
      const CompileOptions& options);
  std::string text() const { return graph_.text(); }

 private:
  Graph graph_;
  std::shared_ptr<Tracing> tracing_;
  std::vector<std::shared_ptr<Tracing>> before_;
  std::vector<std::shared_ptr<Storage>> storages_;  // kept alive as long as the graph names them
};

}  // namespace plimsoll::python
