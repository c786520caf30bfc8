// Ops on concrete tensors, through the same kernels as programs. What an op needs for given types and
// attributes is made once and kept per thread, so that a small op costs little more than its kernel.
#include <algorithm>
#include <unordered_map>

#include "device/cpu/denormals.h"
#include "device/cpu/thread_pool.h"
#include "exec/prepare.h"
#include "exec/step_list.h"
#include "exec/sub_program.h"
#include "memory/arena.h"
#include "memory/buffer.h"
#include "passes/passes.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

constexpr size_t kMaxEntries = 4096;  // then the cache starts afresh
constexpr size_t kMaxInputs = 16;     // more are not cached

struct Entry {
  const OpDef* op;
  std::vector<TensorType> in;
  Attrs attrs;
  std::vector<TensorType> out;
  Kernel kernel;
  std::unique_ptr<Program> parts;  // for an op without a kernel: its decomposition
};

size_t hash_call(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs) {
  size_t h = reinterpret_cast<size_t>(&op);
  for (const Tensor& t : in) {
    h = h * 31 + static_cast<size_t>(t.dtype());
    for (const int64_t size : t.shape()) h = h * 1000003 + static_cast<size_t>(size);
  }
  return attrs.empty() ? h : h * 31 + attrs.hash();
}

bool same_call(const Entry& e, const OpDef& op, std::span<const Tensor> in, const Attrs& attrs) {
  return e.op == &op &&
         std::equal(in.begin(), in.end(), e.in.begin(), e.in.end(),
                    [](const Tensor& t, const TensorType& type) { return t.type() == type; }) &&
         e.attrs == attrs;
}

bool has_kernel(const OpDef& op, const KernelQuery& query) {
  return op.tile || std::any_of(op.kernels.begin(), op.kernels.end(),
                                [&](const KernelDef& k) { return !k.fits || k.fits(query); });
}

std::unique_ptr<Program> compile_parts(const Entry& e) {
  Graph graph;
  std::vector<Tensor> in;
  for (const TensorType& t : e.in) in.push_back(graph.input("", t.dtype, t.shape));
  for (const Tensor& t : apply(*e.op, in, e.attrs)) graph.output("", t);
  return std::make_unique<Program>(Program::compile(graph));
}

std::unique_ptr<Entry> make_entry(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs) {
  auto e = std::make_unique<Entry>();
  e->op = &op;
  e->attrs = attrs;
  for (const Tensor& t : in) e->in.push_back(t.type());
  e->out = infer_types(op, e->in, attrs);
  if (op.alias) return e;
  StepOptions options;
  options.threads = threads_for(cost_of({op, e->in, attrs}, e->out), available_threads(hardware_threads()));
  const SubGraphCompiler compiler(options);
  const KernelQuery query{e->in, e->out, e->attrs, options.threads, &compiler};
  if (!has_kernel(op, query) && op.decompose)
    e->parts = compile_parts(*e);
  else
    e->kernel = prepare_kernel(op, query);
  return e;
}

void* scratch_of(int64_t bytes) {
  thread_local std::shared_ptr<Buffer> scratch;
  if (bytes == 0) return nullptr;
  if (!scratch || scratch->bytes() < bytes) {
    scratch.reset();
    scratch = Buffer::make(bytes, Owner::scratch);
  }
  return scratch->data();
}

std::vector<Tensor> run_entry(const Entry& e, std::span<const Tensor> in) {
  if (e.op->alias) return {Tensor(e.out[0].dtype, e.out[0].shape, in[0].buffer())};
  if (e.parts) return (*e.parts)(in);
  std::vector<Tensor> out;
  out.reserve(e.out.size());
  for (const TensorType& t : e.out) out.push_back(Tensor::empty(t.dtype, t.shape));
  constexpr size_t kMaxArgs = 2 * kMaxInputs + 1;
  void* few[kMaxArgs];
  std::vector<void*> many;
  void** args = few;
  if (in.size() + out.size() + 1 > kMaxArgs) {
    many.resize(in.size() + out.size() + 1);
    args = many.data();
  }
  size_t n = 0;
  for (const Tensor& t : in) args[n++] = const_cast<void*>(read_bytes(t));
  for (const Tensor& t : out) args[n++] = t.buffer()->data();
  args[n] = scratch_of(e.kernel.scratch);
  const FlushDenormals small;
  e.kernel.run(e.kernel.state.get(), args);
  return out;
}

// Entries whose attributes hold tensors or graphs would keep those alive and are hardly ever met again.
bool cacheable(const Attrs& attrs) {
  return std::none_of(attrs.begin(), attrs.end(), [](const auto& a) {
    return kind_of(a.second) == AttrKind::tensor || kind_of(a.second) == AttrKind::graph;
  });
}

}  // namespace

std::vector<Tensor> apply_eager(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs) {
  if (op.name == "constant") return {attrs.tensor("value")};
  if (!cacheable(attrs)) return run_entry(*make_entry(op, in, attrs), in);
  thread_local std::unordered_map<size_t, std::unique_ptr<Entry>> cache;
  const size_t hash = hash_call(op, in, attrs);
  const auto it = cache.find(hash);
  if (it != cache.end() && same_call(*it->second, op, in, attrs)) return run_entry(*it->second, in);
  if (cache.size() >= kMaxEntries) cache.clear();
  std::unique_ptr<Entry> made = make_entry(op, in, attrs);
  auto& slot = cache[hash];
  slot = std::move(made);
  return run_entry(*slot, in);
}

}  // namespace plimsoll
