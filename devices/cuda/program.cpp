#include "program.h"

#include <algorithm>
#include <cstddef>
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
      variable_count_(static_cast<size_t>(graph.variable_count)),
      steady_(graph) {
  producers_.assign(value_count_, -1);
  readers_.assign(value_count_, 0);
  for (int32_t i = 0; i < graph.node_count; ++i) {
    const Node node(graph, i);
    for (size_t k = 0; k < node.output_count(); ++k) producers_[static_cast<size_t>(node.output(k))] = i;
    for (size_t k = 0; k < node.input_count(); ++k) ++readers_[static_cast<size_t>(node.input(k))];
  }
  for (int32_t i = 0; i < graph.output_count; ++i) ++readers_[static_cast<size_t>(graph.outputs[i])];
  for (int32_t i = 0; i < graph.node_count; ++i) {
    const Node node(graph, i);
    Code& code = code_[static_cast<size_t>(i)];
    code.op = node.op();
    if (!node.runs()) continue;
    try {
      const Op* const op = find_op(*device, node);
      if (op == nullptr) fail(ErrorKind::unsupported, node.op(), "no code for this op and these types");
      Build build(*device, node, sources_);
      op->lower(build);
      find_sum(node, build, i);
      code.steps = std::move(build.steps);
      code.preparations = std::move(build.preparations);
      code.prepared_bytes = build.prepared_bytes;
      scratch[i] = code.scratch_bytes = build.scratch_bytes + build.prepared_bytes;
      const bool steady = std::ranges::all_of(build.prepared_inputs, [&](size_t k) {
        return steady_.values[static_cast<size_t>(node.input(k))];
      });
      if (steady && build.prepared_bytes > 0) code.prepared_at = steady_.keep(build.prepared_bytes);
      for (size_t k = 0; k < node.input_count(); ++k)
        code.uses.push_back({node.input(k), node.in(k).bytes(), false});
      for (size_t k = 0; k < node.output_count(); ++k)
        code.uses.push_back({node.output(k), node.out(k).bytes(), true});
    } catch (...) {
      throw NodeError{std::current_exception(), nullptr, i};
    }
  }
}

void plimsoll_program::set_plan(const plimsoll_plan& plan) {
  places_.assign(plan.places, plan.places + value_count_);
  scratch_.assign(plan.scratch, plan.scratch + code_.size());
  if (plan.copy_count > 0) copies_.assign(plan.copies, plan.copies + plan.copy_count);
  constants_.assign(code_.size(), 0);
  for (size_t i = 0; plan.constants != nullptr && i < code_.size(); ++i)
    constants_[i] = address(plan.constants[i]);
  if (plan.size >= offsetof(plimsoll_plan, kept) + sizeof plan.kept) kept_ = address(plan.kept);
  values_.assign(value_count_, 0);
  buffers_.assign(1 + input_count_ + output_count_ + variable_count_, 0);
  graphs_.prepare(buffers_.size());
  make_units(std::span(plan.order, static_cast<size_t>(plan.order_count)));
  compile_kernels();
}

// The one step of a node that may be part of a bundle, else null.
const KernelStep* plimsoll_program::bundled_step(int32_t node) const {
  const Code& code = code_[static_cast<size_t>(node)];
  if (code.both != nullptr || code.steps.size() != 1 || !code.preparations.empty() || code.scratch_bytes > 0)
    return nullptr;
  const auto* const step = dynamic_cast<const KernelStep*>(code.steps.front().get());
  return step != nullptr && step->each() != nullptr ? step : nullptr;
}

void plimsoll_program::make_units(std::span<const int32_t> planned) {
  // Addresses with which nothing lies in anything else.
  constexpr CUdeviceptr kApart = CUdeviceptr{1} << 40;
  std::vector<CUdeviceptr> addresses(1 + input_count_ + output_count_ + variable_count_);
  for (size_t i = 0; i < addresses.size(); ++i) addresses[i] = (CUdeviceptr{1} << 60) + i * kApart;
  const CUdeviceptr* const at = addresses.data();
  place_values({at[0], at + 1, at + 1 + input_count_, at + 1 + input_count_ + output_count_});
  const std::vector<int32_t> order = join_sums(planned, at[0]);
  std::vector<std::vector<Access>> accesses;
  std::vector<std::string> keys;
  std::vector<size_t> most;
  for (const int32_t node : order) {
    const KernelStep* const step = bundled_step(node);
    accesses.push_back(accesses_of(node, at[0]));
    keys.push_back(step != nullptr ? bundle_text(*step->each()) : "");
    if (step != nullptr && steady_.nodes[static_cast<size_t>(node)]) keys.back() += "// kept\n";
    most.push_back(step != nullptr ? bundle_size(*step->each()) : 1);
  }
  for (const std::vector<size_t>& members : make_bundles(accesses, keys, most)) {
    Unit& unit = units_.emplace_back();
    std::vector<const KernelStep*> steps;
    for (const size_t i : members) {
      unit.nodes.push_back(order[i]);
      steps.push_back(bundled_step(order[i]));
    }
    if (members.size() > 1) unit.bundle = std::make_unique<Bundle>(std::move(steps));
  }
}

