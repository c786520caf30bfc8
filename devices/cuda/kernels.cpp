#include "kernels.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <unordered_set>

#include "device/element_text.h"
#include "fault.h"

namespace plimsoll::cuda {
namespace {

// A module of this many kernels takes NVRTC about as long as two half as large, less one prelude.
constexpr size_t kKernelsPerModule = 8;

const std::string& prelude() {
  static const std::string text = element_prelude(SourceTarget::cuda);
  return text;
}

std::string module_text(std::span<const std::string* const> texts) {
  std::string text = prelude();
  for (size_t i = 0; i < texts.size(); ++i)
    text += concat("#define KERNEL k", i, "\n", *texts[i], "#undef KERNEL\n");
  return text;
}

class NvrtcProgram {
 public:
  explicit NvrtcProgram(const std::string& text) {
    if (nvrtc().create(&program_, text.c_str(), "plimsoll.cu", 0, nullptr, nullptr) != 0)
      fail(ErrorKind::internal, "cuda", "NVRTC takes no source");
  }
  ~NvrtcProgram() { nvrtc().destroy(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  std::vector<char> compile(int capability) {
    const std::string target = concat("--gpu-architecture=sm_", capability);
    // Chains give the bits of their ops run one by one: no contraction; division and roots round correctly.
    const char* const options[] = {target.c_str(), "--fmad=false", "--std=c++17", "--minimal", "-w"};
    if (nvrtc().compile(program_, 5, options) != 0)
      fail(ErrorKind::internal, "cuda", "NVRTC refuses a generated kernel: ", message());
    size_t size = 0;
    nvrtc().code_size(program_, &size);
    std::vector<char> code(size);
    if (size == 0 || nvrtc().code(program_, code.data()) != 0)
      fail(ErrorKind::internal, "cuda", "NVRTC gives no code");
    return code;
  }

 private:
  std::string message() {
    size_t size = 0;
    nvrtc().log_size(program_, &size);
    std::string log(size, '\0');
    if (size > 0) nvrtc().log(program_, log.data());
    return log;
  }

  nvrtcProgram program_ = nullptr;
};

}  // namespace

std::vector<char> compile_kernels(std::span<const std::string* const> texts, int capability) {
  return NvrtcProgram(module_text(texts)).compile(capability);
}

Module::Module(const std::vector<char>& code) {
  check(driver().module_load(&module_, code.data()), "loading kernels");
}
Module::~Module() { driver().module_unload(module_); }

CUfunction Module::find(const std::string& name) const {
  CUfunction function = nullptr;
  check(driver().module_function(&function, module_, name.c_str()), "finding a kernel");
  return function;
}

std::vector<std::vector<char>> Kernels::compile(
    std::span<const std::span<const std::string* const>> modules) const {
  std::vector<std::vector<char>> code(modules.size());
  std::vector<std::exception_ptr> failures(modules.size());
  const size_t threads = std::min<size_t>(modules.size(), std::max(1u, std::thread::hardware_concurrency()));
  const auto work = [&](size_t first) {
    for (size_t m = first; m < modules.size(); m += threads) {
      try {
        code[m] = compile_kernels(modules[m], capability_);
      } catch (...) {
        failures[m] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    for (size_t t = 1; t < threads; ++t) workers.emplace_back(work, t);
    if (threads > 0) work(0);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return code;
}

void Kernels::add(std::span<const std::string* const> texts, const std::vector<char>& code) {
  const auto module = std::make_shared<const Module>(code);
  for (size_t i = 0; i < texts.size(); ++i)
    known_.insert_or_assign(*texts[i], Known{module->find(concat("k", i)), module});
  recent_.push_back(module);
}

std::vector<Kernels::Kernel> Kernels::get(std::span<const std::string> texts) {
  const std::lock_guard lock(mutex_);
  std::vector<const std::string*> missing;
  std::vector<std::shared_ptr<const Module>> held;  // programs may go meanwhile, and their modules with them
  std::unordered_set<std::string_view> seen;
  for (const std::string& text : texts) {
    if (!seen.insert(text).second) continue;
    const auto known = known_.find(text);
    held.push_back(known != known_.end() ? known->second.module.lock() : nullptr);
    if (!held.back()) missing.push_back(&text);
  }
  std::vector<std::span<const std::string* const>> modules;
  for (size_t at = 0; at < missing.size(); at += kKernelsPerModule)
    modules.push_back(std::span<const std::string* const>(missing).subspan(
        at, std::min(kKernelsPerModule, missing.size() - at)));
  const std::vector<std::vector<char>> code = compile(modules);
  for (size_t m = 0; m < modules.size(); ++m) add(modules[m], code[m]);
  std::vector<Kernel> found;
  for (const std::string& text : texts) {
    const Known& known = known_.at(text);
    found.push_back({known.function, known.module.lock()});
  }
  while (recent_.size() > most_recent_) recent_.pop_front();
  std::erase_if(known_, [](const auto& entry) { return entry.second.module.expired(); });
  return found;
}

}  // namespace plimsoll::cuda
