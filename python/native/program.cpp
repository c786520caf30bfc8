// PyProgram.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "trace.h"
#include "unlocked.h"

namespace nb = nanobind;

namespace plimsoll::python {
namespace {

using Clock = std::chrono::steady_clock;
// How long a signal may wait. To ask costs the interpreter's lock, which another thread may have.
constexpr std::chrono::milliseconds kSignalsEvery{1};

// Beside what spilled variables will have.
Program compile_in(Workplace& place, const Graph& graph, const Writes& written, CompileOptions options) {
  place.hold_spilled(spill_window(written));
  options.arena = place.arena();
  return Program::compile(graph, options);
}

// Slots that one weight has of one shape, if slots are shared out evenly among weights of that shape.
int64_t slots_per_weight(const Writes& written, const TensorType& type) {
  const auto count = [&](bool spilled) {
    return std::ranges::count_if(written, [&](const std::shared_ptr<Storage>& s) {
      return s->is_spilled() == spilled && s->tensor().shape() == type.shape;
    });
  };
  const int64_t slots = count(true), weights = std::max<int64_t>(count(false), 1);
  return (slots + weights - 1) / weights;
}

// Where the outputs of all steps go.
class Destinations {
 public:
  Destinations(const std::vector<nb::object>& into, std::span<const TensorType> types, int64_t batches) {
    require(into.empty() || into.size() == types.size(), "program", "expected a place for each of ",
            types.size(), " outputs, got ", into.size());
    for (size_t i = 0; i < into.size(); ++i) {
      const Bytes& bytes =
          *places_.emplace_back(std::make_unique<Bytes>(into[i], PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE));
      sizes_.push_back(byte_size(types[i].dtype, types[i].shape));
      require(batches == 0 || bytes.size() / batches >= sizes_[i], "program", "expected a place for ",
              batches, " batches of ", types[i], ", got ", bytes.size(), " bytes");
    }
  }
  void put(int64_t batch, std::span<const Tensor> outputs) const {
    for (size_t i = 0; i < places_.size(); ++i) {
      if (sizes_[i] > 0)
        std::memcpy(static_cast<char*>(places_[i]->data()) + batch * sizes_[i], read_bytes(outputs[i]),
                    static_cast<size_t>(sizes_[i]));
    }
  }

 private:
  std::vector<std::unique_ptr<Bytes>> places_;
  std::vector<int64_t> sizes_;
};

// Python's handlers, Ctrl-C's among them, while a thread that has given up the interpreter's lock works.
class Signals {
 public:
  // True if it is time and they were called. Throws what they raise.
  bool handled() {
    const Clock::time_point now = Clock::now();
    if (now - last_ < kSignalsEvery) return false;
    const Relocked relocked;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    last_ = Clock::now();
    return true;
  }

 private:
  Clock::time_point last_ = Clock::now();
};

}  // namespace

int64_t spill_window(const Writes& written) {
  int64_t most = 0;
  for (const std::shared_ptr<Storage>& s : written) {
    if (!s->is_spilled()) continue;
    const TensorType& type = s->tensor().type();
    most = std::max(most, slots_per_weight(written, type) * byte_size(type.dtype, type.shape));
  }
  return most;
}

// While one lives, this thread runs a Program that writes these.
class PyProgram::Writing {
 public:
  explicit Writing(PyProgram& p) : turn_(p.place_), written_(p.written_) {
    for (const std::shared_ptr<Storage>& s : written_) s->set_writer(p.place_);
    detach();
  }
  ~Writing() {
    for (const std::shared_ptr<Storage>& s : written_) s->set_writer(nullptr);
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  void detach() const {
    for (const std::shared_ptr<Storage>& s : written_) s->detach();
  }

 private:
  Workplace::Turn turn_;
  const Writes& written_;
};

PyProgram::PyProgram(const Graph& graph, Writes written, std::shared_ptr<Workplace> place,
                     CompileOptions options)
    : program_(compile_in(*place, graph, written, std::move(options))),
      written_(std::move(written)),
      place_(std::move(place)) {
  for (const std::shared_ptr<Storage>& s : written_) places_.push_back(s->tensor().buffer().get());
  for (const GraphInput& in : graph.inputs()) inputs_.push_back(graph.type(in.value));
  for (const GraphOutput& out : graph.outputs()) outputs_.push_back(graph.type(out.value));
}

bool PyProgram::is_current() const {
  return std::ranges::equal(written_, places_, {}, [](const auto& s) { return s->tensor().buffer().get(); });
}

std::optional<Outputs> PyProgram::run(const std::vector<const PyTensor*>& inputs) {
  std::vector<Tensor> in;
  in.reserve(inputs.size());
  for (const PyTensor* t : inputs) in.push_back(t->concrete());
  std::vector<Tensor> out;
  {
    const Writing writing(*this);
    if (!is_current()) return std::nullopt;
    const Unlocked unlocked;
    out = program_(in);
  }
  return wrap(std::move(out));
}

PyProgram::Round PyProgram::run_rows(const Rows& rows, nb::handle order, int64_t first, int64_t batches,
                                     double seconds, const std::vector<nb::object>& into, int64_t flag) {
  std::unique_ptr<Bytes> order_bytes;
  std::span<const int64_t> indices;
  if (!order.is_none()) {
    order_bytes = std::make_unique<Bytes>(order, PyBUF_C_CONTIGUOUS);
    indices = {static_cast<const int64_t*>(order_bytes->data()),
               static_cast<size_t>(order_bytes->size()) / 8};
  }
  require(!inputs_.empty(), "program", "expected one that takes inputs, to run it over rows");
  require(flag < std::ssize(outputs_), "program", "expected one of ", outputs_.size(), " outputs, got ",
          flag);
  const Destinations destinations(into, outputs_, batches);
  Round round;
  if (batches <= 0) return round;
  std::vector<Tensor> out(outputs_.size());
  {
    const Writing writing(*this);
    if (!is_current()) return round;
    const std::span<const Tensor> in = place_->batch(inputs_);
    const Unlocked unlocked;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    Signals signals;
    while (round.done < batches) {
      rows.fill(in, first + round.done * inputs_[0].shape.dim(0), indices);
      program_.run(in, out);
      destinations.put(round.done++, out);
      stay_if_late();
      if (flag >= 0 && out[static_cast<size_t>(flag)].item() == 0) break;
      if (signals.handled()) {
        const Relocked relocked;
        writing.detach();
      }
      if (place_->is_wanted() || Clock::now() >= end) break;
    }
  }
  round.last = wrap(std::move(out));
  return round;
}

std::string PyProgram::find_nonfinite(const std::optional<std::vector<const PyTensor*>>& inputs) {
  std::vector<Tensor> given;
  if (inputs) {
    for (const PyTensor* t : *inputs) given.push_back(t->concrete());
  }
  const Writing writing(*this);
  const std::span<const Tensor> in = inputs ? std::span<const Tensor>(given) : place_->batch(inputs_);
  const Unlocked unlocked;
  return program_.find_nonfinite(in, outputs_.size() - 1).str();
}

}  // namespace plimsoll::python
