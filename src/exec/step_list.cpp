#include "exec/step_list.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "device/cpu/denormals.h"
#include "device/cpu/thread_pool.h"
#include "exec/prepare.h"
#include "exec/sub_program.h"
#include "graph/capabilities.h"
#include "memory/buffer.h"
#include "memory/spill.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// Where values of no bytes lie, so that kernels need not know of null.
alignas(64) char nothing[64];

// The storage of each value that no run writes: variables without an update, constants, and both seen in
// another shape.
std::vector<const Tensor*> steady_values(const Graph& graph) {
  std::vector<const Tensor*> steady(graph.values().size(), nullptr);
  for (const GraphVariable& v : graph.variables()) {
    if (!is_updated(graph, v.value)) steady[v.value] = &v.storage;
  }
  for (const Node& node : graph.nodes()) {
    if (node.op->name == "constant") steady[node.outputs[0]] = &node.attrs.tensor("value");
    if (node.op->alias) steady[node.outputs[0]] = steady[node.inputs[0]];
  }
  return steady;
}

// Nodes of one op, with the same attributes and types, that read the same steady values: one kernel does for
// all of them. The ranges of a batch that is cut are such.
class Alike {
 public:
  explicit Alike(const Graph& graph) : graph_(graph) {}

  // An earlier node like this one, or this one.
  NodeId first(NodeId n, const std::vector<const Tensor*>& steady) {
    std::vector<NodeId>& list = by_hash_[hash(n)];
    for (const NodeId other : list) {
      if (same(n, other, steady)) return other;
    }
    list.push_back(n);
    return n;
  }

 private:
  size_t hash(NodeId n) const {
    const Node& node = graph_.node(n);
    size_t h = std::hash<const void*>()(node.op) * 31 + node.attrs.hash();
    for (const ValueId v : node.inputs) {
      for (const int64_t size : graph_.type(v).shape) h = h * 1000003 + static_cast<size_t>(size);
    }
    return h;
  }

  bool same(NodeId a, NodeId b, const std::vector<const Tensor*>& steady) const {
    const Node &x = graph_.node(a), &y = graph_.node(b);
    const auto alike = [&](ValueId v, ValueId w) {
      return graph_.type(v) == graph_.type(w) && steady[v] == steady[w];
    };
    return x.op == y.op && x.attrs == y.attrs &&
           std::equal(x.inputs.begin(), x.inputs.end(), y.inputs.begin(), y.inputs.end(), alike);
  }

  const Graph& graph_;
  std::unordered_map<size_t, std::vector<NodeId>> by_hash_;
};

std::vector<Kernel> prepare_all(const Graph& graph, const StepOptions& options, bool* parallel) {
  std::vector<Kernel> kernels(graph.nodes().size());
  const SubGraphCompiler compiler(options);
  const std::vector<const Tensor*> storage = steady_values(graph);
  Alike alike(graph);
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (!has_code(node)) continue;
    if (const NodeId first = alike.first(static_cast<NodeId>(n), storage); first != n) {
      kernels[n] = kernels[first];
      continue;
    }
    std::vector<TensorType> in, out;
    std::vector<const Tensor*> steady;
    for (const ValueId v : node.inputs) {
      in.push_back(graph.type(v));
      steady.push_back(storage[v]);
    }
    for (const ValueId v : node.outputs) out.push_back(graph.type(v));
    const int threads = threads_for(cost_of({*node.op, in, node.attrs}, out), options.threads);
    *parallel = *parallel || threads > 1;
    const KernelQuery query{in, out, node.attrs, threads, &compiler, steady};
    kernels[n] = prepare_kernel(*node.op, query, options.reference_kernels);
  }
  return kernels;
}

std::vector<int64_t> scratch_sizes(const std::vector<Kernel>& kernels) {
  std::vector<int64_t> sizes;
  sizes.reserve(kernels.size());
  for (const Kernel& k : kernels) sizes.push_back(k.scratch);
  return sizes;
}

}  // namespace

StepList::StepList(Graph graph, const StepOptions& options)
    : graph_(std::move(graph)),
      kernels_(prepare_all(graph_, options, &parallel_)),
      plan_(Plan::make(graph_, scratch_sizes(kernels_), options.plan)),
      poison_(options.poison) {}

