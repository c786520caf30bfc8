#include "matmul.h"

#include <algorithm>
#include <bit>

#include "libraries.h"

namespace plimsoll::cuda {
namespace {

constexpr uint64_t kMostWorkspace = 32 << 20;
constexpr size_t kCandidates = 12;

int data_type(DType t) {
  switch (t) {
    case DType::f16: return kReal16F;
    case DType::bf16: return kReal16BF;
    case DType::f64: return kReal64F;
    default: return kReal32F;
  }
}

void check_lt(int status, const char* what) {
  if (status != 0)
    fail(ErrorKind::device, "cuda", "cuBLASLt: ", std::string_view(what), " failed with status ", status);
}

// A descriptor of the library.
class Object {
 public:
  explicit Object(int (*destroy)(LtObject)) : destroy_(destroy) {}
  ~Object() {
    if (get != nullptr) destroy_(get);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  LtObject get = nullptr;

 private:
  int (*destroy_)(LtObject);
};

// Row-major (rows, columns), which the library calls columns by rows.
void make_layout(Object& layout, DType t, int64_t rows, int64_t columns, int64_t batch) {
  const CublasLt& lt = cublas_lt();
  check_lt(lt.layout_create(&layout.get, data_type(t), static_cast<uint64_t>(columns),
                            static_cast<uint64_t>(rows), columns),
           "layout");
  const int32_t count = static_cast<int32_t>(batch);
  const int64_t stride = rows * columns;
  if (batch == 1) return;
  check_lt(lt.layout_set(layout.get, kLayoutBatchCount, &count, sizeof count), "batch");
  check_lt(lt.layout_set(layout.get, kLayoutBatchStride, &stride, sizeof stride), "batch stride");
}

// Bytes that the place of a matrix is sure to be aligned to. Rows of a scan's tensors follow each other
// without gaps.
uint32_t alignment_of(DType t, int64_t elements) {
  const uint64_t bytes = static_cast<uint64_t>(elements) * size_of(t);
  return static_cast<uint32_t>(std::min<uint64_t>(256, bytes & (~bytes + 1)));
}

class MatmulStep final : public Step {
 public:
  MatmulStep(Build& b, const Matmul& product)
      : product_(product), handle_(b.device.lt()), tuning_(b.device.tuning.get()) {
    const CublasLt& lt = cublas_lt();
    const bool wide = product.dtype == DType::f64;
    const bool tf32 = b.device.options.tf32 && product.dtype == DType::f32;
    check_lt(lt.desc_create(&desc_.get,
                            wide   ? kCompute64F
                            : tf32 ? kComputeTF32
                                   : kCompute32F,
                            wide ? kReal64F : kReal32F),
             "descriptor");
    // In columns: out^T = b^T a^T, so b comes first.
    const int32_t transpose = kTranspose;
    if (product.b_transposed)
      check_lt(lt.desc_set(desc_.get, kDescTransA, &transpose, sizeof transpose), "transpose");
    if (product.a_transposed)
      check_lt(lt.desc_set(desc_.get, kDescTransB, &transpose, sizeof transpose), "transpose");
    if (product.has_bias) {
      const int32_t epilogue = product.relu ? kEpilogueReluBias : kEpilogueBias,
                    type = data_type(product.dtype);
      check_lt(lt.desc_set(desc_.get, kDescEpilogue, &epilogue, sizeof epilogue), "epilogue");
      check_lt(lt.desc_set(desc_.get, kDescBiasType, &type, sizeof type), "type of the bias");
    }
    make_layout(a_, product.dtype, product.a_transposed ? product.k : product.m,
                product.a_transposed ? product.m : product.k, product.batch);
    make_layout(b_, product.dtype, product.b_transposed ? product.n : product.k,
                product.b_transposed ? product.k : product.n, product.batch);
    make_layout(out_, product.out_dtype.value_or(product.dtype), product.m, product.n, product.batch);
    choose(b);
  }

