// ByteStream: bytes in order, of a part of a file or of a compressed member of a zip archive. Used by one
// thread at a time; takes a fixed amount of memory.
#pragma once

#include <cstdint>
#include <memory>

#include "common/zip_reader.h"

namespace plimsoll::data {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Exactly `count` bytes. Throws Error{bad_file} naming file and place if they are not there.
  virtual void read(void* into, uint64_t count) = 0;
  // Bytes that there are in all.
  virtual uint64_t size() const = 0;
};

std::unique_ptr<ByteStream> open_stream(const FileSource& file);
// The contents of a member. When the last byte has been read the checksum is compared.
std::unique_ptr<ByteStream> open_stream(const ZipReader& zip, const ZipReader::Member& member);

}  // namespace plimsoll::data
