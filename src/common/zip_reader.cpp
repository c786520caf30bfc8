#include "common/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "common/little_endian.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr uint32_t kEnd = 0x06054b50, kEnd64Locator = 0x07064b50, kEnd64 = 0x06064b50, kEntry = 0x02014b50,
                   kLocal = 0x04034b50;
constexpr uint64_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56, kEntrySize = 46, kLocalSize = 30;
constexpr uint64_t kMostMembers = 1u << 16, kMostDirectory = 64u << 20;
// One deflated byte stands for 1032 at most.
constexpr uint64_t kMostExpansion = 1032;

[[noreturn]] void bad(const FileSource& file, std::string_view what) {
  fail(ErrorKind::bad_file, file.name(), what);
}

struct Directory {
  uint64_t count = 0, offset = 0, size = 0;
};

Directory find_directory(const FileSource& file) {
  const uint64_t tail = std::min<uint64_t>(file.size(), kEndSize + 0xffff);  // a comment may follow
  const std::string bytes = file.text(file.size() - tail, tail);
  for (uint64_t at = tail < kEndSize ? 0 : tail - kEndSize + 1; at-- > 0;) {
    const LittleEndian end(bytes, file.name());
    if (end.u32(at) != kEnd) continue;
    Directory d{end.u16(at + 10), end.u32(at + 16), end.u32(at + 12)};
    const bool wide = d.count == 0xffff || d.offset == 0xffffffff || d.size == 0xffffffff;
    const uint64_t end_at = file.size() - tail + at;
    if (!wide || end_at < kLocatorSize) return d;
    const std::string locator = file.text(end_at - kLocatorSize, kLocatorSize);
    const LittleEndian l(locator, file.name());
    if (l.u32(0) != kEnd64Locator) return d;
    const std::string wide_end = file.text(l.u64(8), kEnd64Size);
    const LittleEndian w(wide_end, file.name());
    if (w.u32(0) != kEnd64) bad(file, "a zip64 locator that points at nothing");
    return {w.u64(32), w.u64(48), w.u64(40)};
  }
  bad(file, "no directory at its end: not a zip file, or cut off");
}

// What does not fit 32 bits stands in an extra field, in this order.
void read_wide_sizes(const LittleEndian& extra, ZipReader::Member& m) {
  for (uint64_t at = 0; at + 4 <= extra.size(); at += 4 + uint64_t{extra.u16(at + 2)}) {
    if (extra.u16(at) != 1) continue;
    uint64_t field = at + 4;
    for (uint64_t* value : {&m.size, &m.packed, &m.header}) {
      if (*value != 0xffffffff) continue;
      *value = extra.u64(field);
      field += 8;
    }
    return;
  }
}

void check_name(const FileSource& file, const std::string& name) {
  bool good = !name.empty() && name.front() != '/' && name.find('\0') == std::string::npos &&
              name.find('\\') == std::string::npos && name.find(':') == std::string::npos;
  for (size_t from = 0; good && from <= name.size();) {
    const size_t to = std::min(name.find('/', from), name.size());
    good = std::string_view(name).substr(from, to - from) != "..";
    from = to + 1;
  }
  if (!good) bad(file, concat("a member name that is not allowed: '", name, "'"));
}

void check_members(const FileSource& file, std::vector<ZipReader::Member> sorted) {
  std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].name == sorted[i - 1].name) bad(file, concat("two members named '", sorted[i].name, "'"));
  }
  std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.header < b.header; });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const uint64_t end = i + 1 < sorted.size() ? sorted[i + 1].header : file.size();
    const uint64_t room = end - std::min(end, sorted[i].header);
    if (room < kLocalSize || sorted[i].packed > room - kLocalSize) {
      bad(file, concat("member '", sorted[i].name, "' goes into the next, or beyond the end"));
    }
  }
}

}  // namespace

bool ZipReader::looks_like(const FileSource& file) { return file.size() >= 4 && file.text(0, 2) == "PK"; }

ZipReader::ZipReader(FileSource file) : file_(std::move(file)) {
  const Directory directory = find_directory(file_);
  if (directory.count > kMostMembers || directory.size > kMostDirectory) {
    bad(file_, concat("a directory of ", directory.count, " members: more than such a file has"));
  }
  const std::string bytes = file_.text(directory.offset, directory.size);
  const LittleEndian all(bytes, file_.name());
  uint64_t at = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    if (all.u32(at) != kEntry) bad(file_, "a directory entry without its mark");
    const uint64_t name = all.u16(at + 28), extra = all.u16(at + 30), comment = all.u16(at + 32);
    Member m{std::string(all.text(at + kEntrySize, name)),
             all.u16(at + 8),
             all.u16(at + 10),
             all.u32(at + 16),
             all.u32(at + 20),
             all.u32(at + 24),
             all.u32(at + 42)};
    read_wide_sizes(all.sub(at + kEntrySize + name, extra), m);
    check_name(file_, m.name);
    members_.push_back(std::move(m));
    at += kEntrySize + name + extra + comment;
  }
  check_members(file_, members_);
}