void StepList::make_ready() {
  steps_.reserve(plan_.order().size());
  for (const NodeId node : plan_.order()) add_step(node);
  for (const PlanCopy& copy : plan_.copies()) {
    const TensorType& t = graph_.type(copy.from);
    const uint32_t from = add_arg(copy.source);
    const uint32_t to = add_arg(copy.to);
    copies_.push_back({from, to, static_cast<size_t>(byte_size(t.dtype, t.shape)), spill::holds(args_[to])});
  }
  in_.resize(graph_.inputs().size());
  out_.resize(graph_.outputs().size());
  for (const GraphVariable& v : graph_.variables()) {
    variables_.push_back(v.storage.buffer().get());
    if (is_updated(graph_, v.value)) updated_.push_back(variables_.back());
  }
  find_spilled();
}

void StepList::find_spilled() {
  for (const GraphVariable& v : graph_.variables()) {
    Buffer& b = *v.storage.buffer();
    if (!spill::holds(b.address())) continue;
    LetGo last{0, b.address(), b.bytes()};
    for (size_t i = 0; i < steps_.size(); ++i) {
      const size_t end = i + 1 < steps_.size() ? steps_[i + 1].first_arg : args_.size();
      for (size_t a = steps_[i].first_arg; a < end; ++a) {
        if (args_[a] == last.address) last.step = i;
      }
    }
    let_go_.push_back(last);
  }
  std::ranges::sort(let_go_, {}, &LetGo::step);
}

// A node that runs again has the kernel of its first run: kernels keep nothing from one run to the next.
void StepList::repeat(ExecPlan execs) {
  std::vector<Kernel> kernels;
  for (const NodeId n : execs.cloned.from) kernels.push_back(kernels_[n]);
  kernels_ = std::move(kernels);
  again_ = repeated(execs.cloned.from);
  graph_ = std::move(execs.cloned.graph);
  plan_ = std::move(execs.plan);
}

std::vector<int64_t> StepList::scratch() const { return scratch_sizes(kernels_); }

// Nodes that run again, and those alike, share theirs.
template <class F>
void StepList::each_kernel(F f) const {
  std::unordered_set<const void*> seen;
  for (const Kernel& k : kernels_) {
    if (k.run && seen.insert(k.state.get()).second) f(k);
  }
}

int64_t StepList::bytes() const {
  int64_t sum = graph_bytes(graph_.nodes().size());
  each_kernel([&](const Kernel& k) { sum += k.bytes; });
  return sum;
}

int64_t StepList::kept() const {
  int64_t sum = 0;
  each_kernel([&](const Kernel& k) { sum += k.kept; });
  return sum;
}

uint32_t StepList::add_arena_arg(int64_t offset) {
  const uint32_t arg = static_cast<uint32_t>(args_.size());
  args_.push_back(nullptr);
  arena_args_.push_back({arg, offset});
  return arg;
}

uint32_t StepList::add_arg(const Place& place) {
  const uint32_t arg = static_cast<uint32_t>(args_.size());
  const uint32_t index = static_cast<uint32_t>(place.at);
  switch (place.kind) {
    case Place::Kind::arena: return add_arena_arg(place.at);
    case Place::Kind::none: args_.push_back(nothing); break;
    case Place::Kind::input:
      args_.push_back(nullptr);
      input_patches_.push_back({arg, index});
      break;
    case Place::Kind::output:
      args_.push_back(nullptr);
      output_patches_.push_back({arg, index});
      break;
    case Place::Kind::variable: args_.push_back(graph_.variables()[index].storage.buffer()->address()); break;
    case Place::Kind::constant:
      args_.push_back(graph_.node(index).attrs.tensor("value").buffer()->data());
      break;
  }
  return arg;
}

void StepList::add_step(NodeId id) {
  const Node& node = graph_.node(id);
  const uint32_t first = static_cast<uint32_t>(args_.size());
  for (const ValueId v : node.inputs) add_arg(plan_.place(v));
  for (const ValueId v : node.outputs) add_arg(plan_.place(v));
  if (kernels_[id].scratch > 0)
    add_arena_arg(plan_.scratch(id));
  else
    args_.push_back(nullptr);
  steps_.push_back({kernels_[id].run, kernels_[id].state.get(), first, id});
}

void StepList::bind_arena(void* base) {
  if (base == nullptr) base = nothing;
  if (base == arena_) return;
  arena_ = static_cast<char*>(base);
  for (const ArenaArg& a : arena_args_) args_[a.arg] = arena_ + a.offset;
}

