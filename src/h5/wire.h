// What is said to and by plimsoll-h5, the program that runs libhdf5. Numbers are in the byte order of the
// machine; a name or a text is its length:u32 and its bytes. The program's words are trusted by nobody: a
// file may have taken libhdf5 over.
//
// `plimsoll-h5 tree OFFSET SIZE`, the file on descriptor 0, writes one tree, records in the order of a walk:
//
//   group      'G' name  {attribute | group | dataset} 'E'      the first group is the root, named ""
//   attribute  'A' name kind:u8 is_array:u8 count:u64 {f64 | text}
//   dataset    'D' name kind:u8 dtype:u8 rank:u8 {dim:u64} place:u8 contents {attribute} 'E'
//   last       'Z', or 'X' text: why the walk ended early
//
// The contents of a dataset: at Place::file an offset:u64 into the file, where its bytes lie as they are; at
// Place::stream the bytes; texts one by one; nothing at Place::none, whose name is followed by a text saying
// why.
//
// `plimsoll-h5 write PATH` takes commands on descriptor 1. It answers to a dataset and to the end:
// ok, or the text of the first thing that went wrong.
//
//   'G' path | 'T' at name text | 'I' at name i64 | 'S' at name width:u32 count:u32 {texts of that width} |
//   'Z' 'D' path dtype:u8 rank:u8 {dim:u64}      ok: offset:u64, where the caller writes the bytes himself,
//   or kNowhere
//
// `plimsoll-h5 rows`, the file on descriptor 0, takes commands on descriptor 1, and answers to each:
//
//   'O' name                       ok: dtype:u8 rank:u8 {dim:u64} cache:u64 place:u8 [offset:u64]
//   'R' dataset:u32 first:u64 count:u64      ok: rows:u64 and their bytes, again until all are there
//
// An answer begins with an Answer:u8; what is not ok is followed by a text.
#pragma once

#include <cstdint>

namespace plimsoll::h5::wire {

enum class Record : uint8_t {
  group = 'G',
  end = 'E',
  attribute = 'A',
  dataset = 'D',
  last = 'Z',
  error = 'X',
  text = 'T',
  integer = 'I',
  texts = 'S',
  open = 'O',
  rows = 'R'
};
enum class Kind : uint8_t { number = 'n', text = 't', other = 'o' };
enum class Answer : uint8_t { ok = 'k', bad = 'b', unsupported = 'u' };
enum class Place : uint8_t { file = 'f', stream = 's', none = '-' };

inline constexpr uint64_t kNowhere = ~uint64_t{0};

// More than any model has; the walk ends with an error there.
inline constexpr int kMostDepth = 48;
inline constexpr uint64_t kMostNodes = 1u << 20;
inline constexpr uint64_t kMostName = 1u << 16;
inline constexpr uint64_t kMostText = 256u
                                      << 20;  // of one text, and of all texts and numbers of one attribute
inline constexpr uint64_t kMostTexts = 1u << 20;  // texts or numbers of one attribute or dataset
inline constexpr uint64_t kMostExpansion = 1032;  // what deflate reaches: bytes of data per byte of file
inline constexpr uint64_t kSmallFile = 1u << 16;  // a file counts as at least this large there

}  // namespace plimsoll::h5::wire
