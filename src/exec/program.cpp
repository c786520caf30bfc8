#include "plimsoll/program.h"

#include <algorithm>
#include <map>

#include "common/log.h"
#include "device/cpu/shared_primitives.h"
#include "exec/beat.h"
#include "exec/fitted.h"
#include "exec/nonfinite.h"
#include "exec/step_list.h"
#include "memory/arena.h"
#include "memory/budget.h"
#include "memory/buffer.h"
#include "memory/charge.h"
#include "memory/line.h"
#include "memory/planning.h"
#include "plan/row_jobs.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

MemoryReport report(const FittedSteps& fitted) {
  const Steps& steps = *fitted.steps;
  MemoryReport r;
  r.arena = steps.plan().arena_bytes();
  r.lower_bound = steps.plan().lower_bound();
  r.program = steps.bytes();
  r.kept = steps.kept();
  const LineReport& line = fitted.line;
  r.parts = fitted.parts;
  r.fits = line.fits;
  r.unlimited = line.unlimited;
  r.seconds = line.seconds;
  r.extra_seconds = line.extra_seconds;
  r.least_extra = line.least_extra;
  for (size_t i = 0; i < steps.size(); ++i) r.again += steps.runs_again(i);
  for (const GraphVariable& v : steps.graph().variables())
    r.variables += byte_size(v.storage.dtype(), v.storage.shape());
  for (const Node& n : steps.graph().nodes()) {
    for (const auto& [name, value] : n.attrs) {
      if (const Tensor* t = std::get_if<Tensor>(&value)) r.constants += byte_size(t->dtype(), t->shape());
    }
  }
  return r;
}

// Walks through the steps with what lies in the arena, by offset: an output in place of an input takes its
// bytes over.
std::vector<std::pair<std::string, int64_t>> layers_at_peak(const Graph& graph, const Plan& plan) {
  std::map<int64_t, std::pair<ValueId, int64_t>> live, at_peak;
  int64_t now = 0, peak = 0;
  for (size_t step = 0; step < plan.order().size(); ++step) {
    for (const ValueId v : graph.node(plan.order()[step]).outputs) {
      if (plan.place(v).kind != Place::Kind::arena) continue;
      auto& [value, bytes] = live[plan.place(v).at];
      now += byte_size(graph.type(v).dtype, graph.type(v).shape) - bytes;
      value = v;
      bytes = byte_size(graph.type(v).dtype, graph.type(v).shape);
    }
    if (now > peak) {
      peak = now;
      at_peak = live;
    }
    for (const ValueId v : plan.dying(step)) {
      const auto found = live.find(plan.place(v).at);
      if (found == live.end()) continue;
      now -= found->second.second;
      live.erase(found);
    }
  }
  std::map<std::string, int64_t> sums;
  for (const auto& [offset, held] : at_peak)
    sums[graph.node(graph.value(held.first).producer).layer] += held.second;
  std::vector<std::pair<std::string, int64_t>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

void check_fits(const FittedSteps& fitted, const CompileOptions& options) {
  if (fitted.line.fits) return;
  const Steps& steps = *fitted.steps;
  MemoryLineError::Numbers n{.need = fitted.line.unlimited, .least = steps.plan().arena_bytes()};
  n.line = std::max<int64_t>(arena_line(options)(n.need, steps.bytes()), 0);
  n.layers = layers_at_peak(steps.graph(), steps.plan());
  const std::string how = fitted.parts > 1 ? concat("in ", fitted.parts, " parts of the batch")
                                           : std::string("with values made again");
  throw MemoryLineError("program",
                        concat("the step needs ", memory_text(n.need), " for temporaries, at least ",
                               memory_text(n.least), " ", how, "; the line leaves ", memory_text(n.line)),
                        std::move(n));
}

// What is not exact is said.
void say_parts(int64_t parts, int64_t rows) {
  warn("program", "to stay under the memory line, a batch of ", rows, " rows runs in ", parts,
       " parts, with sums over all of it: results equal those of the whole batch to rounding, not bit by bit "
       "(micro_batch \"never\" refuses instead)");
}

constexpr std::string_view kOneAtATime =
    "expected one run at a time of a Program and of those that share its arena (give each thread its own)";

bool share_bytes(const Tensor& a, const Tensor& b) {
  const auto range = [](const Tensor& t) {
    const auto start = reinterpret_cast<uintptr_t>(t.buffer()->address());
    return std::pair(start, start + static_cast<uintptr_t>(byte_size(t.dtype(), t.shape())));
  };
  const auto [a_start, a_end] = range(a);
  const auto [b_start, b_end] = range(b);
  return a_start < b_end && b_start < a_end;
}

}  // namespace

struct Program::Body {
  Body(FittedSteps fitted, std::shared_ptr<Arena> bytes)
      : arena(std::move(bytes)), memory(report(fitted)), steps(std::move(fitted.steps)) {
    charge.set(Owner::programs, memory.program);
  }

  static std::unique_ptr<Body> make(const Graph& graph, const CompileOptions& options);

  void check(std::span<const Tensor> inputs, std::span<Tensor> outputs) const;
  void check_apart(std::span<const Tensor> inputs, std::span<const Tensor> outputs, size_t i) const;

  std::shared_ptr<Arena> arena;  // of the CPU; on a device there is nothing in it
  MemoryReport memory;
  std::unique_ptr<Steps> steps;
  Charge charge;
};

