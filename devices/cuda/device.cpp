#include "device.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "holders.h"
#include "libraries.h"

using namespace plimsoll;
using namespace plimsoll::cuda;

namespace {

CudaOptions read_options() {
  const char* const set = std::getenv("PLIMSOLL_CUDA");
  CudaOptions options;
  std::string_view rest = set != nullptr ? set : "";
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (one == "tf32")
      options.tf32 = true;
    else if (one == "deterministic")
      options.deterministic = true;
    else if (one == "no_graphs")
      options.no_graphs = true;
    else if (one == "no_tuning")
      options.no_tuning = true;
    else if (!one.empty())
      fail(ErrorKind::invalid_argument, "cuda",
           "expected tf32, deterministic, no_graphs or no_tuning in PLIMSOLL_CUDA, got '", one, "'");
  }
  return options;
}

int attribute(CUdevice device, int which) {
  int value = 0;
  check(driver().device_attribute(&value, which, device), "device attribute");
  return value;
}

}  // namespace

plimsoll_device::plimsoll_device(int32_t index) : options(read_options()) {
  nvrtc();  // say now what is missing, not at the first fit
  cublas_lt();
  check(driver().device_get(&number, index), "opening the device");
  std::array<char, 128> text{};
  check(driver().device_name(text.data(), text.size(), number), "the device's name");
  name = text.data();
  multiprocessors = attribute(number, kMultiprocessors);
  capability = 10 * attribute(number, kMajor) + attribute(number, kMinor);
  shared_bytes = attribute(number, kSharedPerBlock);
  check_architecture();
  if (const CUresult result = driver().context_retain(&context, number); result == kOutOfMemory) {
    const std::string others = memory_holders(number);
    fail(ErrorKind::out_of_memory, "cuda", "all memory of the GPU is taken",
         others.empty() ? " by processes that cannot be seen from here" : ": " + others);
  } else {
    check(result, "making a context");
  }
  kernels = std::make_unique<Kernels>(capability);
  if (!options.deterministic && !options.no_tuning) tuning = std::make_unique<Tuning>(tuning_file());
}

// NVRTC compiles for a range of GPUs: neither the oldest nor those that came after it.
void plimsoll_device::check_architecture() const {
  int count = 0, major = 0, minor = 0;
  nvrtc().architecture_count(&count);
  std::vector<int> known(static_cast<size_t>(count));
  if (known.empty() || nvrtc().architectures(known.data()) != 0) return;
  if (capability >= known.front() && capability / 10 <= known.back() / 10) return;
  nvrtc().version(&major, &minor);
  fail(ErrorKind::unsupported, "cuda", "NVRTC ", major, ".", minor, " has no code for ", name,
       " of capability ", capability / 10, ".", capability % 10, ": install ",
       capability < known.front() ? "CUDA 12, or use another GPU" : "a newer one");
}

std::string plimsoll_device::tuning_file() const {
  int version = 0;
  check(driver().driver_version(&version), "the driver's version");
  std::string kind = concat("cuda3_", name, "_", version, "_", cublas_lt().version(), "_",
                            cudnn() != nullptr ? cudnn()->version() : 0, options.tf32 ? "_tf32" : "");
  std::ranges::replace_if(
      kind, [](char c) { return c == ' ' || c == '/'; }, '-');
  return cache_path(kind);
}

plimsoll_device::~plimsoll_device() {
  driver().context_push(context);
  if (lt_ != nullptr) cublas_lt().destroy(lt_);
  if (dnn_ != nullptr) cudnn()->destroy(dnn_);
  kernels.reset();
  CUcontext popped = nullptr;
  driver().context_pop(&popped);
  driver().context_release(number);
}

cublasLtHandle_t plimsoll_device::lt() {
  const std::lock_guard lock(mutex_);
  if (lt_ == nullptr && cublas_lt().create(&lt_) != 0)
    fail(ErrorKind::device, "cuda", "cuBLASLt does not start");
  return lt_;
}

cudnnHandle_t plimsoll_device::dnn() {
  const std::lock_guard lock(mutex_);
  if (dnn_ == nullptr && cudnn() != nullptr && cudnn()->create(&dnn_) != 0) dnn_ = nullptr;
  return dnn_;
}
