#include "device/cpu/onednn.h"

#include "device/cpu/shared_primitives.h"

#if PLIMSOLL_HAVE_ONEDNN

#include <array>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace plimsoll::onednn {
namespace {

using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

// Of what we call, only the gradients of weights have barriers inside, those of OpenMP and others that spin
// (looked up in the sources of 3.2 and 3.7). All else may run thread by thread.
team::Kind team_kind(const_dnnl_primitive_desc_t desc) {
  dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
  dnnl_primitive_desc_query(desc, dnnl_query_primitive_kind, 0, &kind);
  dnnl_prop_kind_t direction = dnnl_prop_kind_undef;
  dnnl_primitive_desc_query(desc, dnnl_query_prop_kind, 0, &direction);
  const char* name = "";
  dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
  const bool plain_conv = kind == dnnl_convolution &&
                          std::string_view(name).find("gemm") == std::string_view::npos &&
                          (direction == dnnl_forward_inference || direction == dnnl_backward_data);
  const bool plain_matmul = kind == dnnl_matmul && std::string_view(name).starts_with("brg");
  return plain_conv || plain_matmul || kind == dnnl_reorder ? team::Kind::each : team::Kind::whole;
}

// Resident bytes of a primitive: most of it code. Measured with oneDNN 3.2 over 100 primitives of each kind
// that the bench's models use: convolutions 11 to 69 KB (AVX-512 and AVX2; one of 88), products of matrices
// 72 KB, reorders 12 KB. Address space is some ten times as much; nobody touches the rest.
constexpr int64_t kPrimitiveBytes = 72 << 10;
constexpr int64_t kReorderBytes = 12 << 10;

// A call of a primitive that another call has too: arguments and a handle.
constexpr int64_t kSharedBytes = 2 << 10;

constexpr int kMostShared = 1024;

// What this thread has made since it began to share, as far as it can be told apart from outside.
struct Made {
  int depth = 0;
  std::set<std::string> keys;
};
thread_local Made made;

void append(std::string& key, const dnnl::memory::desc& desc) {
  const auto add = [&](const auto& list) {
    for (const int64_t n : list) key.append(std::to_string(n)).push_back(',');
    key.push_back(';');
  };
  key.append(std::to_string(static_cast<int>(desc.get_data_type()))).push_back(':');
  add(desc.get_dims());
  if (desc.get_format_kind() != dnnl::memory::format_kind::blocked) return;
  add(desc.get_strides());
  add(desc.get_inner_blks());
}

void append(std::string& key, const_dnnl_primitive_attr_t attr) {
  const_dnnl_post_ops_t ops = nullptr;
  dnnl_primitive_attr_get_post_ops(attr, &ops);
  for (int i = 0; i < dnnl_post_ops_len(ops); ++i) {
    dnnl_alg_kind_t kind{};
    float alpha = 0, beta = 0;
    if (dnnl_post_ops_get_kind(ops, i) == dnnl_eltwise)
      dnnl_post_ops_get_params_eltwise(ops, i, &kind, &alpha, &beta);
    key.append(concat(" post ", static_cast<int>(kind), " ", alpha, " ", beta));
  }
}

void share_primitives(int more_users) {
  made.depth += more_users;
  if (made.depth == 0) made.keys.clear();
  static int users = 0;
  const std::lock_guard lock(making());
  users += more_users;
  dnnl_set_primitive_cache_capacity(users > 0 ? kMostShared : 0);
}

}  // namespace

const dnnl::engine& engine() {
  static const auto* const e = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *e;
}

const dnnl::stream& stream() {
  static const auto* const s = new dnnl::stream(engine());
  return *s;
}

ForkMutex& making() {
  static ForkMutex mutex(LockOrder::onednn);
  return mutex;
}

dnnl::memory::data_type data_type(DType dtype) {
  using Type = dnnl::memory::data_type;
  switch (dtype) {
    case DType::f32: return Type::f32;
    case DType::f16: return Type::f16;
    case DType::bf16: return Type::bf16;
    case DType::i32: return Type::s32;
    case DType::i8: return Type::s8;
    case DType::u8: return Type::u8;
    default: fail(ErrorKind::unsupported, "onednn", "no data type for ", dtype);
  }
}

dnnl::memory::desc row_major(const TensorType& type) {
  static constexpr std::array kTags = {Tag::a,     Tag::ab,     Tag::abc,     Tag::abcd,
                                       Tag::abcde, Tag::abcdef, Tag::abcdefg, Tag::abcdefgh};
  Dims dims(type.shape.begin(), type.shape.end());
  if (dims.empty()) dims.push_back(1);
  return dnnl::memory::desc(dims, data_type(type.dtype), kTags[dims.size() - 1]);
}

dnnl::memory::desc channels_last(const TensorType& type) {
  const int rank = type.shape.rank();
  require(rank >= 3 && rank <= 5, "onednn", "expected a channels-last tensor of rank 3 to 5, got shape ",
          type.shape);
  Dims dims(type.shape.begin(), type.shape.end() - 1);
  dims.insert(dims.begin() + 1, type.shape[rank - 1]);
  const Tag tag = rank == 3 ? Tag::nwc : rank == 4 ? Tag::nhwc : Tag::ndhwc;
  return dnnl::memory::desc(dims, data_type(type.dtype), tag);
}

