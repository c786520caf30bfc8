// MachO reads what macOS's loader reads of one architecture of a library or program, on any system.
// Names are views into the bytes given. Immutable; may be read from several threads.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

class MachO {
 public:
  struct Dylib {
    std::string_view name;  // @rpath/libomp.dylib
    bool weak = false;      // may be absent
    bool reexported = false;
  };

  // Whether the bytes start like a Mach-O file, thin or universal (Java classes start alike).
  static bool looks_like(Bytes file);
  // All architectures of the file. Throws Error{bad_file} if it points outside itself.
  static std::vector<MachO> slices(Bytes file);

  uint32_t cpu_type() const { return cpu_type_; }
  std::string cpu_name() const;  // arm64, x86_64 ...
  std::string_view id() const { return id_; }
  const std::vector<Dylib>& dylibs() const { return dylibs_; }
  const std::vector<std::string_view>& rpaths() const { return rpaths_; }
  // Calls `f` with each undefined symbol; `library` counts dylibs() from 1, other values mean
  // "found by search at run time".
  void for_each_undefined(
      const std::function<void(std::string_view name, bool weak, unsigned library)>& f) const;
  void for_each_defined(const std::function<void(std::string_view name)>& f) const;
  // Whether the slice says what it exports in a form that is searched by name; else only a walk over all
  // symbols tells.
  bool has_export_trie() const { return !exports_.empty(); }
  // Requires: has_export_trie(). Takes time with the length of the name, not with the number of symbols.
  bool exports(std::string_view name) const;

 private:
  explicit MachO(Bytes slice);
  void read_command(uint32_t kind, Bytes command);
  template <class F>
  void for_each_external(uint64_t first, uint64_t count, const F& f) const;

  Bytes slice_, symbols_, strings_, exports_;
  uint64_t undefined_first_ = 0,
           undefined_count_ = 0;  // the part of symbols_ with what is undefined, where it says so
  bool has_ranges_ = false;
  bool is_64_ = false;
  uint32_t cpu_type_ = 0;
  std::string_view id_;
  std::vector<Dylib> dylibs_;
  std::vector<std::string_view> rpaths_;
};

}  // namespace plimsoll::doctor
