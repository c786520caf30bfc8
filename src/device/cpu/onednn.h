// What kernels on oneDNN share: the engine, memory descriptors of our tensors, and OnednnCall, a primitive
// with its arguments in place. Empty without oneDNN; then kernels on it are not compiled.
//
// A kernel makes its primitive and runs it with the same number of threads, and never inside parallel_for():
//   const int threads = available_threads(q.threads);
//   ScopedThreads cap(threads);            // while the primitive_desc is made
//   ... OnednnCall call(primitive, {{DNNL_ARG_SRC, 0}, {DNNL_ARG_DST, 1}}, threads);
//   kernel.scratch = call.scratch_bytes(); // passed to run() as the argument after the others
#pragma once

#if PLIMSOLL_HAVE_ONEDNN

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

// The names in our copy of oneDNN, then its interface.
#include <onednn_names.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "common/fork.h"
#include "device/cpu/activation.h"
#include "device/cpu/gomp_shim.h"
#include "device/cpu/thread_pool.h"
#include "plimsoll/error.h"
#include "plimsoll/tensor.h"

namespace plimsoll::onednn {

// One of each per process, never destroyed; may be used from any thread.
const dnnl::engine& engine();
const dnnl::stream& stream();

// Throws Error{unsupported} for a dtype that oneDNN does not know (f64 and complex among them).
dnnl::memory::data_type data_type(DType dtype);

// The tensor as it lies: row-major, axes in our order. A scalar becomes one axis of size 1.
dnnl::memory::desc row_major(const TensorType& type);
// A channels-last tensor (N, spatial..., C), rank 3 to 5, with oneDNN's order of axes: (N, C, spatial...).
dnnl::memory::desc channels_last(const TensorType& type);
// The same sizes and order of axes, layout left for oneDNN to choose.
dnnl::memory::desc any_layout(const dnnl::memory::desc& desc);

// Scratch is given by us, so that it is planned and counted.
dnnl::primitive_attr user_scratchpad();

// The activation as the last thing a primitive does to its result. NaN stays NaN.
void append_activation(dnnl::post_ops& ops, Activation activation);

// "onednn brgconv:avx2", for Kernel::name.
std::string kernel_name(const dnnl::primitive_desc_base& desc);

// Held while primitives are made, when oneDNN takes locks of its own: so a fork() waits for it to be out of
// them.
ForkMutex& making();

// Turns the exceptions of oneDNN's C++ API into ours: {unsupported} where it has no implementation, so that
// the next kernel is tried, {out_of_memory} and {device} otherwise. One thread at a time; not to be nested.
template <class F>
auto checked(std::string_view place, F&& make) -> decltype(make());

// A primitive ready to run, with memory objects made once: run() only sets their pointers. Move-only; one
// run at a time.
class OnednnCall {
 public:
  // The argument `arg` (DNNL_ARG_...) of the primitive is args[index] of the kernel.
  struct Binding {
    int arg;
    int index;
  };
  OnednnCall(const dnnl::primitive& primitive, std::span<const Binding> bindings, int threads);
  OnednnCall(const dnnl::primitive& primitive, std::initializer_list<Binding> bindings, int threads)
      : OnednnCall(primitive, std::span(bindings.begin(), bindings.size()), threads) {}
  OnednnCall(OnednnCall&&) noexcept;
  OnednnCall& operator=(OnednnCall&&) noexcept;
  ~OnednnCall();

  // Bytes that the primitive holds with its code, about.
  int64_t held() const;
  // Bytes of scratch the primitive wants. run() takes them from args[`scratch_index`].
  int64_t scratch_bytes() const;
  // Throws Error{device} if oneDNN reports a failure, or if a forked child gets too few threads for a
  // primitive whose threads wait for each other.
  void run(void* const* args, int scratch_index) const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

template <class F>
auto checked(std::string_view place, F&& make) -> decltype(make()) {
  try {
    const std::lock_guard lock(making());
    return make();
  } catch (const dnnl::error& e) {
    const bool unsupported = e.status == dnnl_unimplemented;
    const bool memory = e.status == dnnl_out_of_memory;
    fail(unsupported ? ErrorKind::unsupported
         : memory    ? ErrorKind::out_of_memory
                     : ErrorKind::device,
         place, "oneDNN: ", e.message);
  }
}

}  // namespace plimsoll::onednn

#endif
