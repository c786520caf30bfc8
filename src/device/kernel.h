// Kernel: an op made ready for fixed types and attributes. prepare() does all the work that can be done
// once (choosing code, JIT, packing plans); run() is called once per step, allocates nothing and takes no
// lock. All values are dense, row-major, 64-byte aligned.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// A sub-graph made ready, for kernels of cond, while and scan. It has no bytes of its own: its arena is part
// of the scratch of the node that owns it.
class SubProgram {
 public:
  virtual ~SubProgram() = default;
  virtual int64_t arena_bytes() const = 0;
  virtual int64_t bytes() const = 0;  // that it holds itself, about
  virtual void run(void* const* inputs, void* const* outputs, void* arena) const = 0;
};

class SubCompiler {
 public:
  virtual ~SubCompiler() = default;
  virtual std::unique_ptr<const SubProgram> compile(const Graph& graph) const = 0;
};

struct KernelQuery {
  std::span<const TensorType> in;
  std::span<const TensorType> out;
  const Attrs& attrs;
  int threads = 1;                        // the most a call may use; a kernel takes fewer for little work
  const SubCompiler* compiler = nullptr;  // for ops with sub-graphs
  // (optional) For each input the storage that no run of the program writes, or null: see device/steady.h.
  std::span<const Tensor* const> steady = {};
};

struct Kernel {
  // args: the inputs, the outputs, then the scratch, null if none was asked for. May throw Error; a throw
  // leaves the outputs undefined and everything else as it was.
  using Run = void (*)(const void* state, void* const* args);

  Run run = nullptr;
  std::shared_ptr<const void> state;  // what run() gets; immutable while it runs
  int64_t scratch = 0;                // bytes
  int64_t bytes = 0;                  // that the state holds, about: whoever keeps the kernel charges them
  int64_t kept = 0;                   // bytes of copies of its inputs, charged already (device/steady.h)
  std::string name;                   // for reports: "onednn brgconv:avx2"
};

struct KernelDef {
  std::string_view name;  // "onednn", "highway", "reference"
  // (optional) Default: always.
  bool (*fits)(const KernelQuery& q) = nullptr;
  // May throw Error; {unsupported} means "try the next".
  Kernel (*prepare)(const KernelQuery& q) = nullptr;
};

// A kernel whose state is a value of type S and whose run is `run(const S&, void* const* args)`. A state that
// holds much beside itself (another kernel, a library's object) says how much: `int64_t held() const`; a
// SteadyCopy in it is called `kept`.
template <class S, void (*F)(const S&, void* const*)>
Kernel make_kernel(std::string name, S state, int64_t scratch = 0) {
  Kernel k;
  k.run = [](const void* s, void* const* args) { F(*static_cast<const S*>(s), args); };
  k.bytes = static_cast<int64_t>(sizeof(S));
  if constexpr (requires { state.held(); }) k.bytes += state.held();
  if constexpr (requires { state.kept->charged(); }) k.kept = state.kept ? state.kept->charged() : 0;
  k.state = std::make_shared<const S>(std::move(state));
  k.scratch = scratch;
  k.name = std::move(name);
  return k;
}

}  // namespace plimsoll
