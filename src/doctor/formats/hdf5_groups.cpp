// Follows the "HDF5 File Format Specification Version 3.0".
#include "doctor/formats/hdf5_groups.h"

#include <set>

namespace plimsoll::doctor {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr uint64_t kNowhere = ~uint64_t{0};
constexpr size_t kMostBlocks = 20000;
constexpr unsigned kDeepest = 64;
constexpr uint16_t kContinuation = 0x10, kSymbolTable = 0x11;

class Groups {
 public:
  explicit Groups(Bytes file) : file_(file) {}

  void run() {
    // One entry of a group's table, the root's own: name, header, kind, and in kind 1 its tree and heap.
    if (file_.u8(8) <= 1 && file_.u8(13) == 8 && file_.u8(14) == 8) object(file_.u8(8) == 0 ? 56 : 60, 0);
  }

 private:
  void expect(uint64_t at, std::string_view signature, const char* what) {
    if (file_.text(at, signature.size()) != signature)
      fail(ErrorKind::bad_file, "hdf5", "expected ", what, " at byte ", at,
           file_.u32(at) == 0 ? ", got zeros: a part of the file was lost" : ", got something else");
  }
  bool is_new(uint64_t at) { return seen_.size() < kMostBlocks && seen_.insert(at).second; }

  void object(uint64_t entry, unsigned depth) {
    const uint64_t header = file_.u64(entry + 8);
    if (header == kNowhere || depth > kDeepest || !is_new(header)) return;
    if (file_.text(header, 4) == "OHDR") return;  // of a newer form
    if (file_.u8(header) != 1)
      fail(ErrorKind::bad_file, "hdf5", "expected the header of an object at byte ", header,
           file_.u64(header) == 0 ? ", got zeros: a part of the file was lost" : ", got something else");
    messages(header + 16, file_.u32(header + 8), depth);
  }

  void messages(uint64_t begin, uint64_t size, unsigned depth) {
    if (!file_.has(begin, size))
      fail(ErrorKind::bad_file, "hdf5", "expected ", size, " bytes at byte ", begin,
           ", got the end of the file");
    for (uint64_t at = begin; at + 8 <= begin + size;) {
      const uint16_t kind = file_.u16(at), length = file_.u16(at + 2);
      if (kind == kContinuation && is_new(file_.u64(at + 8))) {
        messages(file_.u64(at + 8), file_.u64(at + 16), depth);
      } else if (kind == kSymbolTable) {
        expect(file_.u64(at + 16), "HEAP", "the names of a group");
        tree(file_.u64(at + 8), depth);
      }
      at += 8 + uint64_t{length};
    }
  }

  void tree(uint64_t node, unsigned depth) {
    if (node == kNowhere || depth > kDeepest || !is_new(node)) return;
    expect(node, "TREE", "the tree of a group");
    const uint8_t level = file_.u8(node + 5);
    const uint16_t count = file_.u16(node + 6);
    for (uint16_t i = 0; i < count; ++i) {
      const uint64_t child = file_.u64(node + 32 + 16 * uint64_t{i});
      if (level > 0)
        tree(child, depth + 1);
      else
        leaf(child, depth + 1);
    }
  }

  void leaf(uint64_t node, unsigned depth) {
    expect(node, "SNOD", "the table of a group");
    const uint16_t count = file_.u16(node + 6);
    for (uint16_t i = 0; i < count; ++i) object(node + 8 + 40 * uint64_t{i}, depth);
  }

  Bytes file_;
  std::set<uint64_t> seen_;
};

}  // namespace

void check_hdf5_groups(Bytes file) {
  // Addresses count from the signature, which a block of the user's own may precede.
  for (uint64_t at = 0; file.has(at, 96); at = at == 0 ? 512 : at * 2) {
    if (file.text(at, kSignature.size()) == kSignature) return Groups(file.from(at)).run();
  }
}

}  // namespace plimsoll::doctor