void StepList::bind(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  for (const LetGo& spilled : let_go_) spill::check_mine(spilled.address);
  for (Buffer* b : variables_) (void)b->data();  // from where they are newest
  for (size_t i = 0; i < in_.size(); ++i) in_[i] = inputs[i].buffer()->data();
  for (size_t i = 0; i < out_.size(); ++i) out_[i] = outputs[i].buffer()->overwrite();
}

void StepList::patch(void* const* inputs, void* const* outputs) {
  for (Buffer* b : updated_) b->changed();
  for (const Patch& p : input_patches_) args_[p.arg] = inputs[p.index];
  for (const Patch& p : output_patches_) args_[p.arg] = outputs[p.index];
}

void StepList::poison_dead(size_t step) {
  for (const ValueId v : plan_.dying(step)) {
    const TensorType& t = graph_.type(v);
    std::memset(arena_ + plan_.place(v).at, 0xFF, static_cast<size_t>(byte_size(t.dtype, t.shape)));
  }
}

void StepList::run_steps(std::atomic<uint32_t>& beat) {
  if (poison_ && plan_.arena_bytes() > 0) std::memset(arena_, 0xFF, static_cast<size_t>(plan_.arena_bytes()));
  void* const* const args = args_.data();
  size_t gone = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    beat.store(static_cast<uint32_t>(i), std::memory_order_relaxed);
    step.run(step.state, args + step.first_arg);
    if (poison_) [[unlikely]]
      poison_dead(i);
    if (gone < let_go_.size()) gone = let_go_after(i, gone);
  }
  copy_updates();
}

// From the entry `next` on; returns the first of a later step.
size_t StepList::let_go_after(size_t step, size_t next) const {
  for (; next < let_go_.size() && let_go_[next].step == step; ++next)
    spill::let_go(let_go_[next].address, let_go_[next].bytes);
  return next;
}

void StepList::copy_updates() {
  for (const BoundCopy& c : copies_) {
    std::memmove(args_[c.to], args_[c.from], c.bytes);
    if (c.spilled) spill::let_go(args_[c.to], static_cast<int64_t>(c.bytes));
  }
}

void StepList::run(void* const* inputs, void* const* outputs) {
  patch(inputs, outputs);
  run_steps(Beat::current().inner);
}

void StepList::run(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  bind(inputs, outputs);
  const FlushDenormals small;
  std::optional<ParallelRegion> region;
  if (parallel_) region.emplace();
  patch(in_.data(), out_.data());
  Beat& beat = Beat::current();
  if (beat.recorder != nullptr && beat.recorder->begin_run(*this)) return run_recorded(*beat.recorder);
  run_steps(beat.step);
}

void StepList::run_recorded(KernelRecorder& recorder) {
  Beat& beat = Beat::current();
  size_t gone = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    beat.step.store(static_cast<uint32_t>(i), std::memory_order_relaxed);
    const auto begin = KernelRecorder::Clock::now();
    steps_[i].run(steps_[i].state, args_.data() + steps_[i].first_arg);
    recorder.kernel(i, begin, KernelRecorder::Clock::now());
    gone = let_go_after(i, gone);
  }
  copy_updates();
  recorder.end_run();
}

bool StepList::writes_variable(const Node& node) const {
  return std::ranges::any_of(node.outputs,
                             [&](ValueId v) { return plan_.place(v).kind == Place::Kind::variable; });
}

bool StepList::replay(std::span<const Tensor> inputs, std::span<const Tensor> outputs, const Look& look) {
  bind(inputs, outputs);
  const FlushDenormals small;
  patch(in_.data(), out_.data());
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (writes_variable(graph_.node(steps_[i].node))) continue;
    void* const* const args = args_.data() + steps_[i].first_arg;
    if (!look(i, args, false)) return true;
    steps_[i].run(steps_[i].state, args);
    if (!look(i, args, true)) return true;
  }
  return true;
}

void StepList::run_timed(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                         std::span<double> seconds) {
  using Clock = std::chrono::steady_clock;
  bind(inputs, outputs);
  const FlushDenormals small;
  const ParallelRegion region;
  patch(in_.data(), out_.data());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const auto start = Clock::now();
    steps_[i].run(steps_[i].state, args_.data() + steps_[i].first_arg);
    seconds[i] += std::chrono::duration<double>(Clock::now() - start).count();
  }
  copy_updates();
}

std::string StepList::step_name(size_t i) const {
  return name_of_step(graph_.node(steps_[i].node), kernels_[steps_[i].node].name);
}

}  // namespace plimsoll
