// Kernels made from source by NVRTC, each once per device however many programs use it.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "api.h"
#include "libraries.h"

namespace plimsoll::cuda {

// Machine code on the device. Its context must be current when the last owner goes.
class Module {
 public:
  explicit Module(const std::vector<char>& code);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  CUfunction find(const std::string& name) const;

 private:
  CUmodule module_ = nullptr;
};

class Kernels {
 public:
  struct Kernel {
    CUfunction function;
    std::shared_ptr<const Module> module;  // to be kept as long as the function is used
  };

  // capability: 90 for 9.0. The device's context must be current in all calls. The `recent` modules made last
  // live on without a program, for models that are compiled again; the others go with their programs.
  explicit Kernels(int capability, size_t recent = 64) : capability_(capability), most_recent_(recent) {}

  // The functions of these texts, each the definition of one kernel with the name KERNEL. What is new is
  // compiled, on several threads. Throws Error{internal} with the compiler's message.
  std::vector<Kernel> get(std::span<const std::string> texts);

 private:
  struct Known {
    CUfunction function;
    std::weak_ptr<const Module> module;
  };

  std::vector<std::vector<char>> compile(std::span<const std::span<const std::string* const>> modules) const;
  void add(std::span<const std::string* const> texts, const std::vector<char>& code);

  const int capability_;
  const size_t most_recent_;
  std::mutex mutex_;
  std::unordered_map<std::string, Known> known_;
  std::deque<std::shared_ptr<const Module>> recent_;
};

// The machine code of a module with these kernels, as k0, k1, ...; needs no device.
std::vector<char> compile_kernels(std::span<const std::string* const> texts, int capability);

}  // namespace plimsoll::cuda
