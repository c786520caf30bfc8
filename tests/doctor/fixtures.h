// Smallest files of the formats the doctor reads, made in code: for its tests, and as seeds to fuzz from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll::doctor::fixtures {

// Appends numbers in little-endian order and remembers nothing else.
class Writer {
 public:
  Writer& u8(uint64_t v) { return number(v, 1); }
  Writer& u16(uint64_t v) { return number(v, 2); }
  Writer& u32(uint64_t v) { return number(v, 4); }
  Writer& u64(uint64_t v) { return number(v, 8); }
  Writer& text(std::string_view s) {
    out.append(s);
    return *this;
  }
  Writer& zeros(size_t n) {
    out.append(n, '\0');
    return *this;
  }
  Writer& align(size_t to) { return zeros((to - out.size() % to) % to); }
  Writer& number(uint64_t v, int width) {
    for (int i = 0; i < width; ++i) out += static_cast<char>(v >> (8 * i));
    return *this;
  }
  size_t size() const { return out.size(); }
  std::string out;
};

struct ElfSpec {
  uint16_t machine = 62;
  std::string soname = "libtiny.so.1", runpath = "$ORIGIN/lib";
  std::vector<std::string> needed = {"libc.so.6"};
  std::vector<std::string> undefined = {"puts"}, defined = {"PyInit_tiny", "helper"};
  std::string version = "GLIBC_2.34";  // of libc.so.6
  bool gnu_hash = true;                // else the old table
  uint32_t isa = 0;                    // bits of the needed x86-64 levels; 0: no note
};

inline uint32_t gnu_hash(std::string_view name) {
  uint32_t h = 5381;
  for (const unsigned char c : name) h = h * 33 + c;
  return h;
}

// A 64-bit little-endian shared library without section headers; file offsets are addresses.
inline std::string elf(const ElfSpec& spec = {}) {
  Writer strings;
  strings.zeros(1);
  const auto add = [&](const std::string& s) {
    const size_t at = strings.size();
    strings.text(s).zeros(1);
    return at;
  };
  Writer symbols;
  symbols.zeros(24);
  for (const std::string& name : spec.undefined) symbols.u32(add(name)).u8(0x10).u8(0).u16(0).u64(0).u64(0);
  for (const std::string& name : spec.defined) symbols.u32(add(name)).u8(0x12).u8(0).u16(1).u64(0).u64(0);
  const size_t first = 1 + spec.undefined.size(), count = first + spec.defined.size();
  Writer hash;
  if (spec.gnu_hash) {
    hash.u32(1).u32(first).u32(1).u32(0).u64(~uint64_t{0}).u32(spec.defined.empty() ? 0 : first);
    for (size_t i = 0; i < spec.defined.size(); ++i) {
      hash.u32((gnu_hash(spec.defined[i]) & ~1u) | (i + 1 == spec.defined.size()));
    }
  } else {
    hash.u32(1).u32(count).u32(0).zeros(4 * count);
  }
  const size_t file_name = add("libc.so.6"), version_name = add(spec.version);
  Writer versions;
  versions.u16(1).u16(1).u32(file_name).u32(16).u32(0);
  versions.u32(0).u16(0).u16(2).u32(version_name).u32(0);
  Writer note;
  if (spec.isa)
    note.u32(4).u32(16).u32(5).text(std::string_view("GNU\0", 4)).u32(0xc0008002).u32(4).u32(spec.isa).u32(0);

  std::vector<std::pair<uint64_t, uint64_t>> dynamic;
  for (const std::string& name : spec.needed) dynamic.emplace_back(1, add(name));
  dynamic.emplace_back(14, add(spec.soname));
  dynamic.emplace_back(29, add(spec.runpath));
  const size_t headers = 64 + 56 * (spec.isa ? 3 : 2);
  const auto aligned = [](size_t n) { return (n + 7) / 8 * 8; };
  const size_t at_symbols = aligned(headers), at_hash = at_symbols + symbols.size();
  const size_t at_versions = aligned(at_hash + hash.size()), at_note = at_versions + versions.size();
  const size_t at_strings = at_note + note.size(), at_dynamic = aligned(at_strings + strings.size());
  for (const auto& row : std::vector<std::pair<uint64_t, uint64_t>>{{5, at_strings},
                                                                    {10, strings.size()},
                                                                    {6, at_symbols},
                                                                    {spec.gnu_hash ? 0x6ffffef5 : 4, at_hash},
                                                                    {0x6ffffffe, at_versions},
                                                                    {0x6fffffff, 1},
                                                                    {0, 0}}) {
    dynamic.push_back(row);
  }
  const size_t total = at_dynamic + 16 * dynamic.size();
  Writer w;
  w.text("\177ELF").u8(2).u8(1).u8(1).zeros(9).u16(3).u16(spec.machine).u32(1).u64(0).u64(64).u64(0).u32(0);
  w.u16(64).u16(56).u16(spec.isa ? 3 : 2).u16(64).u16(0).u16(0);
  w.u32(1).u32(5).u64(0).u64(0).u64(0).u64(total).u64(total).u64(4096);
  w.u32(2)
      .u32(6)
      .u64(at_dynamic)
      .u64(at_dynamic)
      .u64(0)
      .u64(16 * dynamic.size())
      .u64(16 * dynamic.size())
      .u64(8);
  if (spec.isa) w.u32(4).u32(4).u64(at_note).u64(at_note).u64(0).u64(note.size()).u64(note.size()).u64(8);
  w.align(8)
      .text(symbols.out)
      .text(hash.out)
      .align(8)
      .text(versions.out)
      .text(note.out)
      .text(strings.out)
      .align(8);
  for (const auto& [tag, value] : dynamic) w.u64(tag).u64(value);
  return w.out;
}

