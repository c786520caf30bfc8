#include "doctor/formats/zip.h"

#include <zlib.h>

#include <algorithm>

namespace plimsoll::doctor {
namespace {

constexpr uint32_t kEnd = 0x06054b50, kEnd64Locator = 0x07064b50, kEnd64 = 0x06064b50, kEntry = 0x02014b50,
                   kLocal = 0x04034b50;
constexpr uint64_t kEndSize = 22, kMostMembers = 1u << 20;

// The end record is last but for a comment of up to 64 KiB.
uint64_t find_end(Bytes file) {
  if (file.size() >= kEndSize) {
    const uint64_t last = file.size() - kEndSize, first = last > 0xffff ? last - 0xffff : 0;
    for (uint64_t at = last + 1; at-- > first;) {
      if (file.u32(at) == kEnd) return at;
    }
  }
  fail(ErrorKind::bad_file, "zip", "no directory at the end: not a zip file, or cut off");
}

// Sizes that do not fit into 32 bits stand in an extra field, in this order.
void read_wide(Bytes extra, Zip::Member& m) {
  while (extra.size() >= 4) {
    const uint16_t id = extra.u16(0), size = extra.u16(2);
    if (id == 1) {
      const Bytes field = extra.sub(4, size);
      uint64_t at = 0;
      for (uint64_t* value : {&m.size, &m.packed, &m.header}) {
        if (*value != 0xffffffff) continue;
        *value = field.u64(at);
        at += 8;
      }
      return;
    }
    extra = extra.from(4 + uint64_t{size});
  }
}

std::string inflate_raw(Bytes packed, uint64_t size) {
  std::string out(size, '\0');
  z_stream z{};
  if (packed.size() > UINT32_MAX || inflateInit2(&z, -MAX_WBITS) != Z_OK) {
    fail(ErrorKind::bad_file, "zip", "cannot unpack ", packed.size(), " bytes");
  }
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.text().data()));
  z.avail_in = static_cast<uInt>(packed.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(size);
  const int result = inflate(&z, Z_FINISH);
  const bool whole = result == Z_STREAM_END && z.total_out == size;
  inflateEnd(&z);
  if (!whole) fail(ErrorKind::bad_file, "zip", "a member is damaged");
  return out;
}

}  // namespace

Zip::Zip(Bytes file) : file_(file) {
  const uint64_t end = find_end(file);
  uint64_t count = file.u16(end + 10), at = file.u32(end + 16);
  if ((count == 0xffff || at == 0xffffffff) && end >= 20 && file.u32(end - 20) == kEnd64Locator) {
    const Bytes wide = file.from(file.u64(end - 12));
    if (wide.u32(0) != kEnd64) fail(ErrorKind::bad_file, "zip", "a locator that locates nothing");
    count = wide.u64(32);
    at = wide.u64(48);
  }
  if (count > kMostMembers) fail(ErrorKind::bad_file, "zip", count, " members");
  for (uint64_t i = 0; i < count; ++i) {
    const Bytes entry = file.from(at);
    if (entry.u32(0) != kEntry) fail(ErrorKind::bad_file, "zip", "a directory entry without its mark");
    const uint64_t name = entry.u16(28), extra = entry.u16(30), comment = entry.u16(32);
    Member m{entry.text(46, name), entry.u16(10), entry.u32(20), entry.u32(24), entry.u32(42)};
    read_wide(entry.sub(46 + name, extra), m);
    members_.push_back(m);
    at += 46 + name + extra + comment;
  }
}

std::optional<std::string> Zip::read(std::string_view name, size_t limit) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.name == name; });
  if (found == members_.end()) return std::nullopt;
  if (found->size > limit || found->size > UINT32_MAX) {
    fail(ErrorKind::bad_file, "zip", std::string(name), " is ", found->size, " bytes, more than ", limit);
  }
  const Bytes local = file_.from(found->header);
  if (local.u32(0) != kLocal) fail(ErrorKind::bad_file, "zip", "a member without its mark");
  const Bytes packed = local.sub(30 + uint64_t{local.u16(26)} + local.u16(28), found->packed);
  if (found->method == 0) return std::string(packed.text().substr(0, found->size));
  if (found->method != 8) fail(ErrorKind::bad_file, "zip", "method ", found->method, " is not known");
  return inflate_raw(packed, found->size);
}

}  // namespace plimsoll::doctor