  void run(const Place& place) override {
    if (product_.has_bias) {
      const CUdeviceptr bias = place(product_.bias);
      check_lt(cublas_lt().desc_set(desc_.get, kDescBiasPointer, &bias, sizeof bias), "bias");
    }
    if (!chosen_)
      chosen_ = tuning_->choose(key_, found_.size(), place.stream, [&](size_t i) {
        run(place, found_[i], product_.trial.value_or(product_.out));
      });
    run(place, found_[*chosen_], product_.out);
  }
  std::unique_ptr<Step> adding(Build& b, Ref out, Ref addend) const override {
    if (product_.relu || product_.has_addend || product_.a.value < 0 || product_.b.value < 0) return nullptr;
    Matmul product = product_;
    product.out = out;
    product.addend = addend;
    product.has_addend = true;
    product.trial = product_.out;
    return std::make_unique<MatmulStep>(b, product);
  }
  std::string name() const override {
    return concat("cublasLt ", product_.batch, "x", product_.m, "x", product_.n, "x", product_.k);
  }

 private:
  static void* pointer(CUdeviceptr at) { return reinterpret_cast<void*>(at); }

  void run(const Place& place, const LtHeuristic& how, Ref to) {
    const float one32 = 1, zero32 = 0;
    const double one64 = 1, zero64 = 0;
    const bool wide = product_.dtype == DType::f64;
    const void *const one = wide ? static_cast<const void*>(&one64) : &one32,
                      *const zero = wide ? static_cast<const void*>(&zero64) : &zero32;
    void* const out = pointer(place(to));
    void* const addend = product_.has_addend ? pointer(place(product_.addend)) : out;
    check_lt(cublas_lt().matmul(
                 handle_, desc_.get, one, pointer(place(product_.b)), b_.get, pointer(place(product_.a)),
                 a_.get, product_.has_addend ? one : zero, addend, out_.get, out, out_.get, &how.algorithm,
                 how.workspace ? pointer(place(workspace_)) : nullptr, how.workspace, place.stream),
             "matmul");
  }

  void choose(Build& b) {
    const CublasLt& lt = cublas_lt();
    Object preference(lt.preference_destroy);
    check_lt(lt.preference_create(&preference.get), "preference");
    const auto set = [&](int which, const auto& value) {
      check_lt(lt.preference_set(preference.get, which, &value, sizeof value), "preference");
    };
    const uint32_t of_a = alignment_of(product_.dtype, product_.batch * product_.m * product_.k),
                   of_b = alignment_of(product_.dtype, product_.batch * product_.k * product_.n),
                   of_out = alignment_of(product_.out_dtype.value_or(product_.dtype),
                                         product_.batch * product_.m * product_.n);
    set(kPreferenceWorkspace, kMostWorkspace);
    set(kPreferenceAlignA, of_b);
    set(kPreferenceAlignB, of_a);
    set(kPreferenceAlignC, of_out);
    set(kPreferenceAlignD, of_out);
    int count = 0;
    found_.resize(tuning_ != nullptr ? kCandidates : 1);
    const int status = lt.heuristic(handle_, desc_.get, b_.get, a_.get, out_.get, out_.get, preference.get,
                                    static_cast<int>(found_.size()), found_.data(), &count);
    if (status != 0 || count == 0)
      fail(ErrorKind::unsupported, b.node.op(), "cuBLASLt has no algorithm for ", name(), " of ",
           product_.dtype);
    found_.resize(static_cast<size_t>(count));
    key_ = concat(name(), "_", product_.dtype, product_.a_transposed ? "t" : "",
                  product_.b_transposed ? "_t" : "", product_.has_bias ? "_bias" : "",
                  product_.relu ? "_relu" : "", product_.has_addend ? "_add" : "");
    std::ranges::replace(key_, ' ', '_');
    if (tuning_ == nullptr || found_.size() == 1)
      chosen_ = 0;
    else
      chosen_ = tuning_->known(key_, found_.size());
    if (chosen_) {
      found_ = {found_[*chosen_]};
      chosen_ = 0;
    }
    size_t workspace = 0;
    for (const LtHeuristic& one : found_) workspace = std::max(workspace, one.workspace);
    if (workspace > 0) workspace_ = b.scratch(static_cast<int64_t>(workspace));
  }

  const Matmul product_;
  const cublasLtHandle_t handle_;
  Object desc_{cublas_lt().desc_destroy};
  Object a_{cublas_lt().layout_destroy}, b_{cublas_lt().layout_destroy}, out_{cublas_lt().layout_destroy};
  Tuning* const tuning_;
  std::string key_;
  std::vector<LtHeuristic> found_;
  std::optional<size_t> chosen_;  // among them; none before the first run
  Ref workspace_;
};

}  // namespace

void add_matmul(Build& b, const Matmul& product) { b.add(std::make_unique<MatmulStep>(b, product)); }

}  // namespace plimsoll::cuda