std::unique_ptr<Program::Body> Program::Body::make(const Graph& graph, const CompileOptions& options) {
  FittedSteps fitted = fit_steps(graph, options, true);
  check_fits(fitted, options);
  if (fitted.parts > 1 && options.parts == 0) say_parts(fitted.parts, batch_rows(graph));
  const bool own = options.device || !options.arena;
  auto body = std::make_unique<Body>(std::move(fitted), own ? std::make_shared<Arena>(0) : options.arena);
  if (options.device) return body;
  const InUse::Turn turn(body->arena->in_use(), "program", kOneAtATime);
  body->arena->ensure(body->steps->plan().arena_bytes());
  static_cast<StepList&>(*body->steps).bind_arena(body->arena->base());
  return body;
}

// Undefined outputs are made.
void Program::Body::check(std::span<const Tensor> inputs, std::span<Tensor> outputs) const {
  const Graph& graph = steps->graph();
  const size_t in = graph.inputs().size(), out = graph.outputs().size();
  require(inputs.size() == in, "program", "expected ", in, " inputs, got ", inputs.size());
  require(outputs.size() == out, "program", "expected ", out, " outputs, got ", outputs.size());
  for (size_t i = 0; i < in; ++i) {
    const GraphInput& input = graph.inputs()[i];
    require(inputs[i].type() == graph.type(input.value), "program", "expected input '", input.name,
            "' of type ", graph.type(input.value), ", got ", inputs[i].type());
    require(inputs[i].buffer() != nullptr, "program", "expected a concrete tensor for input '", input.name,
            "', got a value of a graph");
  }
  for (size_t i = 0; i < out; ++i) {
    const GraphOutput& output = graph.outputs()[i];
    const TensorType& type = graph.type(output.value);
    if (!outputs[i].defined()) outputs[i] = Tensor::empty(type.dtype, type.shape);
    require(outputs[i].type() == type && outputs[i].buffer() != nullptr, "program", "expected output '",
            output.name, "' of type ", type, ", got ", outputs[i].type());
    check_apart(inputs, outputs, i);
  }
}

// Outputs are written while inputs and variables are still read.
void Program::Body::check_apart(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                                size_t i) const {
  const auto check = [&](const Tensor& other, std::string_view what, std::string_view name) {
    require(!share_bytes(outputs[i], other), "program", "expected output '", steps->graph().outputs()[i].name,
            "' in bytes of its own, got those of ", what, " '", name, "'");
  };
  for (size_t k = 0; k < inputs.size(); ++k) check(inputs[k], "input", steps->graph().inputs()[k].name);
  for (size_t k = 0; k < i; ++k) check(outputs[k], "output", steps->graph().outputs()[k].name);
  for (const GraphVariable& v : steps->graph().variables()) check(v.storage, "variable", v.name);
}

Program::Program(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Program::Body& Program::body() const {
  require(body_ != nullptr, "program", "expected a program, got one that was moved away");
  return *body_;
}

Program Program::compile(const Graph& graph, const CompileOptions& options) {
  line::ensure();
  try {
    const SharedPrimitives shared;
    return Program(Body::make(graph, options));
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::out_of_memory, "program", "no memory left to make a program of ", graph.nodes().size(),
         " nodes");
  }
}

MemoryReport Program::forecast(const Graph& graph, const CompileOptions& options) {
  const account::Planning planning;
  const SharedPrimitives shared;
  const FittedSteps fitted = fit_steps(graph, options, false);
  MemoryReport r = report(fitted);
  r.layers = layers_at_peak(fitted.steps->graph(), fitted.steps->plan());
  return r;
}

void Program::run(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  Body& b = body();
  const InUse::Turn turn(b.arena->in_use(), "program", kOneAtATime);
  b.check(inputs, outputs);
  const Beat::Run run(*b.steps);
  b.steps->run(inputs, outputs);
}

NonFinite Program::find_nonfinite(std::span<const Tensor> inputs, size_t flag) {
  Body& b = body();
  std::vector<Tensor> outputs(b.steps->graph().outputs().size());
  require(flag < outputs.size(), "program", "expected one of ", outputs.size(), " outputs, got number ",
          flag);
  const InUse::Turn turn(b.arena->in_use(), "program", kOneAtATime);
  b.check(inputs, outputs);
  return plimsoll::find_nonfinite(*b.steps, inputs, outputs, b.steps->graph().outputs()[flag].value);
}

std::vector<Tensor> Program::operator()(std::span<const Tensor> inputs) {
  std::vector<Tensor> outputs(body().steps->graph().outputs().size());
  run(inputs, outputs);
  return outputs;
}

const MemoryReport& Program::memory() const { return body().memory; }
std::string Program::text() const { return body().steps->text(); }
std::vector<ArenaSpan> Program::timeline() const { return body().steps->timeline(); }
size_t Program::steps() const { return body().steps->size(); }

std::vector<std::pair<std::string, double>> Program::profile(std::span<const Tensor> inputs, int runs) {
  Body& b = body();
  std::vector<Tensor> outputs(b.steps->graph().outputs().size());
  std::vector<double> seconds(steps(), 0.0);
  const InUse::Turn turn(b.arena->in_use(), "program", kOneAtATime);
  b.check(inputs, outputs);
  b.steps->run(inputs, outputs);
  for (int i = 0; i < runs; ++i) b.steps->run_timed(inputs, outputs, seconds);
  std::vector<std::pair<std::string, double>> rows;
  for (size_t i = 0; i < seconds.size(); ++i) rows.emplace_back(b.steps->step_name(i), seconds[i] / runs);
  return rows;
}

}  // namespace plimsoll
