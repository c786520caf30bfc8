#include "plimsoll/program.h"

#include <algorithm>
#include <functional>

#include "common/log.h"
#include "device/device.h"
#include "exec/beat.h"
#include "exec/choices.h"
#include "exec/nonfinite.h"
#include "exec/step_list.h"
#include "memory/arena.h"
#include "memory/budget.h"
#include "memory/buffer.h"
#include "memory/charge.h"
#include "memory/host.h"
#include "memory/line.h"
#include "memory/planning.h"
#include "plan/row_jobs.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

// An arena of fewer bytes is not worth asking the system about.
constexpr int64_t kMuch = 32 << 20;

// What the lines around this thread leave for a Program and its arena, with what the arena has; what can be
// made again goes first.
int64_t room_left(int64_t wanted, const Arena* arena) {
  const auto left = [&] {
    int64_t bytes = account::left();
    // Without a line, what the system has. Asked where it matters.
    if (bytes == account::kNoLimit && wanted >= kMuch) bytes = line::room();
    return bytes == account::kNoLimit ? kNoLine : bytes + (arena ? arena->bytes() : 0);
  };
  while (left() < wanted && account::reclaim()) {
  }
  return left();
}

// What the arena may have, given what the Program holds beside it.
using ArenaLine = std::function<int64_t(int64_t held)>;

ArenaLine arena_line(const CompileOptions& o, const Choice& as_it_is) {
  if (o.memory >= 0) return [line = o.memory](int64_t) { return line; };
  if (o.device) {
    const DeviceAccount& account = o.device->account();
    const int64_t line = account.limit() == account::kNoLimit
                             ? kNoLine
                             : account.limit() - account.used() + o.device->arena_bytes();
    return [line](int64_t) { return line; };
  }
  const int64_t wanted = host::round_up(as_it_is.arena, host::page_size()) + as_it_is.program;
  const int64_t room = room_left(wanted, o.arena.get());
  // An arena has whole pages; constants are there already.
  return [room, constants = as_it_is.constants](int64_t held) {
    const int64_t left = room - held + constants;
    return room == kNoLine ? room : left - std::max<int64_t>(left, 0) % host::page_size();
  };
}

[[noreturn]] void refuse(Choices& choices, const CompileOptions& options, const ArenaLine& line) {
  const auto fits = [&](int64_t arena, int64_t held) { return arena <= line(held); };
  const Choice least = choices.smallest();
  MemoryLineError::Numbers n{.need = choices.as_it_is().arena, .least = least.arena};
  n.line = std::max<int64_t>(line(choices.as_it_is().held()), 0);
  n.layers = choices.report(least, n.line).layers;
  if (!options.micro_batch) {
    choices.consent_to_parts();
    if (const auto cut = choices.cheapest(fits)) n.parts = cut->recipe->parts;
  }
  const std::string how = least.recipe->parts > 1 ? concat("in ", least.recipe->parts, " parts of the batch")
                                                  : std::string("with values made again");
  throw MemoryLineError(
      "program",
      concat("the step needs ", memory_text(n.need), " for temporaries",
             options.device ? concat(" on ", options.device->name()) : std::string(), ", at least ",
             memory_text(n.least), " ", how, "; the line leaves ", memory_text(n.line), parts_text(n.parts)),
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
  Body(std::unique_ptr<Steps> made, MemoryReport report, std::shared_ptr<Arena> bytes)
      : arena(std::move(bytes)), memory(std::move(report)), steps(std::move(made)) {
    memory.lower_bound = steps->plan().lower_bound();
    steps->set_expected_seconds(memory.seconds + memory.extra_seconds);
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
  std::shared_ptr<const Recipe> recipe = options.recipe;
  std::unique_ptr<Steps> steps;
  if (options.parts > 1) recipe = std::make_shared<Recipe>(forced_parts(graph, options));
  if (recipe) {
    steps = make_steps(graph, options, *recipe);
  } else {
    Choices choices(graph, options);
    const ArenaLine line = arena_line(options, choices.as_it_is());
    const auto choice = choices.cheapest([&](int64_t arena, int64_t held) { return arena <= line(held); });
    if (!choice) refuse(choices, options, line);
    recipe = choice->recipe;
    steps = choices.take_steps(*choice);
  }
  if (recipe->parts > 1 && options.parts == 0) say_parts(recipe->parts, batch_rows(graph));
  steps->make_ready();
  const bool own = options.device || !options.arena;
  MemoryReport report = report_of(choice_of(*steps, std::move(recipe)), variable_bytes(graph));
  auto body = std::make_unique<Body>(std::move(steps), std::move(report),
                                     own ? std::make_shared<Arena>(0) : options.arena);
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
    return Program(Body::make(graph, options));
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::out_of_memory, "program", "no memory left to make a program of ", graph.nodes().size(),
         " nodes");
  }
}

MemoryReport Program::forecast(const Graph& graph, const CompileOptions& options) {
  const account::Planning planning;
  Choices choices(graph, options);
  const ArenaLine line = arena_line(options, choices.as_it_is());
  const auto fits = [&](int64_t arena, int64_t held) { return arena <= line(held); };
  const std::optional<Choice> found = choices.cheapest(fits);
  const Choice choice = found ? *found : choices.smallest();
  return choices.report(choice, line(choice.held()));
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
