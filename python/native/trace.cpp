#include "trace.h"

#include "memory/planning.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"
#include "unlocked.h"

namespace plimsoll::python {

namespace {

Writes written_by(const Trace::Updates& updates) {
  Writes written;
  for (const auto& [storage, next] : updates) written.push_back(storage);
  return written;
}

// Makes the Program, whatever the line says, and lets it go: the code that this brings into memory is there to
// be measured. Its arena is never touched.
void rehearse(const Graph& graph, CompileOptions options, int64_t arena) {
  const account::Planning planning;
  options.memory = arena;
  try {
    (void)Program::compile(graph, options);
  } catch (const Error&) {
    // what cannot be made even so is refused as it was
  }
}

}  // namespace

std::unique_ptr<PyTensor> Trace::input(const std::string& name, const TensorType& type) {
  require(tracing_->graph != nullptr, "trace", "expected one that has not ended");
  return std::make_unique<PyTensor>(graph_.input(name, type.dtype, type.shape), tracing_);
}

std::unique_ptr<PyTensor> Trace::variable(const std::string& name, const std::shared_ptr<Storage>& storage) {
  require(tracing_->graph != nullptr, "trace", "expected one that has not ended");
  storages_.push_back(storage);
  const Tensor variable = graph_.variable(name, storage->tensor());
  return tracing_->eager ? known(variable, storage->value()) : std::make_unique<PyTensor>(variable, tracing_);
}

std::unique_ptr<PyTensor> Trace::watched(const PyTensor& value) {
  require(tracing_->graph != nullptr && tracing_->eager, "trace", "expected an eager one that has not ended");
  return known(graph_.input("", value.type().dtype, value.type().shape),
               std::make_shared<PyTensor>(value.concrete()));
}

std::unique_ptr<PyTensor> Trace::known(const Tensor& symbolic, std::shared_ptr<PyTensor> value) {
  tracing_->values.resize(graph_.values().size());
  tracing_->values[symbolic.id()] = std::move(value);
  return std::make_unique<PyTensor>(symbolic, tracing_);
}

void Trace::finish() noexcept {
  tracing_->graph = nullptr;
  tracing_->values.clear();
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

void Trace::end(const std::vector<const PyTensor*>& outputs, const Updates& updates) {
  require(tracing_->graph != nullptr, "trace", "expected one that has not ended");
  const auto value = [&](const PyTensor& t) { return t.is_symbolic() ? t.get() : graph_.constant(t.get()); };
  for (size_t i = 0; i < outputs.size(); ++i) graph_.output(concat("y", i), value(*outputs[i]));
  for (const auto& [storage, next] : updates)
    graph_.update(graph_.variable("", storage->tensor()), value(*next));
  finish();
}

std::unique_ptr<PyProgram> Trace::compile(const std::vector<const PyTensor*>& outputs, const Updates& updates,
                                          const std::shared_ptr<Workplace>& place, CompileOptions options) {
  end(outputs, updates);
  Writes written = written_by(updates);
  const Workplace::Turn turn(place);
  const Unlocked unlocked;
  return std::make_unique<PyProgram>(graph_, std::move(written), place, std::move(options));
}

Trace::Forecast Trace::forecast(const std::vector<const PyTensor*>& outputs, const Updates& updates,
                                const CompileOptions& options, bool rehearsed) {
  end(outputs, updates);
  const Writes written = written_by(updates);
  Forecast f;
  f.window = spill_window(written);
  for (const std::shared_ptr<Storage>& s : written) {
    if (s->is_spilled()) f.spilled += byte_size(s->tensor().dtype(), s->tensor().shape());
  }
  const Unlocked unlocked;
  f.program = Program::forecast(graph_, options);
  if (rehearsed) rehearse(graph_, options, f.program.arena);
  return f;
}

}  // namespace plimsoll::python
