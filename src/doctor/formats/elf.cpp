// Constants are those of the System V ABI and the GNU extensions (<elf.h>, which other systems lack).
#include "doctor/formats/elf.h"

#include <algorithm>

namespace plimsoll::doctor {
namespace {

constexpr uint32_t kPtLoad = 1, kPtDynamic = 2, kPtInterp = 3, kPtNote = 4, kPtGnuProperty = 0x6474e553;
constexpr uint32_t kShtDynsym = 11, kExecutable = 1;
constexpr uint64_t kDtNeeded = 1, kDtHash = 4, kDtStrtab = 5, kDtSymtab = 6, kDtStrsz = 10, kDtSoname = 14,
                   kDtRpath = 15, kDtRunpath = 29, kDtGnuHash = 0x6ffffef5, kDtVerdef = 0x6ffffffc,
                   kDtVerdefnum = 0x6ffffffd, kDtVerneed = 0x6ffffffe, kDtVerneednum = 0x6fffffff;
constexpr uint32_t kNtGnuProperty = 5, kX86IsaNeeded = 0xc0008002;
// No real library comes near; a file that claims more is broken or hostile.
constexpr uint64_t kMostSymbols = 1u << 26, kMostVersions = 1u << 16, kMostSections = 1u << 16;

uint64_t align_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

}  // namespace

Elf::Elf(Bytes file) {
  if (!looks_like(file)) fail(ErrorKind::bad_file, "elf", "expected an ELF file");
  const uint8_t word_class = file.u8(4), order = file.u8(5);
  if (word_class != 1 && word_class != 2) fail(ErrorKind::bad_file, "elf", "unknown class ", int{word_class});
  if (order != 1 && order != 2) fail(ErrorKind::bad_file, "elf", "unknown byte order ", int{order});
  is_64_ = word_class == 2;
  file_ = file.with_endian(order == 2);
  machine_ = file_.u16(18);
  read_segments();
}

void Elf::read_segments() {
  const uint64_t table = word(file_, is_64_ ? 32 : 28);
  const uint64_t entry = file_.u16(is_64_ ? 54 : 42), count = file_.u16(is_64_ ? 56 : 44);
  if (count == 0) return;
  if (entry < (is_64_ ? 56u : 32u)) fail(ErrorKind::bad_file, "elf", "program headers of ", entry, " bytes");
  const Bytes headers = file_.from(table);
  std::vector<std::pair<uint64_t, uint64_t>> dynamic;
  for (uint64_t i = 0; i < count; ++i) {
    const Bytes h = headers.sub(i * entry, entry);
    const uint32_t type = h.u32(0);
    const uint64_t offset = word(h, is_64_ ? 8 : 4), address = word(h, is_64_ ? 16 : 8);
    const uint64_t size = word(h, is_64_ ? 32 : 16), alignment = word(h, is_64_ ? 48 : 28);
    const bool code = (h.u32(is_64_ ? 4 : 24) & kExecutable) != 0;
    if (type == kPtLoad) segments_.push_back({address, offset, size, code});
    if (type == kPtLoad && alignment > 1) aligned_ &= (address - offset) % alignment == 0;
    if (type == kPtDynamic) dynamic.emplace_back(offset, size);
    if (type == kPtInterp) interpreter_ = file_.sub(offset, size).c_string(0);
    if (type == kPtNote || type == kPtGnuProperty) read_notes(file_.sub(offset, size), alignment);
  }
  for (const auto& [offset, size] : dynamic) read_dynamic(file_.sub(offset, size));
}

Bytes Elf::at_address(uint64_t address) const {
  for (const Segment& s : segments_) {
    if (address >= s.address && address - s.address < s.size) {
      const uint64_t skip = address - s.address;
      return file_.from(s.offset).from(skip);
    }
  }
  fail(ErrorKind::bad_file, "elf", "address ", address, " lies in no segment");
}

void Elf::read_dynamic(Bytes dynamic) {
  has_dynamic_ = true;
  uint64_t strings = 0, strings_size = 0, symbols = 0, hash_table = 0, gnu = 0;
  uint64_t verneed = 0, verneed_count = 0, verdef = 0, verdef_count = 0, soname = 0, rpath = 0, runpath = 0;
  std::vector<uint64_t> needed;
  for (uint64_t at = 0; dynamic.has(at, 2 * word_size()); at += 2 * word_size()) {
    const uint64_t tag = word(dynamic, at), value = word(dynamic, at + word_size());
    if (tag == 0) break;
    switch (tag) {
      case kDtNeeded: needed.push_back(value); break;
      case kDtHash: hash_table = value; break;
      case kDtStrtab: strings = value; break;
      case kDtStrsz: strings_size = value; break;
      case kDtSymtab: symbols = value; break;
      case kDtSoname: soname = value; break;
      case kDtRpath: rpath = value; break;
      case kDtRunpath: runpath = value; break;
      case kDtGnuHash: gnu = value; break;
      case kDtVerneed: verneed = value; break;
      case kDtVerneednum: verneed_count = value; break;
      case kDtVerdef: verdef = value; break;
      case kDtVerdefnum: verdef_count = value; break;
      default: break;
    }
  }
  if (strings == 0) return;
  strings_ = at_address(strings).sub(0, strings_size);
  for (const uint64_t n : needed) needed_.push_back(strings_.c_string(n));
  if (soname) soname_ = strings_.c_string(soname);
  if (rpath) rpath_ = strings_.c_string(rpath);
  if (runpath) runpath_ = strings_.c_string(runpath);
  if (symbols) symbols_ = at_address(symbols);
  if (gnu) gnu_hash_ = at_address(gnu);
  if (symbols) find_symbol_count(hash_table);
  if (verneed) read_version_needs(verneed, verneed_count);
  if (verdef) read_version_definitions(verdef, verdef_count);
}

void Elf::read_version_needs(uint64_t address, uint64_t count) {
  Bytes entry = at_address(address);
  for (uint64_t i = 0; i < std::min(count, kMostVersions); ++i) {
    const std::string_view file = strings_.c_string(entry.u32(4));
    const uint16_t versions = entry.u16(2);
    Bytes version = entry.from(entry.u32(8));
    for (uint16_t v = 0; v < versions && version_needs_.size() < kMostVersions; ++v) {
      version_needs_.push_back({file, strings_.c_string(version.u32(8)), (version.u16(4) & 2) != 0});
      if (version.u32(12) == 0) break;
      version = version.from(version.u32(12));
    }
    if (entry.u32(12) == 0) break;
    entry = entry.from(entry.u32(12));
  }
}

void Elf::read_version_definitions(uint64_t address, uint64_t count) {
  Bytes entry = at_address(address);
  for (uint64_t i = 0; i < std::min(count, kMostVersions); ++i) {
    if (entry.u16(6) > 0) version_definitions_.push_back(strings_.c_string(entry.from(entry.u32(12)).u32(0)));
    if (entry.u32(16) == 0) break;
    entry = entry.from(entry.u32(16));
  }
}

void Elf::read_notes(Bytes notes, uint64_t alignment) {
  const uint64_t step = alignment == 8 ? 8 : 4;
  for (uint64_t at = 0; notes.has(at, 12);) {
    const uint32_t name_size = notes.u32(at), size = notes.u32(at + 4), type = notes.u32(at + 8);
    const uint64_t name_at = at + 12, data_at = align_up(name_at + name_size, step);
    if (!notes.has(data_at, size)) return;
    if (type == kNtGnuProperty && name_size == 4 && notes.text(name_at, 3) == "GNU") {
      const Bytes properties = notes.sub(data_at, size);
      for (uint64_t p = 0; properties.has(p, 8);) {
        const uint32_t kind = properties.u32(p), length = properties.u32(p + 4);
        if (kind == kX86IsaNeeded && properties.has(p + 8, 4)) {
          const uint32_t bits = properties.u32(p + 8);
          for (int level = 1; level <= 4; ++level) {
            if (bits & (1u << (level - 1))) x86_level_ = level;
          }
        }
        p = align_up(p + 8 + length, word_size());
      }
    }
    at = align_up(data_at + size, step);
  }
}

// The count is in no one place: the section headers say it (unless stripped), else the old hash
// table, else the longest chain of the GNU one.
void Elf::find_symbol_count(uint64_t hash_address) {
  for (const Section& s : sections()) {
    if (s.type == kShtDynsym && s.entry_size == symbol_size()) symbol_count_ = s.size / symbol_size();
  }
  if (symbol_count_ == 0 && hash_address) symbol_count_ = at_address(hash_address).u32(4);
  if (symbol_count_ == 0 && !gnu_hash_.empty()) {
    const uint64_t buckets = gnu_hash_.u32(0), first = gnu_hash_.u32(4), bloom = gnu_hash_.u32(8);
    const Bytes bucket = gnu_hash_.from(16 + bloom * word_size());
    uint64_t last = 0;
    for (uint64_t b = 0; b < buckets; ++b) last = std::max<uint64_t>(last, bucket.u32(4 * b));
    symbol_count_ = first;
    if (last >= first && last != 0) {
      const Bytes chain = bucket.from(4 * buckets);
      while ((chain.u32(4 * (last - first)) & 1) == 0) ++last;
      symbol_count_ = last + 1;
    }
  }
  if (symbol_count_ > kMostSymbols || !symbols_.has(0, symbol_count_ * symbol_size())) {
    fail(ErrorKind::bad_file, "elf", symbol_count_, " symbols do not fit into the file");
  }
}

std::vector<Elf::Section> Elf::sections() const {
  const uint64_t table = word(file_, is_64_ ? 40 : 32);
  const uint64_t entry = file_.u16(is_64_ ? 58 : 46), count = file_.u16(is_64_ ? 60 : 48);
  std::vector<Section> result;
  if (table == 0 || entry < (is_64_ ? 64u : 40u) ||
      !file_.has(table, entry * std::min(count, kMostSections))) {
    return result;
  }
  for (uint64_t i = 0; i < count; ++i) {
    const Bytes h = file_.sub(table + i * entry, entry);
    result.push_back({h.u32(0), h.u32(4), word(h, is_64_ ? 24 : 16), word(h, is_64_ ? 32 : 20),
                      word(h, is_64_ ? 56 : 36)});
  }
  return result;
}

std::vector<std::pair<uint64_t, uint64_t>> Elf::code() const {
  std::vector<std::pair<uint64_t, uint64_t>> all;
  for (const Segment& s : segments_) {
    if (s.code) all.emplace_back(s.offset, s.size);
  }
  return all;
}

bool Elf::complete() const {
  for (const Segment& s : segments_) {
    if (!file_.has(s.offset, s.size)) return false;
  }
  const uint64_t table = word(file_, is_64_ ? 40 : 32);
  const uint64_t entry = file_.u16(is_64_ ? 58 : 46), count = file_.u16(is_64_ ? 60 : 48);
  return file_.has(table, entry * count);
}

Bytes Elf::read_only_data() const {
  const std::vector<Section> all = sections();
  const uint16_t names = file_.u16(is_64_ ? 62 : 50);
  if (names >= all.size() || !file_.has(all[names].offset, all[names].size)) return {};
  const Bytes strings = file_.sub(all[names].offset, all[names].size);
  for (const Section& s : all) {
    if (strings.has(s.name, 8) && strings.text(s.name, 8) == std::string_view(".rodata\0", 8) &&
        file_.has(s.offset, s.size)) {
      return file_.sub(s.offset, s.size);
    }
  }
  return {};
}

Elf::Symbol Elf::symbol(uint64_t index) const {
  const Bytes s = symbols_.sub(index * symbol_size(), symbol_size());
  const uint8_t info = s.u8(is_64_ ? 4 : 12);
  const uint16_t section = s.u16(is_64_ ? 6 : 14);
  return {strings_.c_string(s.u32(0)), section != 0, (info >> 4) == 2, (info >> 4) == 0};
}

void Elf::for_each_undefined(const std::function<void(std::string_view, bool)>& f) const {
  for (uint64_t i = 1; i < symbol_count_; ++i) {
    const Bytes s = symbols_.sub(i * symbol_size(), symbol_size());
    if (s.u16(is_64_ ? 6 : 14) != 0) continue;
    const Symbol found = symbol(i);
    if (!found.local && !found.name.empty()) f(found.name, found.weak);
  }
}

void Elf::for_each_defined(const std::function<void(std::string_view)>& f) const {
  for (uint64_t i = 1; i < symbol_count_; ++i) {
    const Symbol found = symbol(i);
    if (found.defined && !found.local) f(found.name);
  }
}

bool Elf::defines(std::string_view name, uint32_t gnu_hash) const {
  if (gnu_hash_.empty()) {
    for (uint64_t i = 1; i < symbol_count_; ++i) {
      const Symbol found = symbol(i);
      if (found.defined && !found.local && found.name == name) return true;
    }
    return false;
  }
  const uint64_t buckets = gnu_hash_.u32(0), first = gnu_hash_.u32(4), blooms = gnu_hash_.u32(8);
  const uint32_t shift = gnu_hash_.u32(12);
  if (buckets == 0 || blooms == 0) return false;
  const uint64_t bits = 8 * word_size();
  const uint64_t bloom = word(gnu_hash_, 16 + (gnu_hash / bits) % blooms * word_size());
  const uint64_t second = shift < 32 ? gnu_hash >> shift : 0;
  if (!((bloom >> (gnu_hash % bits)) & (bloom >> (second % bits)) & 1)) return false;
  const uint64_t bucket_at = 16 + blooms * word_size(), chain_at = bucket_at + 4 * buckets;
  uint64_t index = gnu_hash_.u32(bucket_at + 4 * (gnu_hash % buckets));
  if (index < first || index == 0) return false;
  for (; index < symbol_count_; ++index) {
    const uint32_t link = gnu_hash_.u32(chain_at + 4 * (index - first));
    if ((link | 1) == (gnu_hash | 1)) {
      const Symbol found = symbol(index);
      if (found.name == name && found.defined) return true;
    }
    if (link & 1) return false;
  }
  return false;
}

uint32_t Elf::hash(std::string_view name) {
  uint32_t h = 5381;
  for (const char c : name) h = h * 33 + static_cast<unsigned char>(c);
  return h;
}

std::string elf_machine_name(uint16_t machine, bool is_64) {
  switch (machine) {
    case 3: return "x86 (32 bit)";
    case 8: return "MIPS";
    case 20: return "PowerPC";
    case 21: return "ppc64";
    case 22: return "s390x";
    case 40: return "ARM (32 bit)";
    case 62: return is_64 ? "x86-64" : "x32";
    case 183: return "AArch64";
    case 243: return is_64 ? "RISC-V (64 bit)" : "RISC-V (32 bit)";
    case 258: return "LoongArch";
    default: return concat("machine ", machine);
  }
}

}  // namespace plimsoll::doctor
