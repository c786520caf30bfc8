#include "tensor.h"

#include <algorithm>

#include "graph/op.h"
#include "memory/spill.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "train/optimizer_state.h"
#include "train/planned_state.h"

namespace plimsoll::python {

void Tracing::compute() {
  values.resize(graph->values().size());
  for (; computed < graph->nodes().size(); ++computed) {
    const Node& node = graph->node(static_cast<NodeId>(computed));
    std::vector<Tensor> in;
    for (const ValueId id : node.inputs) in.push_back(values[id]->concrete());
    const std::vector<Tensor> out = apply_eager(*node.op, in, node.attrs);
    for (size_t i = 0; i < out.size(); ++i) values[node.outputs[i]] = std::make_shared<PyTensor>(out[i]);
  }
}

namespace {

// The first that `is`, of what is recorded now and what lies around that; null if there is none.
template <class Is>
const std::shared_ptr<Tracing>& open_tracing(Is is) {
  const std::shared_ptr<Tracing>* tracing = &current_tracing();
  while (*tracing && !is(**tracing)) tracing = &(*tracing)->around;
  return *tracing;
}

}  // namespace

PyTensor::PyTensor(Tensor symbolic, std::shared_ptr<Tracing> tracing)
    : tensor_(std::move(symbolic)), tracing_(std::move(tracing)) {
  if (tracing_->eager) value_ = tracing_->values[tensor_.id()];
}

PyTensor::~PyTensor() {
  if (!storage_) return;
  std::erase(storage_->views_, this);
  storage_->let_go();
}

const Tensor& PyTensor::concrete() const {
  require(!is_symbolic(), "tensor", "expected one with a value, got one of a step that is being traced");
  return value_ ? value_->concrete() : tensor_;
}

const Tensor& PyTensor::get() const {
  // The body of a loop in an eager trace takes its values as they were recorded, so that gradients reach
  // them.
  const auto is_mine = [&](const Tracing& t) { return &t == tracing_.get(); };
  if (value_ && (tracing_->graph == nullptr || !open_tracing(is_mine))) return value_->concrete();
  require(tracing_ == nullptr || tracing_->graph != nullptr, "tensor",
          "expected a value, got one of a step that was being traced and has ended: do not keep tensors "
          "from inside a train_step, a call() or a loop body in an attribute or a list outside of it");
  return tensor_;
}

namespace {

int64_t bytes_of(const Tensor& t) { return byte_size(t.dtype(), t.shape()); }

Tensor in_file(const Tensor& contents, const std::string& folder) {
  Tensor made(contents.dtype(), contents.shape(), spill::make(bytes_of(contents), folder));
  assign(made, contents);
  spill::let_go(*made.buffer());
  return made;
}

}  // namespace

Storage::Storage(const Tensor& initial, const std::string& spill)
    : spilled_(!spill.empty() && bytes_of(initial) >= spill::kLeast) {
  tensor_ = spilled_ ? in_file(initial, spill) : initial.copy();
}

std::shared_ptr<Storage> Storage::zeros(const TensorType& type) {
  return std::shared_ptr<Storage>(new Storage(Planned{}, Tensor::zeros(type.dtype, type.shape), false));
}

std::shared_ptr<Storage> Storage::planned(const TensorType& type, bool spilled) {
  const PlannedState planned;
  return std::shared_ptr<Storage>(new Storage(Planned{}, make_state(type.dtype, type.shape, 0),
                                              spilled && byte_size(type.dtype, type.shape) >= spill::kLeast));
}

void Storage::spill(const std::vector<std::shared_ptr<Storage>>& all, const std::string& folder) {
  spill::check(folder);
  // To wait for one lets others be written: from the look at the last on nobody else runs.
  while (std::ranges::any_of(all, [](const auto& s) { return s->is_busy(); })) {
    for (const std::shared_ptr<Storage>& s : all) s->wait();
  }
  std::vector<std::pair<Storage*, Tensor>> moved;
  for (const std::shared_ptr<Storage>& s : all) {
    if (!s->spilled_ && bytes_of(s->tensor_) >= spill::kLeast)
      moved.emplace_back(s.get(), in_file(s->tensor_, folder));
  }
  for (auto& [storage, there] : moved) {
    // Who holds a value() has the old bytes, which nobody writes any more.
    for (PyTensor* view : std::exchange(storage->views_, {})) std::exchange(view->storage_, nullptr);
    storage->tensor_ = std::move(there);
    storage->spilled_ = true;
  }
}

void Storage::let_go() const noexcept {
  if (spilled_) spill::let_go(*tensor_.buffer());
}

void Storage::wait() {
  while (is_busy()) const Workplace::Turn turn(writer_);
}

std::unique_ptr<PyTensor> Storage::value() {
  wait();
  auto view = std::make_unique<PyTensor>(tensor_);
  view->storage_ = shared_from_this();
  views_.push_back(view.get());
  return view;
}

void Storage::assign(const Tensor& value) {
  if (value.buffer() == tensor_.buffer()) return;
  if (spilled_) spill::check_mine(tensor_.buffer()->address());
  wait();
  detach();
  plimsoll::assign(tensor_, value);
  let_go();
}

void Storage::detach() {
  if (views_.empty()) return;
  const Tensor copy = tensor_.copy();
  for (PyTensor* view : std::exchange(views_, {})) {
    view->tensor_ = copy;
    // The last: it may be what keeps this alive.
    std::exchange(view->storage_, nullptr);
  }
}

std::shared_ptr<Tracing>& current_tracing() {
  thread_local std::shared_ptr<Tracing> current;
  return current;
}

std::unique_ptr<PyTensor> wrap(Tensor tensor) {
  if (!tensor.is_symbolic()) return std::make_unique<PyTensor>(std::move(tensor));
  // What a body makes of values from around it alone belongs there, and has a value if these have.
  const std::shared_ptr<Tracing>& tracing =
      open_tracing([&](const Tracing& t) { return t.graph == &tensor.graph(); });
  require(tracing != nullptr, "tensor", "expected to be inside of the trace that it belongs to");
  if (tracing->eager) tracing->compute();
  return std::make_unique<PyTensor>(std::move(tensor), tracing);
}

std::vector<std::unique_ptr<PyTensor>> wrap(std::vector<Tensor> tensors) {
  std::vector<std::unique_ptr<PyTensor>> out;
  for (Tensor& t : tensors) out.push_back(wrap(std::move(t)));
  return out;
}

}  // namespace plimsoll::python
