// Large products of matrices on oneDNN, where it has a kernel of its own for the processor ("brgemm": f32
// from AVX-512 on, bf16 and f16 where there are instructions for them). Elsewhere its matmul falls back to a
// GEMM that allocates while it runs, and our own is taken.
#include "device/cpu/contraction.h"
#include "device/cpu/onednn.h"
#include "plimsoll/error.h"

#if PLIMSOLL_HAVE_ONEDNN

#include <algorithm>
#include <optional>

namespace plimsoll {
namespace {

using dnnl::memory;

constexpr double kWorthIt = 4e6;  // flops; below, our own GEMM wins by its smaller overhead

// A tensor read as a matrix: `rows` and `columns` are products of axes that lie next to each other.
struct Matrix {
  int64_t rows, columns;
  bool transposed;  // columns come first in memory
};

// The tensor as (free axes, contracted axes), if the contracted ones are all first or all last and in order.
std::optional<Matrix> as_matrix(const Shape& shape, std::span<const int64_t> contract) {
  if (contract.empty() || static_cast<int>(contract.size()) >= shape.rank()) return std::nullopt;
  for (size_t i = 1; i < contract.size(); ++i) {
    if (contract[i] != contract[i - 1] + 1) return std::nullopt;
  }
  const bool first = contract.front() == 0;
  if (!first && contract.back() != shape.rank() - 1) return std::nullopt;
  int64_t inner = 1;
  for (const int64_t axis : contract) inner *= shape[static_cast<int>(axis)];
  return Matrix{inner ? shape.elements() / inner : 0, inner, first};
}

memory::desc matrix_desc(const Matrix& m, bool swap, memory::data_type type) {
  const bool transposed = m.transposed != swap;
  return memory::desc(swap ? memory::dims{m.columns, m.rows} : memory::dims{m.rows, m.columns}, type,
                      transposed ? memory::format_tag::ba : memory::format_tag::ab);
}

struct State {
  onednn::OnednnCall call;
  int scratch_index;
  int64_t held() const { return call.held(); }
};

void run(const State& s, void* const* args) { s.call.run(args, s.scratch_index); }

}  // namespace

bool contraction_fits_onednn(const KernelQuery& q, const ContractionAxes& axes) {
  if (q.in[0].dtype == DType::f64 || !is_float(q.in[0].dtype) || !axes.a_batch.empty()) return false;
  const auto a = as_matrix(q.in[0].shape, axes.a_contract), b = as_matrix(q.in[1].shape, axes.b_contract);
  if (!a || !b) return false;
  return 2.0 * static_cast<double>(a->rows) * static_cast<double>(a->columns) *
             static_cast<double>(b->rows) >=
         kWorthIt;
}

Kernel prepare_contraction_onednn(const KernelQuery& q, const ContractionAxes& axes, bool bias,
                                  Activation activation) {
  const Matrix a = *as_matrix(q.in[0].shape, axes.a_contract), b = *as_matrix(q.in[1].shape, axes.b_contract);
  return onednn::checked("dot_general", [&] {
    const int threads = available_threads(q.threads);
    const ScopedThreads cap(threads);
    dnnl::primitive_attr attr = onednn::user_scratchpad();
    dnnl::post_ops ops;
    onednn::append_activation(ops, activation);
    attr.set_post_ops(ops);
    const memory::data_type type = onednn::data_type(q.in[0].dtype);
    const memory::desc dst({a.rows, b.rows}, type, memory::format_tag::ab);
    const memory::desc offset({1, b.rows}, type, memory::format_tag::ab);
    const memory::desc left = matrix_desc(a, false, type), right = matrix_desc(b, true, type);
    const dnnl::matmul::primitive_desc desc =
        bias ? dnnl::matmul::primitive_desc(onednn::engine(), left, right, offset, dst, attr)
             : dnnl::matmul::primitive_desc(onednn::engine(), left, right, dst, attr);
    if (!std::string_view(desc.impl_info_str()).starts_with("brg")) {
      fail(ErrorKind::unsupported, "dot_general", "oneDNN has no brgemm for this processor");
    }
    const int inputs = static_cast<int>(q.in.size());
    std::vector<onednn::OnednnCall::Binding> bindings = {
        {DNNL_ARG_SRC, 0}, {DNNL_ARG_WEIGHTS, 1}, {DNNL_ARG_DST, inputs}};
    if (bias) bindings.push_back({DNNL_ARG_BIAS, 2});
    State state{onednn::OnednnCall(dnnl::matmul(desc), bindings, threads), inputs + 1};
    const int64_t scratch = state.call.scratch_bytes();
    return make_kernel<State, run>(onednn::kernel_name(desc), std::move(state), scratch);
  });
}

}  // namespace plimsoll

#else

namespace plimsoll {

bool contraction_fits_onednn(const KernelQuery&, const ContractionAxes&) { return false; }
Kernel prepare_contraction_onednn(const KernelQuery&, const ContractionAxes&, bool, Activation) {
  fail(ErrorKind::unsupported, "dot_general", "this build has no oneDNN");
}

}  // namespace plimsoll

#endif
