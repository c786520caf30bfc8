#include "program.h"

#include <exception>

#include "libraries.h"
#include "stopwatch.h"

using namespace plimsoll;
using namespace plimsoll::cuda;

namespace {

[[noreturn]] void rethrow_at(plimsoll_program* program, int32_t node) {
  try {
    throw;
  } catch (const NodeError&) {  // an inner program has said where already
    throw;
  } catch (...) {
    throw NodeError{std::current_exception(), program, node};
  }
}

}  // namespace

plimsoll_program::plimsoll_program(plimsoll_device* device, const plimsoll_graph& graph, int64_t* scratch)
    : device(device),
      code_(static_cast<size_t>(graph.node_count)),
      value_count_(static_cast<size_t>(graph.value_count)),
      input_count_(static_cast<size_t>(graph.input_count)),
      output_count_(static_cast<size_t>(graph.output_count)),
      variable_count_(static_cast<size_t>(graph.variable_count)) {
  Sources sources;
  for (int32_t i = 0; i < graph.node_count; ++i) {
    const Node node(graph, i);
    Code& code = code_[static_cast<size_t>(i)];
    code.op = node.op();
    if (!node.runs()) continue;
    try {
      const Op* const op = find_op(*device, node);
      if (op == nullptr) fail(ErrorKind::unsupported, node.op(), "no code for this op and these types");
      Build build(*device, node, sources);
      op->lower(build);
      code.steps = std::move(build.steps);
      scratch[i] = code.scratch_bytes = build.scratch_bytes;
      for (size_t k = 0; k < node.input_count(); ++k)
        code.uses.push_back({node.input(k), node.in(k).bytes(), false});
      for (size_t k = 0; k < node.output_count(); ++k)
        code.uses.push_back({node.output(k), node.out(k).bytes(), true});
    } catch (...) {
      throw NodeError{std::current_exception(), nullptr, i};
    }
  }
  std::vector<Kernels::Kernel> kernels = device->kernels->get(sources.texts);
  for (size_t i = 0; i < kernels.size(); ++i) {
    sources.steps[i]->set(kernels[i].function);
    modules_.insert(std::move(kernels[i].module));
  }
}

void plimsoll_program::set_plan(const plimsoll_plan& plan) {
  order_.assign(plan.order, plan.order + plan.order_count);
  places_.assign(plan.places, plan.places + value_count_);
  scratch_.assign(plan.scratch, plan.scratch + code_.size());
  if (plan.copy_count > 0) copies_.assign(plan.copies, plan.copies + plan.copy_count);
  constants_.assign(code_.size(), 0);
  for (size_t i = 0; plan.constants != nullptr && i < code_.size(); ++i)
    constants_[i] = address(plan.constants[i]);
  values_.assign(value_count_, 0);
  buffers_.assign(1 + input_count_ + output_count_ + variable_count_, 0);
  graphs_.prepare(buffers_.size());
}

CUdeviceptr plimsoll_program::resolve(const plimsoll_place& place, const Buffers& buffers) const {
  switch (place.kind) {
    case PLIMSOLL_PLACE_ARENA: return buffers.arena + static_cast<CUdeviceptr>(place.at);
    case PLIMSOLL_PLACE_INPUT: return buffers.inputs[place.at];
    case PLIMSOLL_PLACE_VARIABLE: return buffers.variables[place.at];
    case PLIMSOLL_PLACE_CONSTANT: return constants_[static_cast<size_t>(place.at)];
    case PLIMSOLL_PLACE_OUTPUT: return buffers.outputs[place.at];
    default: return 0;
  }
}

void plimsoll_program::place_values(const Buffers& buffers) {
  for (size_t v = 0; v < value_count_; ++v) values_[v] = resolve(places_[v], buffers);
}

void plimsoll_program::queue_node(CUstream stream, int32_t node, CUdeviceptr arena) {
  const Place place{stream, values_.data(),
                    arena + static_cast<CUdeviceptr>(scratch_[static_cast<size_t>(node)])};
  try {
    for (const auto& step : code_[static_cast<size_t>(node)].steps) step->run(place);
  } catch (...) {
    rethrow_at(this, node);
  }
}