// One architecture of a Mach-O library that needs `dylib` and takes `undefined` from it.
inline std::string macho(uint32_t cpu_type, const std::string& dylib = "@rpath/libx.dylib",
                         const std::string& defined = "_f", const std::string& undefined = "_g") {
  const size_t name_size = (24 + dylib.size() + 1 + 7) / 8 * 8;
  Writer strings;
  strings.zeros(1).text(defined).zeros(1).text(undefined).zeros(1);
  const size_t symbols_at = 32 + name_size + 24;
  Writer w;
  w.u32(0xfeedfacf).u32(cpu_type).u32(0).u32(6).u32(2).u32(name_size + 24).u32(0).u32(0);
  w.u32(0xc).u32(name_size).u32(24).u32(0).u32(0).u32(0).text(dylib).zeros(1).align(8);
  w.u32(2).u32(24).u32(symbols_at).u32(2).u32(symbols_at + 32).u32(strings.size());
  w.u32(1).u8(0x0f).u8(1).u16(0).u64(0x1000);
  w.u32(2 + defined.size()).u8(0x01).u8(0).u16(1 << 8).u64(0);
  return w.text(strings.out).out;
}

// The same with a table of what is undefined and, in place of a search through all symbols, a trie of the
// exports `prefix` + "one" and `prefix` + "two".
inline std::string macho_with_trie(uint32_t cpu_type, const std::string& prefix = "_f") {
  Writer trie;
  const size_t fork = 2 + prefix.size() + 2, one = fork + 2 + 5 + 5, two = one + 4;
  trie.u8(0).u8(1).text(prefix).zeros(1).u8(fork);
  trie.u8(0).u8(2).text("one").zeros(1).u8(one).text("two").zeros(1).u8(two);
  trie.u8(2).u8(0).u8(16).u8(0).u8(2).u8(0).u8(16).u8(0);
  const size_t commands = 24 + 80 + 16, symbols_at = 32 + commands, trie_at = symbols_at + 16 + 4;
  Writer w;
  w.u32(0xfeedfacf).u32(cpu_type).u32(0).u32(6).u32(3).u32(commands).u32(0).u32(0);
  w.u32(2).u32(24).u32(symbols_at).u32(1).u32(symbols_at + 16).u32(4);
  w.u32(0xb).u32(80).zeros(16).u32(0).u32(1).zeros(48);
  w.u32(0x80000033).u32(16).u32(trie_at).u32(trie.size());
  w.u32(1).u8(0x01).u8(0).u16(1 << 8).u64(0).zeros(1).text("_g").zeros(1);
  return w.text(trie.out).out;
}

