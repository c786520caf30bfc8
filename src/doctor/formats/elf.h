// Elf reads what the dynamic loader reads of a shared library or program (Linux): for which machine
// it is, what it needs, what it defines and leaves undefined. Nothing is run or copied: names are
// views into the bytes given to the constructor. Immutable; may be read from several threads.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

class Elf {
 public:
  struct VersionNeed {
    std::string_view file;     // libc.so.6
    std::string_view version;  // GLIBC_2.34
    bool weak = false;
  };

  static bool looks_like(Bytes file) { return file.size() >= 20 && file.text(0, 4) == "\177ELF"; }
  // Throws Error{bad_file} if headers or dynamic section point outside the file.
  explicit Elf(Bytes file);

  uint16_t machine() const { return machine_; }
  bool is_64() const { return is_64_; }
  bool big_endian() const { return file_.big_endian(); }
  bool has_dynamic() const { return has_dynamic_; }
  std::string_view soname() const { return soname_; }
  std::string_view interpreter() const { return interpreter_; }  // /lib64/ld-linux-x86-64.so.2
  std::string_view rpath() const { return rpath_; }
  std::string_view runpath() const { return runpath_; }
  const std::vector<std::string_view>& needed() const { return needed_; }
  const std::vector<VersionNeed>& version_needs() const { return version_needs_; }
  const std::vector<std::string_view>& version_definitions() const { return version_definitions_; }
  // Least x86-64 level (1 to 4) the linker recorded as needed; 0 where it recorded none.
  int x86_level() const { return x86_level_; }

  // Whether the library exports `name`, in any version.
  bool defines(std::string_view name) const { return defines(name, hash(name)); }
  bool defines(std::string_view name, uint32_t gnu_hash) const;
  // Calls `f` with each symbol the loader has to find elsewhere; weak ones may stay unresolved.
  void for_each_undefined(const std::function<void(std::string_view name, bool weak)>& f) const;
  void for_each_defined(const std::function<void(std::string_view name)>& f) const;
  // Whether all segments and the section table lie inside the file: false for one cut off in copying.
  bool complete() const;
  // Whether its segments can be mapped as they lie in the file: strip and patchelf may leave one that cannot.
  bool aligned() const { return aligned_; }
  // Offset and size of what is loaded as code.
  std::vector<std::pair<uint64_t, uint64_t>> code() const;
  // The bytes of the read-only data section, empty if section headers are stripped.
  Bytes read_only_data() const;

  static uint32_t hash(std::string_view name);

 private:
  struct Segment {
    uint64_t address, offset, size;
    bool code;
  };
  struct Symbol {
    std::string_view name;
    bool defined, weak, local;
  };
  struct Section {
    uint32_t name, type;
    uint64_t offset, size, entry_size;
  };

  void read_segments();
  void read_dynamic(Bytes dynamic);
  void read_version_needs(uint64_t address, uint64_t count);
  void read_version_definitions(uint64_t address, uint64_t count);
  void read_notes(Bytes notes, uint64_t alignment);
  void find_symbol_count(uint64_t hash_address);
  std::vector<Section> sections() const;
  Bytes at_address(uint64_t address) const;
  uint64_t word(Bytes b, uint64_t offset) const { return is_64_ ? b.u64(offset) : b.u32(offset); }
  uint64_t word_size() const { return is_64_ ? 8 : 4; }
  uint64_t symbol_size() const { return is_64_ ? 24 : 16; }
  Symbol symbol(uint64_t index) const;

  Bytes file_;
  bool is_64_ = false, has_dynamic_ = false, aligned_ = true;
  uint16_t machine_ = 0;
  int x86_level_ = 0;
  std::vector<Segment> segments_;
  Bytes strings_, symbols_, gnu_hash_;
  uint64_t symbol_count_ = 0;
  std::string_view soname_, interpreter_, rpath_, runpath_;
  std::vector<std::string_view> needed_, version_definitions_;
  std::vector<VersionNeed> version_needs_;
};

// "x86-64", "AArch64" ... or "machine 0x..." for the e_machine of an ELF file.
std::string elf_machine_name(uint16_t machine, bool is_64);

}  // namespace plimsoll::doctor