dnnl::memory::desc any_layout(const dnnl::memory::desc& desc) {
  return dnnl::memory::desc(desc.get_dims(), desc.get_data_type(), Tag::any);
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// oneDNN's max(x, 0) makes a zero of NaN: a network full of them would look well. With a slope it multiplies
// instead, and where our kernels run, a slope as small as this one counts as zero (denormals.h).
void append_activation(dnnl::post_ops& ops, Activation activation) {
  using A = dnnl::algorithm;
  switch (activation) {
    case Activation::linear: return;
    case Activation::relu:
      return ops.append_eltwise(A::eltwise_relu, std::numeric_limits<float>::denorm_min(), 0);
    case Activation::sigmoid: return ops.append_eltwise(A::eltwise_logistic, 0, 0);
    case Activation::tanh: return ops.append_eltwise(A::eltwise_tanh, 0, 0);
    case Activation::gelu: return ops.append_eltwise(A::eltwise_gelu_erf, 0, 0);
    case Activation::gelu_tanh: return ops.append_eltwise(A::eltwise_gelu_tanh, 0, 0);
    case Activation::silu: return ops.append_eltwise(A::eltwise_swish, 1, 0);
  }
}

std::string kernel_name(const dnnl::primitive_desc_base& desc) {
  return std::string("onednn ") + desc.impl_info_str();
}

struct OnednnCall::Body {
  dnnl::primitive primitive;
  std::vector<dnnl::memory> memories;  // one per binding, then the scratchpad
  std::vector<dnnl_exec_arg_t> exec_args;
  std::vector<int> indices;  // of the bindings
  int64_t held = 0, scratch = 0;
  int threads = 1;
  team::Kind team = team::Kind::whole;
};

OnednnCall::OnednnCall(const dnnl::primitive& primitive, std::span<const Binding> bindings, int threads)
    : body_(std::make_unique<Body>()) {
  Body& b = *body_;
  b.primitive = primitive;
  b.threads = threads;
  const const_dnnl_primitive_desc_t desc = primitive.get_primitive_desc();
  b.team = team_kind(desc);
  const char* name = "";
  dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
  std::string key = concat(static_cast<int>(primitive.get_kind()), " ", name, " ", threads, " ");
  const_dnnl_primitive_attr_t attr = nullptr;
  if (dnnl_primitive_desc_get_attr(desc, &attr) == dnnl_success) append(key, attr);
  auto add = [&](int arg) {
    const const_dnnl_memory_desc_t md = dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, arg);
    require(md != nullptr, "onednn", "the primitive has no argument ", arg);
    dnnl_memory_desc_t copy = nullptr;
    dnnl::error::wrap_c_api(dnnl_memory_desc_clone(&copy, md), "cannot copy a memory descriptor");
    const dnnl::memory::desc owned(copy);
    append(key, owned);
    void* const no_bytes_yet = nullptr;
    if (arg == DNNL_ARG_SCRATCHPAD && owned.get_size() == 0) return int64_t{0};
    b.memories.emplace_back(owned, engine(), no_bytes_yet);
    b.exec_args.push_back({arg, b.memories.back().get()});
    return static_cast<int64_t>(owned.get_size());
  };
  for (const Binding& binding : bindings) {
    add(binding.arg);
    b.indices.push_back(binding.index);
  }
  b.scratch = add(DNNL_ARG_SCRATCHPAD);
  const bool first = made.depth == 0 || made.keys.insert(std::move(key)).second;
  b.held = !first                                                   ? kSharedBytes
           : primitive.get_kind() == dnnl::primitive::kind::reorder ? kReorderBytes
                                                                    : kPrimitiveBytes;
}

OnednnCall::OnednnCall(OnednnCall&&) noexcept = default;
OnednnCall& OnednnCall::operator=(OnednnCall&&) noexcept = default;
OnednnCall::~OnednnCall() = default;

int64_t OnednnCall::held() const { return body_->held; }
int64_t OnednnCall::scratch_bytes() const { return body_->scratch; }

void OnednnCall::run(void* const* args, int scratch_index) const {
  const Body& b = *body_;
  if (b.team == team::Kind::whole) {
    const int threads = available_threads(b.threads);
    if (threads < b.threads) [[unlikely]] {
      fail(ErrorKind::device, "onednn", "expected ", b.threads,
           " threads, as when the program was made, got ", threads,
           "; raise the limit on processes (ulimit -u), or compile with fewer threads");
    }
  }
  const size_t bound = b.indices.size();
  for (size_t i = 0; i < bound; ++i) dnnl_memory_set_data_handle(b.exec_args[i].memory, args[b.indices[i]]);
  if (b.scratch > 0) dnnl_memory_set_data_handle(b.exec_args[bound].memory, args[scratch_index]);
  const ScopedThreads cap(b.threads, b.team);
  const dnnl_status_t status = dnnl_primitive_execute(
      b.primitive.get(), stream().get(), static_cast<int>(b.exec_args.size()), b.exec_args.data());
  if (status != dnnl_success) [[unlikely]] {
    fail(status == dnnl_out_of_memory ? ErrorKind::out_of_memory : ErrorKind::device, "onednn",
         "running a primitive failed with status ", static_cast<int>(status));
  }
}

}  // namespace plimsoll::onednn

namespace plimsoll {

SharedPrimitives::SharedPrimitives() noexcept { onednn::share_primitives(1); }
SharedPrimitives::~SharedPrimitives() { onednn::share_primitives(-1); }

}  // namespace plimsoll

#else

namespace plimsoll {

SharedPrimitives::SharedPrimitives() noexcept = default;
SharedPrimitives::~SharedPrimitives() = default;

}  // namespace plimsoll

#endif