// Those of nodes in bundles are not needed.
void plimsoll_program::compile_kernels() {
  std::set<const Step*> bundled;
  std::vector<std::string> texts;
  for (const Unit& unit : units_) {
    if (unit.bundle == nullptr) continue;
    for (const int32_t node : unit.nodes) bundled.insert(bundled_step(node));
    texts.push_back(bundle_text(*bundled_step(unit.nodes.front())->each()));
  }
  std::vector<KernelStep*> steps;
  for (size_t i = 0; i < sources_.steps.size(); ++i) {
    if (bundled.contains(sources_.steps[i])) continue;
    steps.push_back(sources_.steps[i]);
    texts.push_back(std::move(sources_.texts[i]));
  }
  sources_ = {};
  std::vector<Kernels::Kernel> kernels = device->kernels->get(texts);
  auto next = kernels.begin();
  for (const Unit& unit : units_)
    if (unit.bundle != nullptr) unit.bundle->set((next++)->function);
  for (KernelStep* const step : steps) step->set((next++)->function);
  for (Kernels::Kernel& kernel : kernels) modules_.insert(std::move(kernel.module));
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
  for (size_t v = 0; v < value_count_; ++v)
    values_[v] = kept_ != 0 && steady_.offsets[v] >= 0 ? kept_ + static_cast<CUdeviceptr>(steady_.offsets[v])
                                                       : resolve(places_[v], buffers);
}

void plimsoll_program::queue_unit(CUstream stream, const Unit& unit, CUdeviceptr arena) {
  const int32_t node = unit.nodes.front();
  const Code& code = code_[static_cast<size_t>(node)];
  const CUdeviceptr scratch = arena + static_cast<CUdeviceptr>(scratch_[static_cast<size_t>(node)]);
  const bool kept = kept_ != 0 && code.prepared_at >= 0;
  const Place place{stream, values_.data(), scratch,
                    kept ? kept_ + static_cast<CUdeviceptr>(code.prepared_at)
                         : scratch + static_cast<CUdeviceptr>(code.scratch_bytes - code.prepared_bytes)};
  try {
    if (!kept || !skips_)
      for (const auto& step : code.preparations) step->run(place);
    if (unit.bundle != nullptr) return unit.bundle->run(stream, values_.data());
    if (code.both != nullptr) return code.both->run(place);
    for (const auto& step : code.steps) step->run(place);
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
  for (const Unit& unit : units_)
    if (!skips_ || !is_kept(unit)) queue_unit(stream, unit, arena);
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
  std::vector<const Unit*> units;
  for (const Unit& unit : units_) {
    if (skips_ && is_kept(unit)) continue;
    units.push_back(&unit);
    std::vector<Access>& all = accesses.emplace_back();
    for (const int32_t node : unit.nodes)
      for (const Access& one : accesses_of(node, buffers.arena)) all.push_back(one);
  }
  queue_scheduled(stream, make_schedule(accesses),
                  [&](size_t i, CUstream on) { queue_unit(on, *units[i], buffers.arena); });
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

bool plimsoll_program::is_kept(const Unit& unit) const {
  return kept_ != 0 && steady_.nodes[static_cast<size_t>(unit.nodes.front())];
}

void plimsoll_program::run(CUstream stream, const plimsoll_run& run) {
  const Buffers b = read_run(run);
  const bool steady = run.size >= offsetof(plimsoll_run, steady) + sizeof run.steady && run.steady != 0;
  skips_ = kept_ != 0 && has_kept_ && steady;
  if (kept_ != 0 && !skips_) {
    has_kept_ = false;
    queue(stream, b.arena, b.inputs, b.outputs, b.variables);
    has_kept_ = true;
    return;
  }
  const bool graphs = !device->options.no_graphs && captures();
  if (!graphs || !graphs_.launch(stream, buffers_, [&] { queue_captured(stream, b); }))
    queue(stream, b.arena, b.inputs, b.outputs, b.variables);
}

void plimsoll_program::profile(CUstream stream, const plimsoll_run& run, double* seconds) {
  const Buffers b = read_run(run);
  skips_ = kept_ != 0 && has_kept_ && run.size >= offsetof(plimsoll_run, steady) + sizeof run.steady &&
           run.steady != 0;
  Stopwatch watch;
  place_values(b);
  for (const Unit& unit : units_) {
    if (skips_ && is_kept(unit)) continue;
    watch.start(stream);
    queue_unit(stream, unit, b.arena);
    const double spent = watch.stop(stream);
    for (const int32_t node : unit.nodes) seconds[node] += spent / static_cast<double>(unit.nodes.size());
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
  for (const Unit& unit : units_)
    if (unit.bundle != nullptr && std::ranges::find(unit.nodes, node) != unit.nodes.end())
      return concat(code.op, ", one of ", unit.nodes.size());
  if (code.both != nullptr) return concat(code.both->name(), " and sum");
  std::string name = code.steps.front()->name();
  if (code.steps.size() > 1) name += concat(" and ", code.steps.size() - 1, " more");
  return name;
}
