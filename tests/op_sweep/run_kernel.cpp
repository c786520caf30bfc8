#include "op_sweep/run_kernel.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "ops/fused.h"
#include "plimsoll/error.h"

namespace plimsoll::testing {
namespace {

constexpr int64_t kGuard = 64;  // bytes

// Bytes for an output or scratch, with some behind them that must not change.
Tensor guarded(int64_t bytes) {
  Tensor t = Tensor::empty(DType::u8, {bytes + kGuard});
  std::memset(t.data(), 0xFF, static_cast<size_t>(bytes + kGuard));
  return t;
}

void check_guard(const Tensor& t, const Kernel& kernel) {
  const auto* const end = static_cast<const uint8_t*>(t.data()) + t.shape().elements();
  if (std::any_of(end - kGuard, end, [](uint8_t b) { return b != 0xFF; }))
    throw std::runtime_error(kernel.name + " wrote past an end");
}

KernelRun call(const Kernel& kernel, const SweepCase& c, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> held;
  std::vector<void*> args;
  for (const Tensor& t : inputs) args.push_back(t.data());
  for (const TensorType& type : c.out) held.push_back(guarded(byte_size(type.dtype, type.shape)));
  if (kernel.scratch > 0) held.push_back(guarded(kernel.scratch));
  for (const Tensor& t : held) args.push_back(t.data());
  if (kernel.scratch == 0) args.push_back(nullptr);
  kernel.run(kernel.state.get(), args.data());
  KernelRun run{{}, kernel.name};
  for (size_t i = 0; i < held.size(); ++i) {
    check_guard(held[i], kernel);
    if (i < c.out.size())
      run.out.push_back(Tensor::from_bytes(c.out[i].dtype, c.out[i].shape, held[i].data()));
  }
  return run;
}

// Calls what `prepare` makes of the query, unless it says that it does not do that.
template <class F>
KernelRun run_prepared(const SweepCase& c, const std::vector<Tensor>& inputs, int threads, const F& prepare) {
  std::vector<TensorType> in;
  for (const Tensor& t : inputs) in.push_back(t.type());
  const KernelQuery query{.in = in, .out = c.out, .attrs = c.attrs, .threads = threads, .compiler = nullptr};
  Kernel kernel;
  try {
    if (!prepare(query, kernel)) return {};
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::unsupported) return {};
    throw;
  }
  return call(kernel, c, inputs);
}

}  // namespace

KernelRun run_kernel(const KernelDef& def, const SweepCase& c, const std::vector<Tensor>& inputs,
                     int threads) {
  return run_prepared(c, inputs, threads, [&](const KernelQuery& query, Kernel& kernel) {
    if (def.fits != nullptr && !def.fits(query)) return false;
    kernel = def.prepare(query);
    return true;
  });
}

KernelRun run_tile(const SweepCase& c, const std::vector<Tensor>& inputs, int threads) {
  return run_prepared(c, inputs, threads, [&](const KernelQuery& query, Kernel& kernel) {
    kernel = prepare_elementwise(*c.op, query);
    return true;
  });
}

}  // namespace plimsoll::testing
