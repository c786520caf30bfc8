#include "trace.h"

#include <nanobind/nanobind.h>

#include "plimsoll/error.h"

namespace plimsoll::python {

std::vector<std::unique_ptr<PyTensor>> PyProgram::run(const std::vector<const PyTensor*>& inputs) {
  std::vector<Tensor> in;
  in.reserve(inputs.size());
  for (const PyTensor* t : inputs) in.push_back(t->get());
  for (const std::shared_ptr<Storage>& s : written_) s->detach();
  std::vector<Tensor> out;
  {
    const nanobind::gil_scoped_release released;
    out = program_(in);
  }
  return wrap(std::move(out));
}

std::unique_ptr<PyTensor> Trace::input(const std::string& name, const TensorType& type) {
  require(tracing_->graph != nullptr, "trace", "expected one that has not ended");
  return std::make_unique<PyTensor>(graph_.input(name, type.dtype, type.shape), tracing_);
}

std::unique_ptr<PyTensor> Trace::variable(const std::string& name, const std::shared_ptr<Storage>& storage) {
  require(tracing_->graph != nullptr, "trace", "expected one that has not ended");
  storages_.push_back(storage);
  return std::make_unique<PyTensor>(graph_.variable(name, storage->tensor()), tracing_);
}

void Trace::enter() {
  before_.push_back(current_tracing());
  current_tracing() = tracing_;
}

void Trace::exit() {
  require(!before_.empty(), "trace", "expected one that was entered");
  current_tracing() = std::move(before_.back());
  before_.pop_back();
}

std::unique_ptr<PyProgram> Trace::compile(
    const std::vector<const PyTensor*>& outputs,
    const std::vector<std::pair<std::shared_ptr<Storage>, const PyTensor*>>& updates,
    const CompileOptions& options) {
  require(tracing_->graph != nullptr, "trace", "expected one that has not ended");
  const auto value = [&](const PyTensor& t) { return t.is_symbolic() ? t.get() : graph_.constant(t.get()); };
  for (size_t i = 0; i < outputs.size(); ++i) graph_.output(concat("y", i), value(*outputs[i]));
  std::vector<std::shared_ptr<Storage>> written;
  for (const auto& [storage, next] : updates) {
    graph_.update(graph_.variable("", storage->tensor()), value(*next));
    written.push_back(storage);
  }
  tracing_->graph = nullptr;
  const nanobind::gil_scoped_release released;
  return std::make_unique<PyProgram>(graph_, std::move(written), options);
}

}  // namespace plimsoll::python
