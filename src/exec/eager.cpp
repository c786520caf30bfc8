// Ops on concrete tensors, through the same kernels as programs. What an op needs for given types and
// attributes is made once and kept, so that a small op costs little more than its kernel. A second thread
// that wants it at the same time gets one of its own.
#include <algorithm>

#include "common/fork.h"
#include "device/cpu/denormals.h"
#include "device/cpu/shared_primitives.h"
#include "device/cpu/thread_pool.h"
#include "exec/kept.h"
#include "exec/prepare.h"
#include "exec/step_list.h"
#include "exec/sub_program.h"
#include "memory/arena.h"
#include "memory/buffer.h"
#include "memory/charge.h"
#include "passes/passes.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

constexpr int64_t kMostKept = 32 << 20;   // bytes: some ten thousand small ops
constexpr int64_t kEntryBytes = 2 << 10;  // of an entry beside its kernel, about: types, attributes, name
constexpr size_t kMaxInputs = 16;         // more take a list on the heap

struct Entry {
  const OpDef* op;
  std::vector<TensorType> in;
  Attrs attrs;
  std::vector<TensorType> out;
  Kernel kernel;
  std::unique_ptr<Program> parts;  // for an op without a kernel: its decomposition
  Charge charge;

  int64_t bytes() const {
    int64_t sum = kEntryBytes + kernel.bytes;
    if (parts) sum += parts->memory().program + parts->memory().arena;
    return sum;
  }
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

std::unique_ptr<Program> compile_parts(const Entry& e) {
  Graph graph;
  std::vector<Tensor> in;
  for (const TensorType& t : e.in) in.push_back(graph.input("", t.dtype, t.shape));
  for (const Tensor& t : apply(*e.op, in, e.attrs)) graph.output("", t);
  return std::make_unique<Program>(Program::compile(graph));
}

std::unique_ptr<Entry> make_entry(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs) {
  const SharedPrimitives shared;
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
  if (op.decompose && !cpu_capabilities().runs({op, e->in, attrs}, e->out))
    e->parts = compile_parts(*e);
  else
    e->kernel = prepare_kernel(op, query);
  const BudgetScope process(nullptr);  // it serves everybody
  e->charge.set(Owner::programs, kEntryBytes + e->kernel.bytes);
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

// Never destroyed: a thread may outlive any destructor of ours.
struct CacheMutex : ForkMutex {
  CacheMutex() : ForkMutex(LockOrder::caches) {}
};
using Cache = Kept<std::unique_ptr<Entry>, CacheMutex>;
Cache& cache() {
  static auto* const entries = new Cache;
  return *entries;
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
  const size_t hash = hash_call(op, in, attrs);
  const auto same = [&](const std::unique_ptr<Entry>& e) { return same_call(*e, op, in, attrs); };
  Cache::Loan entry = cache().find(hash, same);
  if (!entry) {
    std::unique_ptr<Entry> made = make_entry(op, in, attrs);
    const int64_t bytes = made->bytes();
    entry = cache().add(hash, std::move(made), bytes);
    cache().keep_within(kMostKept);
  }
  return run_entry(**entry, in);
}

}  // namespace plimsoll