inline std::string universal(const std::vector<std::pair<uint32_t, std::string>>& slices) {
  std::string head("\xca\xfe\xba\xbe", 4), body;
  const auto big = [&](uint64_t v) {
    for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(v >> shift);
  };
  big(slices.size());
  const size_t start = 8 + 20 * slices.size();
  for (const auto& [cpu_type, slice] : slices) {
    big(cpu_type);
    big(0);
    big(start + body.size());
    big(slice.size());
    big(12);
    body += slice;
  }
  return head + body;
}

// A zip archive of stored members.
inline std::string zip(const std::vector<std::pair<std::string, std::string>>& members) {
  Writer w, directory;
  for (const auto& [name, data] : members) {
    directory.u32(0x02014b50).u16(20).u16(20).u16(0).u16(0).u32(0).u32(0).u32(data.size()).u32(data.size());
    directory.u16(name.size()).u16(0).u16(0).u16(0).u16(0).u32(0).u32(w.size()).text(name);
    w.u32(0x04034b50).u16(20).u16(0).u16(0).u32(0).u32(0).u32(data.size()).u32(data.size());
    w.u16(name.size()).u16(0).text(name).text(data);
  }
  const size_t at = w.size();
  w.text(directory.out).u32(0x06054b50).u16(0).u16(0).u16(members.size()).u16(members.size());
  return w.u32(directory.size()).u32(at).u16(0).out;
}

// An HDF5 file (superblock 0) whose root group has a fixed and a variable text attribute.
inline std::string hdf5(const std::string& fixed = "2.3.1",
                        const std::string& variable = "{\"config\": {}}") {
  const auto padded = [](Writer part) { return part.align(8).out; };
  const auto attribute = [&](const std::string& name, const std::string& type, const std::string& data) {
    const std::string space = Writer().u8(1).u8(0).u8(0).zeros(5).out;
    Writer m;
    m.u8(1).u8(0).u16(name.size() + 1).u16(type.size()).u16(space.size());
    m.text(padded(Writer().text(name).zeros(1)))
        .text(padded(Writer().text(type)))
        .text(space)
        .text(data)
        .align(8);
    return Writer().u16(0x0c).u16(m.size()).u8(0).zeros(3).text(m.out).out;
  };
  const std::string fixed_type = Writer().u8(0x13).zeros(3).u32(fixed.size()).out;
  const std::string variable_type = Writer().u8(0x19).u8(1).zeros(2).u32(16).text(fixed_type).out;
  const size_t header_at = 96, heap_at = 4096;
  const std::string messages =
      attribute("keras_version", fixed_type, fixed) +
      attribute("model_config", variable_type, Writer().u32(variable.size()).u64(heap_at).u32(1).out);
  Writer w;
  w.text("\x89HDF\r\n\x1a\n").u8(0).zeros(4).u8(8).u8(8).zeros(1).u16(4).u16(16).u32(0);
  w.u64(0).u64(~uint64_t{0}).u64(8192).u64(~uint64_t{0}).u64(0).u64(header_at).u32(0).u32(0).zeros(16);
  w.u8(1).u8(0).u16(2).u32(1).u32(messages.size()).u32(0).text(messages);
  w.zeros(heap_at - w.size()).text("GCOL").u8(1).zeros(3).u64(4096);
  w.u16(1).u16(1).u32(0).u64(variable.size()).text(variable).align(8);
  return w.zeros(8192 - w.size()).out;
}

inline std::string ld_cache(const std::string& name = "libx.so.1",
                            const std::string& path = "/usr/lib/libx.so.1") {
  const size_t strings_at = 48 + 24;
  Writer w;
  w.text("glibc-ld.so.cache1.1").u32(1).u32(name.size() + path.size() + 2).zeros(20);
  w.u32(0x303).u32(strings_at).u32(strings_at + name.size() + 1).u32(0).u64(0);
  return w.text(name).zeros(1).text(path).zeros(1).out;
}

}  // namespace plimsoll::doctor::fixtures
