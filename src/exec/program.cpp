#include "plimsoll/program.h"

#include <algorithm>
#include <map>

#include "device/cpu/shared_primitives.h"
#include "device/cpu/thread_pool.h"
#include "exec/device_steps.h"
#include "exec/step_list.h"
#include "memory/arena.h"
#include "memory/budget.h"
#include "memory/buffer.h"
#include "memory/charge.h"
#include "memory/line.h"
#include "memory/planning.h"
#include "passes/passes.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

PlanOptions plan_options(const CompileOptions& o) { return {.reuse = !o.no_reuse, .reorder = !o.no_reuse}; }

// An arena of fewer bytes is not worth asking the system about.
constexpr int64_t kMuch = 32 << 20;

// What the lines around this thread leave for the arena, with what it has; what can be made again goes first.
int64_t arena_left(int64_t wanted, int64_t program, const Arena* arena) {
  const auto left = [&] {
    int64_t bytes = account::left();
    // Without a line, what the system has. Asked where it matters.
    if (bytes == account::kNoLimit && wanted >= kMuch) bytes = line::room();
    return bytes == account::kNoLimit ? kNoLine : bytes - program + (arena ? arena->bytes() : 0);
  };
  while (left() < wanted && account::reclaim()) {
  }
  return left();
}

ArenaLine arena_line(const CompileOptions& o) {
  if (o.memory >= 0) return [line = o.memory](int64_t, int64_t) { return line; };
  if (o.device) {
    return [device = o.device](int64_t, int64_t) {
      const DeviceAccount& account = device->account();
      if (account.limit() == account::kNoLimit) return kNoLine;
      return account.limit() - account.used() + device->arena_bytes();
    };
  }
  return
      [arena = o.arena](int64_t wanted, int64_t program) { return arena_left(wanted, program, arena.get()); };
}

StepOptions step_options(const CompileOptions& o) {
  StepOptions s;
  s.threads = available_threads(o.threads > 0 ? o.threads : hardware_threads());
  s.reference_kernels = o.reference_kernels;
  s.poison = o.poison;
  s.plan = plan_options(o);
  s.line = arena_line(o);
  return s;
}

// The graph as what it will run on likes it.
Graph prepared(const Graph& graph, const CompileOptions& o) {
  return run_passes(graph, o.skip_passes, o.device ? o.device->capabilities() : cpu_capabilities());
}

MemoryReport report(const Steps& steps) {
  MemoryReport r;
  r.arena = steps.plan().arena_bytes();
  r.lower_bound = steps.plan().lower_bound();
  r.program = steps.bytes();
  r.kept = steps.kept();
  const LineReport& line = steps.line();
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

void check_fits(const Steps& steps, const CompileOptions& options) {
  if (steps.line().fits) return;
  MemoryLineError::Numbers n{.need = steps.line().unlimited, .least = steps.plan().arena_bytes()};
  n.line = std::max<int64_t>(arena_line(options)(n.need, steps.bytes()), 0);
  n.layers = layers_at_peak(steps.graph(), steps.plan());
  throw MemoryLineError(
      "program",
      concat("the step needs ", memory_text(n.need), " for temporaries, at least ", memory_text(n.least),
             " with values made again; the line leaves ", memory_text(n.line)),
      std::move(n));
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
  Body(std::unique_ptr<Steps> list, std::shared_ptr<Arena> bytes)
      : steps(std::move(list)), arena(std::move(bytes)), memory(report(*steps)) {
    charge.set(Owner::programs, memory.program);
  }

  static std::unique_ptr<Body> on_cpu(Graph graph, const CompileOptions& options);
  static std::unique_ptr<Body> on_device(Graph graph, const CompileOptions& options);

  void check(std::span<const Tensor> inputs, std::span<Tensor> outputs) const;
  void check_apart(std::span<const Tensor> inputs, std::span<const Tensor> outputs, size_t i) const;

  std::unique_ptr<Steps> steps;
  std::shared_ptr<Arena> arena;  // of the CPU; on a device there is nothing in it
  MemoryReport memory;
  Charge charge;
};

std::unique_ptr<Program::Body> Program::Body::on_cpu(Graph graph, const CompileOptions& options) {
  auto list = std::make_unique<StepList>(std::move(graph), step_options(options));
  const std::shared_ptr<Arena> arena = options.arena ? options.arena : std::make_shared<Arena>(0);
  StepList& steps = *list;
  check_fits(steps, options);
  auto body = std::make_unique<Body>(std::move(list), arena);
  const InUse::Turn turn(arena->in_use(), "program", kOneAtATime);
  arena->ensure(steps.plan().arena_bytes());
  steps.bind_arena(arena->base());
  return body;
}

std::unique_ptr<Program::Body> Program::Body::on_device(Graph graph, const CompileOptions& options) {
  auto steps = std::make_unique<DeviceSteps>(std::move(graph), options.device, plan_options(options),
                                             arena_line(options));
  check_fits(*steps, options);
  return std::make_unique<Body>(std::move(steps), std::make_shared<Arena>(0));
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
    return Program(options.device ? Body::on_device(prepared(graph, options), options)
                                  : Body::on_cpu(prepared(graph, options), options));
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::out_of_memory, "program", "no memory left to make a program of ", graph.nodes().size(),
         " nodes");
  }
}

MemoryReport Program::forecast(const Graph& graph, const CompileOptions& options) {
  const account::Planning planning;
  const SharedPrimitives shared;
  std::unique_ptr<Steps> steps;
  if (options.device)
    steps = std::make_unique<DeviceSteps>(prepared(graph, options), options.device, plan_options(options),
                                          arena_line(options), false);
  else
    steps = std::make_unique<StepList>(prepared(graph, options), step_options(options));
  MemoryReport r = report(*steps);
  r.layers = layers_at_peak(steps->graph(), steps->plan());
  return r;
}

void Program::run(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  Body& b = body();
  const InUse::Turn turn(b.arena->in_use(), "program", kOneAtATime);
  b.check(inputs, outputs);
  b.steps->run(inputs, outputs);
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