const ZipReader::Member* ZipReader::find(std::string_view name) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

void ZipReader::damaged(const Member& member, std::string_view what) const {
  fail(ErrorKind::bad_file, concat(file_.name(), ": ", member.name), what);
}

void ZipReader::check_limit(const Member& m, uint64_t limit) const {
  if (m.flags & 1) damaged(m, "is encrypted; write it without a password");
  if (m.method != 0 && m.method != 8) damaged(m, concat("packed by method ", m.method, ", expected 0 or 8"));
  if (m.size > limit) damaged(m, concat("unpacks to ", m.size, " bytes, more than the ", limit, " allowed"));
  if (m.method == 0 ? m.size != m.packed : m.size / kMostExpansion > m.packed) {
    damaged(m, concat(m.packed, " packed bytes cannot hold ", m.size));
  }
}

FileSource ZipReader::packed_bytes(const Member& m) const {
  const std::string header = file_.text(m.header, kLocalSize);
  const LittleEndian local(header, file_.name());
  if (local.u32(0) != kLocal) damaged(m, "no member where the directory says");
  const uint64_t skip = kLocalSize + local.u16(26) + local.u16(28);
  return file_.part(m.header + skip, m.packed, concat(file_.name(), ": ", m.name));
}

FileSource ZipReader::packed(const Member& member, uint64_t limit) const {
  check_limit(member, limit);
  return packed_bytes(member);
}

// Gives the contents to `sink` block by block; throws unless size and checksum are what the directory says.
template <class Sink>
void ZipReader::unpack(const Member& m, Sink&& sink) const {
  constexpr size_t kBlock = 1u << 18;
  const FileSource packed = packed_bytes(m);
  const auto in = std::make_unique<Bytef[]>(kBlock);
  const auto out = std::make_unique<Bytef[]>(m.method == 8 ? kBlock : 1);
  uint64_t done = 0;
  uLong crc = ::crc32(0, nullptr, 0);
  const auto take = [&](const Bytef* bytes, size_t count) {
    if (count > m.size - done) damaged(m, "holds more than the directory says");
    crc = ::crc32(crc, bytes, static_cast<uInt>(count));
    done += count;
    sink(bytes, count);
  };

  struct Inflater {
    z_stream z{};
    bool ready = ::inflateInit2(&z, -MAX_WBITS) == Z_OK;
    ~Inflater() { ::inflateEnd(&z); }
  } inflater;
  if (!inflater.ready) fail(ErrorKind::out_of_memory, file_.name(), "zlib cannot start");
  z_stream& z = inflater.z;
  int state = m.method == 0 ? Z_STREAM_END : Z_OK;
  for (uint64_t at = 0; at < packed.size();) {
    const size_t count = std::min<uint64_t>(kBlock, packed.size() - at);
    packed.read(at, in.get(), count);
    at += count;
    if (m.method == 0) {
      take(in.get(), count);
      continue;
    }
    z.next_in = in.get();
    z.avail_in = static_cast<uInt>(count);
    do {
      z.next_out = out.get();
      z.avail_out = kBlock;
      state = ::inflate(&z, Z_NO_FLUSH);
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) damaged(m, "cannot be unpacked");
      take(out.get(), kBlock - z.avail_out);
    } while (state == Z_OK && (z.avail_in > 0 || z.avail_out == 0));
    if (state == Z_STREAM_END) break;
  }
  if (state != Z_STREAM_END || done != m.size) damaged(m, "is cut off");
  if (crc != m.crc) damaged(m, "has a wrong checksum");
}

std::string ZipReader::read(const Member& member, uint64_t limit) const {
  check_limit(member, limit);
  std::string bytes;
  bytes.reserve(member.size);
  unpack(member,
         [&](const Bytef* data, size_t count) { bytes.append(reinterpret_cast<const char*>(data), count); });
  return bytes;
}

FileSource ZipReader::open(const Member& member, uint64_t limit) const {
  check_limit(member, limit);
  if (member.method == 0) {
    unpack(member, [](const Bytef*, size_t) {});
    return packed_bytes(member);
  }
  NamelessFile file;
  unpack(member, [&](const Bytef* data, size_t count) { file.append(data, count); });
  return std::move(file).source(concat(file_.name(), ": ", member.name));
}

}  // namespace plimsoll
