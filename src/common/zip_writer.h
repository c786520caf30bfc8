// ZipWriter: an archive of stored members, as Keras writes .keras files, with zip64 where a size needs it.
// Writes at the end of a file that is new; not for several threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/files.h"
#include "common/file_source.h"

namespace plimsoll {

class ZipWriter {
 public:
  explicit ZipWriter(NewFile& file) : file_(file) {}

  // Throw Error{io}. Requires: names differ.
  void add(std::string_view name, std::string_view bytes);
  void add(std::string_view name, const std::vector<std::string_view>& parts);  // one after the other
  void add(std::string_view name, const FileSource& contents);
  // The directory; nothing may be added after it.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc;
    uint64_t size, header;
  };
  void begin(std::string_view name, uint32_t crc, uint64_t size);

  NewFile& file_;
  std::vector<Entry> entries_;
};

}  // namespace plimsoll
