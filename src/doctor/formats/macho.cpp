// Constants are those of <mach-o/loader.h>, <mach-o/fat.h> and <mach-o/nlist.h>.
#include "doctor/formats/macho.h"

namespace plimsoll::doctor {
namespace {

constexpr uint32_t kMagic32 = 0xfeedface, kMagic64 = 0xfeedfacf, kFat = 0xcafebabe, kFat64 = 0xcafebabf;
constexpr uint32_t kLcSymtab = 2, kLcLoadDylib = 0xc, kLcIdDylib = 0xd, kLcLoadWeakDylib = 0x80000018,
                   kLcRpath = 0x8000001c, kLcReexportDylib = 0x8000001f, kLcDysymtab = 0xb,
                   kLcDyldInfo = 0x22, kLcDyldInfoOnly = 0x80000022, kLcExportsTrie = 0x80000033;
// A Java class file has the magic of a fat file and a version of 45 or more where the count is.
constexpr uint32_t kMostSlices = 20;

}  // namespace

bool MachO::looks_like(Bytes file) {
  if (file.size() < 8) return false;
  const uint32_t little = file.with_endian(false).u32(0), big = file.with_endian(true).u32(0);
  if (little == kMagic32 || little == kMagic64 || big == kMagic32 || big == kMagic64) return true;
  return (big == kFat || big == kFat64) && file.with_endian(true).u32(4) <= kMostSlices;
}

std::vector<MachO> MachO::slices(Bytes file) {
  if (!looks_like(file)) fail(ErrorKind::bad_file, "mach-o", "expected a Mach-O file");
  const Bytes big = file.with_endian(true);
  const uint32_t magic = big.u32(0);
  std::vector<MachO> result;
  if (magic != kFat && magic != kFat64) {
    result.push_back(MachO(file));
    return result;
  }
  const bool wide = magic == kFat64;
  for (uint32_t i = 0; i < big.u32(4); ++i) {
    const Bytes arch = big.sub(8 + uint64_t{i} * (wide ? 32 : 20), wide ? 32 : 20);
    const uint64_t offset = wide ? arch.u64(8) : arch.u32(8), size = wide ? arch.u64(16) : arch.u32(12);
    result.push_back(MachO(file.sub(offset, size)));
  }
  return result;
}

MachO::MachO(Bytes slice) {
  const uint32_t little = slice.with_endian(false).u32(0);
  const bool big = little != kMagic32 && little != kMagic64;
  slice_ = slice.with_endian(big);
  if (slice_.u32(0) != kMagic32 && slice_.u32(0) != kMagic64) {
    fail(ErrorKind::bad_file, "mach-o", "a slice without a Mach-O header");
  }
  is_64_ = slice_.u32(0) == kMagic64;
  cpu_type_ = slice_.u32(4);
  const uint32_t count = slice_.u32(16), total = slice_.u32(20);
  Bytes commands = slice_.sub(is_64_ ? 32 : 28, total);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t kind = commands.u32(0), size = commands.u32(4);
    if (size < 8) fail(ErrorKind::bad_file, "mach-o", "a load command of ", size, " bytes");
    read_command(kind, commands.sub(0, size));
    commands = commands.from(size);
  }
}

void MachO::read_command(uint32_t kind, Bytes command) {
  switch (kind) {
    case kLcLoadDylib:
    case kLcLoadWeakDylib:
    case kLcReexportDylib:
      dylibs_.push_back(
          {command.c_string(command.u32(8)), kind == kLcLoadWeakDylib, kind == kLcReexportDylib});
      break;
    case kLcIdDylib: id_ = command.c_string(command.u32(8)); break;
    case kLcRpath: rpaths_.push_back(command.c_string(command.u32(8))); break;
    case kLcSymtab:
      symbols_ = slice_.sub(command.u32(8), uint64_t{command.u32(12)} * (is_64_ ? 16 : 12));
      strings_ = slice_.sub(command.u32(16), command.u32(20));
      break;
    case kLcDysymtab:
      undefined_first_ = command.u32(24);
      undefined_count_ = command.u32(28);
      has_ranges_ = true;
      break;
    case kLcDyldInfo:
    case kLcDyldInfoOnly: exports_ = slice_.sub(command.u32(40), command.u32(44)); break;
    case kLcExportsTrie: exports_ = slice_.sub(command.u32(8), command.u32(12)); break;
    default: break;
  }
}

namespace {

uint64_t uleb128(Bytes bytes, uint64_t& at) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = bytes.u8(at++);
    value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail(ErrorKind::bad_file, "mach-o", "a number without an end");
}

}  // namespace

// A node: the size of what is said of a symbol that ends here, that, the number of children, and of each
// child the characters on the way to it and its place.
bool MachO::exports(std::string_view name) const {
  uint64_t at = 0;
  const size_t most = name.size() + 1;  // each step takes a character of it
  for (size_t steps = 0; steps <= most; ++steps) {
    const uint64_t terminal = uleb128(exports_, at);
    if (name.empty()) return terminal > 0;
    at += terminal;
    const uint8_t children = exports_.u8(at++);
    bool found = false;
    for (uint8_t i = 0; i < children && !found; ++i) {
      const std::string_view edge = exports_.c_string(at);
      at += edge.size() + 1;
      const uint64_t place = uleb128(exports_, at);
      if (!name.starts_with(edge)) continue;
      name.remove_prefix(edge.size());
      at = place;
      found = true;
    }
    if (!found) return false;
  }
  return false;  // a garbled trie, with edges that lead nowhere
}

template <class F>
void MachO::for_each_external(uint64_t first, uint64_t count, const F& f) const {
  const uint64_t entry = is_64_ ? 16 : 12, all = symbols_.size() / entry;
  for (uint64_t i = first; i < all && i - first < count; ++i) {
    const uint64_t at = i * entry;
    const uint8_t type = symbols_.u8(at + 4);
    if ((type & 0xe0) != 0 || (type & 1) == 0) continue;  // debug entries and private symbols
    f(at, type & 0x0e);
  }
}

void MachO::for_each_undefined(const std::function<void(std::string_view, bool, unsigned)>& f) const {
  const auto each = [&](uint64_t at, int type) {
    const uint16_t description = symbols_.u16(at + 6);
    if (type == 0) f(strings_.c_string(symbols_.u32(at)), (description & 0x40) != 0, description >> 8);
  };
  if (has_ranges_)
    for_each_external(undefined_first_, undefined_count_, each);
  else
    for_each_external(0, UINT64_MAX, each);
}

void MachO::for_each_defined(const std::function<void(std::string_view)>& f) const {
  for_each_external(0, UINT64_MAX, [&](uint64_t at, int type) {
    if (type != 0) f(strings_.c_string(symbols_.u32(at)));
  });
}

std::string MachO::cpu_name() const {
  switch (cpu_type_) {
    case 7: return "i386";
    case 12: return "arm";
    case 18: return "ppc";
    case 0x01000007: return "x86_64";
    case 0x0100000c: return "arm64";
    case 0x01000012: return "ppc64";
    default: return concat("cpu type ", cpu_type_);
  }
}

}  // namespace plimsoll::doctor