void plimsoll_program::queue_copies(CUstream stream, const Buffers& buffers) {
  for (const plimsoll_place_copy& c : copies_) {
    const CUdeviceptr to = resolve(c.to, buffers), from = resolve(c.from, buffers);
    if (c.bytes > 0 && to != from)
      check(driver().copy_on_device(to, from, static_cast<size_t>(c.bytes), stream), "copy");
  }
}

void plimsoll_program::queue(CUstream stream, CUdeviceptr arena, const CUdeviceptr* inputs,
                             const CUdeviceptr* outputs, const CUdeviceptr* variables) {
  const Buffers buffers{arena, inputs, outputs, variables};
  place_values(buffers);
  for (const int32_t node : order_) queue_node(stream, node, arena);
  queue_copies(stream, buffers);
}

std::vector<Access> plimsoll_program::accesses_of(int32_t node, CUdeviceptr arena) const {
  const Code& code = code_[static_cast<size_t>(node)];
  std::vector<Access> list;
  const auto add = [&](CUdeviceptr at, int64_t bytes, bool written) {
    if (at != 0 && bytes > 0) list.push_back({at, at + static_cast<CUdeviceptr>(bytes), written});
  };
  for (const Code::Use& use : code.uses) add(values_[static_cast<size_t>(use.value)], use.bytes, use.written);
  add(arena + static_cast<CUdeviceptr>(scratch_[static_cast<size_t>(node)]), code.scratch_bytes, true);
  return list;
}

void plimsoll_program::queue_captured(CUstream stream, const Buffers& buffers) {
  place_values(buffers);
  std::vector<std::vector<Access>> accesses;
  for (const int32_t node : order_) accesses.push_back(accesses_of(node, buffers.arena));
  queue_scheduled(stream, make_schedule(accesses),
                  [&](size_t i, CUstream on) { queue_node(on, order_[i], buffers.arena); });
  queue_copies(stream, buffers);
}

plimsoll_program::Buffers plimsoll_program::read_run(const plimsoll_run& run) {
  size_t at = 0;
  const auto add = [&](const plimsoll_slice* list, size_t count) {
    const CUdeviceptr* const begin = buffers_.data() + at;
    for (size_t i = 0; i < count; ++i) buffers_[at++] = address(list[i]);
    return begin;
  };
  Buffers b{};
  b.arena = *add(&run.arena, 1);
  b.inputs = add(run.inputs, input_count_);
  b.outputs = add(run.outputs, output_count_);
  b.variables = add(run.variables, variable_count_);
  return b;
}

void plimsoll_program::run(CUstream stream, const plimsoll_run& run) {
  const Buffers b = read_run(run);
  const bool graphs = !device->options.no_graphs && captures();
  if (!graphs || !graphs_.launch(stream, buffers_, [&] { queue_captured(stream, b); }))
    queue(stream, b.arena, b.inputs, b.outputs, b.variables);
}

void plimsoll_program::profile(CUstream stream, const plimsoll_run& run, double* seconds) {
  const Buffers b = read_run(run);
  Stopwatch watch;
  place_values(b);
  for (const int32_t node : order_) {
    watch.start(stream);
    queue_node(stream, node, b.arena);
    seconds[node] += watch.stop(stream);
  }
  queue_copies(stream, b);
}

bool plimsoll_program::captures() const {
  for (const Code& code : code_)
    for (const auto& step : code.steps)
      if (!step->captures()) return false;
  return true;
}

std::string plimsoll_program::kernel_name(int32_t node) const {
  const Code& code = code_[static_cast<size_t>(node)];
  if (code.steps.empty()) return code.op;
  std::string name = code.steps.front()->name();
  if (code.steps.size() > 1) name += concat(" and ", code.steps.size() - 1, " more");
  return name;
}
