#include "exec/prepare.h"

#include <algorithm>

#include "ops/fused.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// Some 20 us of one core: below, waking a second thread takes about as long as it saves. A third and more
// come for 10 us each.
constexpr double kSmallFlops = 2e6;
constexpr double kSmallBytes = 512e3;

}  // namespace

std::string types_text(std::span<const TensorType> types) {
  std::string s;
  for (const TensorType& t : types) s += concat(s.empty() ? "" : ", ", t);
  return s;
}

int threads_for(const Cost& cost, int most) {
  const double units = std::max(cost.flops / kSmallFlops, cost.bytes / kSmallBytes);
  if (units < 1) return 1;
  return static_cast<int>(std::min(static_cast<double>(most), 2 * units));
}

Kernel prepare_kernel(const OpDef& op, const KernelQuery& query, bool reference) {
  const std::span<const KernelDef> kernels =
      reference && !op.kernels.empty() ? op.kernels.last(1) : op.kernels;
  for (const KernelDef& k : kernels) {
    if (k.fits && !k.fits(query)) continue;
    try {
      return k.prepare(query);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::unsupported) throw;
    }
  }
  if (op.tile) return prepare_elementwise(op, query);
  fail(ErrorKind::unsupported, op.name, "no cpu kernel for (", types_text(query.in), ")");
}

}  // namespace plimsoll
