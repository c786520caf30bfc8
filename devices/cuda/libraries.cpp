#include "libraries.h"

#include <dlfcn.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll::cuda {
namespace {

std::vector<std::string> folders_of_wheels() {
  std::vector<std::string> found;
  const char* const environment = std::getenv("VIRTUAL_ENV");
  if (environment == nullptr) return found;
  glob_t list{};
  const std::string pattern = concat(environment, "/lib/python3*/site-packages/nvidia/*/lib");
  if (glob(pattern.c_str(), 0, nullptr, &list) == 0)
    for (size_t i = 0; i < list.gl_pathc; ++i) found.emplace_back(list.gl_pathv[i]);
  globfree(&list);
  return found;
}

// Those that the user names come first; an empty one stands for the loader's own search.
std::vector<std::string> folders() {
  std::vector<std::string> all;
  const char* const named = std::getenv("PLIMSOLL_CUDA_LIBRARIES");
  std::string_view rest = named != nullptr ? named : "";
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(':'));
    if (!one.empty()) all.emplace_back(one);
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  all.emplace_back();
  for (std::string& folder : folders_of_wheels()) all.push_back(std::move(folder));
  all.emplace_back("/usr/local/cuda/lib64");
  return all;
}

void* try_library(const std::string& name) {
  for (const std::string& folder : folders()) {
    const std::string path = folder.empty() ? name : concat(folder, "/", name);
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  return nullptr;
}

void* find_library(const std::string& name, std::string_view where_to_get_it) {
  if (void* const library = try_library(name)) return library;
  fail(ErrorKind::unsupported, "cuda", "there is no ", name, " on this machine: ", where_to_get_it);
}

constexpr int kOldest = 12, kNewest = 13;  // of CUDA's major versions

int version_of_driver() {
  int version = 0;
  driver().driver_version(&version);
  return version;
}

// A part of CUDA's toolkit. What it compiles runs with a driver of its own major version, or a later one.
void* find_of_toolkit(const std::string& name, std::string_view where_to_get_it) {
  const int version = version_of_driver(), known = std::min(version / 1000, kNewest);
  for (int major = known; major >= kOldest; --major)
    if (void* const library = try_library(concat(name, ".", major))) return library;
  const std::string driver =
      concat("NVIDIA's driver here knows CUDA ", version / 1000, ".", version % 1000 / 10);
  if (known < kOldest)
    fail(ErrorKind::unsupported, "cuda", driver, ": install one that knows CUDA ", kOldest);
  for (int major = known + 1; major <= kNewest; ++major) {
    if (try_library(concat(name, ".", major)))
      fail(ErrorKind::unsupported, "cuda", driver, ", and ", name, " here is of CUDA ", major,
           ": install a newer driver, or the library of CUDA ", known);
  }
  fail(ErrorKind::unsupported, "cuda", "there is no ", name, ".", known,
       " on this machine: ", where_to_get_it);
}

template <class Function>
void find_symbol(void* library, const char* name, Function& to) {
  to = reinterpret_cast<Function>(dlsym(library, name));
  if (to == nullptr)
    fail(ErrorKind::unsupported, "cuda", "NVIDIA's library has no function ", std::string_view(name),
         ": install a newer one");
}

#define PLIMSOLL_CUDA_FIND(name, symbol, parameters) find_symbol(library, #symbol, found.name);

Driver load_driver() {
  void* const library = find_library("libcuda.so.1", "install NVIDIA's driver");
  Driver found;
  PLIMSOLL_CUDA_DRIVER(PLIMSOLL_CUDA_FIND)
  if (const CUresult result = found.init(0); result != kSuccess && result != kNoDevice) {
    const char* text = nullptr;
    found.error_string(result, &text);
    fail(ErrorKind::unsupported, "cuda",
         "the driver does not start: ", std::string_view(text != nullptr ? text : "it does not say why"));
  }
  return found;
}

Nvrtc load_nvrtc() {
  void* const library =
      find_of_toolkit("libnvrtc.so", "install CUDA's toolkit, or pip install nvidia-cuda-nvrtc");
  Nvrtc found;
  PLIMSOLL_CUDA_NVRTC(PLIMSOLL_CUDA_FIND)
  return found;
}

CublasLt load_cublas_lt() {
  void* const library =
      find_of_toolkit("libcublasLt.so", "install CUDA's toolkit, or pip install nvidia-cublas");
  CublasLt found;
  PLIMSOLL_CUDA_LT(PLIMSOLL_CUDA_FIND)
  find_symbol(library, "cublasLtGetVersion", found.version);
  return found;
}

Nvml load_nvml() {
  void* const library = find_library("libnvidia-ml.so.1", "it comes with NVIDIA's driver");
  Nvml found;
  PLIMSOLL_CUDA_NVML(PLIMSOLL_CUDA_FIND)
  return found;
}

Cudnn load_cudnn() {
  void* const library = find_library("libcudnn.so.9", "pip install nvidia-cudnn");
  Cudnn found;
  PLIMSOLL_CUDA_DNN(PLIMSOLL_CUDA_FIND)
  find_symbol(library, "cudnnGetVersion", found.version);
  return found;
}

template <class Library>
std::optional<Library> if_there(Library (*load)()) {
  try {
    return load();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

const Driver& driver() {
  static const Driver loaded = load_driver();
  return loaded;
}
const Nvrtc& nvrtc() {
  static const Nvrtc loaded = load_nvrtc();
  return loaded;
}
const CublasLt& cublas_lt() {
  static const CublasLt loaded = load_cublas_lt();
  return loaded;
}
const Nvml* nvml() {
  static const auto loaded = if_there(load_nvml);
  return loaded ? &*loaded : nullptr;
}
const Cudnn* cudnn() {
  static const auto loaded = if_there(load_cudnn);
  return loaded ? &*loaded : nullptr;
}

}  // namespace plimsoll::cuda
