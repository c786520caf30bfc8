// Element-wise programs as C functions, with plain loops around what element_source() prints, compiled by the
// system's compiler into one library.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/element_source.h"
#include "plimsoll/tensor.h"

namespace plimsoll::testing {

class CLibrary {
 public:
  CLibrary() = default;
  CLibrary(const CLibrary&) = delete;
  CLibrary& operator=(const CLibrary&) = delete;
  ~CLibrary();

  // Returns the number of the program. Programs with the same text share a function.
  size_t add(const TileProgram& program, int arguments);
  // Throws std::runtime_error with what the compiler said.
  void compile();
  // Requires: compiled. `args`: inputs and outputs.
  void run(size_t program, std::vector<void*> args) const;
  size_t functions() const { return functions_.size(); }

 private:
  struct Added {
    size_t function;
    std::vector<int64_t> sizes;
    std::vector<std::shared_ptr<const void>> constants;
  };
  std::map<std::string, size_t> functions_;  // by text
  std::vector<Added> programs_;
  void* library_ = nullptr;
};

}  // namespace plimsoll::testing
