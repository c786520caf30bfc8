// LoaderPath answers where the dynamic loader would find a library, by the rules of ld.so (glibc and
// musl) for ELF and of dyld for Mach-O. Immutable; may be used from several threads.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "doctor/formats/elf.h"
#include "doctor/formats/macho.h"
#include "doctor/python/environment.h"
#include "doctor/system.h"

namespace plimsoll::doctor {

class LoaderPath {
 public:
  // `program` is the interpreter (null if unknown): its RPATH counts for all it loads.
  LoaderPath(const Environment& environment, const System& system, const Elf* program);

  // Candidates for a library that a program asks for by name (dlopen).
  std::vector<std::filesystem::path> candidates(std::string_view name) const;
  // Candidates for `name` as needed by the file `by`, in the order the loader tries them.
  std::vector<std::filesystem::path> candidates(std::string_view name, const Elf& elf,
                                                const std::filesystem::path& by) const;
  std::vector<std::filesystem::path> candidates(std::string_view name, const MachO& macho,
                                                const std::filesystem::path& by) const;

 private:
  void add_system(std::vector<std::filesystem::path>& out, std::string_view name) const;
  void add(std::vector<std::filesystem::path>& out, std::string_view folders, std::string_view name,
           const std::filesystem::path& by) const;

  std::filesystem::path program_;
  std::string program_rpath_, library_path_, system_folders_;
  std::unordered_map<std::string, std::vector<std::string>> cache_;
};

}  // namespace plimsoll::doctor
