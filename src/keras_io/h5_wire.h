// What plimsoll-h5, the process that runs libhdf5 over an untrusted file, writes to its output: one tree,
// records in the order of a walk, numbers in the byte order of the machine. The reader trusts none of it
// (h5_stream.h).
//
//   group      'G' name  {attribute | group | dataset} 'E'      the first group is the root, named ""
//   attribute  'A' name kind:u8 is_array:u8 count:u64 {f64 | text}
//   dataset    'D' name kind:u8 dtype:u8 rank:u8 {dim:u64} place:u8 contents {attribute} 'E'
//   last       'Z', or 'X' text: why the walk ended early
//   name, text: length:u32, bytes
//
// The contents of a dataset: at Place::file an offset:u64 into the file, where its bytes lie as they are; at
// Place::stream the bytes; texts one by one; nothing at Place::none, whose name is followed by a text saying
// why.
#pragma once

#include <cstdint>

namespace plimsoll::keras_io::wire {

enum class Record : uint8_t {
  group = 'G',
  end = 'E',
  attribute = 'A',
  dataset = 'D',
  last = 'Z',
  error = 'X'
};
enum class Kind : uint8_t { number = 'n', text = 't', other = 'o' };
enum class Place : uint8_t { file = 'f', stream = 's', none = '-' };

// More than any model has; the walk ends with an error there.
inline constexpr int kMostDepth = 48;
inline constexpr uint64_t kMostNodes = 1u << 20;
inline constexpr uint64_t kMostName = 1u << 16;
inline constexpr uint64_t kMostText = 256u
                                      << 20;  // of one text, and of all texts and numbers of one attribute
inline constexpr uint64_t kMostTexts = 1u << 20;  // texts or numbers of one attribute or dataset
inline constexpr uint64_t kMostExpansion = 1032;  // what deflate reaches: bytes of data per byte of file
inline constexpr uint64_t kSmallFile = 1u << 16;  // a file counts as at least this large there

}  // namespace plimsoll::keras_io::wire
