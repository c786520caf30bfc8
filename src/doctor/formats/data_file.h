// What a data file promises in its head or its end, and whether it keeps it: arrays, weights, tables,
// archives, pictures. Nothing is unpacked: a few kilobytes are read, of JSON and text tables all of it.
#pragma once

#include <string>
#include <string_view>

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

struct DataFile {
  std::string kind;     // "a NumPy array (.npy)"; empty: none of those known here
  std::string trouble;  // why it cannot be read: "it is cut off: ..."; empty if nothing speaks against it
  bool damaged = true;  // false: it is as it was meant, but Python's readers want to be told more
  std::string whole = "It has the length that it promises.";  // what can be said of it without trouble
  std::string fix = "Copy or download it again, or write it anew.";
  std::string error = "An exception when it is loaded: BadZipFile, ValueError, OSError or EOFError";
  bool sure = true;  // false: some of Python's readers take it
};

// `name` is the file's name: some kinds are known by its end alone. Throws nothing.
DataFile inspect_data(Bytes file, std::string_view name);

}  // namespace plimsoll::doctor
