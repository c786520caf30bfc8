// NpyArray: one array in a .npy file or a member of a .npz file, its header read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/zip_reader.h"
#include "data/npy_header.h"
#include "memory/account.h"

namespace plimsoll::data {

class NpyArray {
 public:
  // Throw as read_npy_header.
  static NpyArray open(FileSource file);
  static NpyArray open(std::shared_ptr<const ZipReader> zip, const ZipReader::Member& member);

  const NpyHeader& header() const { return header_; }
  const TensorType& type() const { return header_.type; }
  const std::string& name() const { return file_.name(); }  // "data.npz: x.npy"
  bool compressed() const { return member_ != nullptr && member_->method != 0; }
  int64_t bytes() const { return byte_size(type().dtype, type().shape); }

  // All of it, in C order and the machine's byte order, charged to `owner`.
  Tensor load(Owner owner) const;
  // The elements as they lie in the file. Requires: not compressed().
  FileSource elements() const;
  // The elements in order, as they lie in the file.
  std::unique_ptr<ByteStream> stream() const;

 private:
  NpyArray(FileSource file, std::shared_ptr<const ZipReader> zip, const ZipReader::Member* member);
  std::unique_ptr<ByteStream> whole() const;

  FileSource file_;  // packed, if it is compressed
  std::shared_ptr<const ZipReader> zip_;
  const ZipReader::Member* member_;
  NpyHeader header_;
};

// The archive, and the name of a member as NumPy shows it (without ".npy").
std::shared_ptr<const ZipReader> open_npz(FileSource file);
std::string array_name(const ZipReader::Member& member);
// Throws Error{not_found} with the names that there are.
NpyArray open_array(const std::shared_ptr<const ZipReader>& zip, const std::string& path,
                    const std::string& name);

}  // namespace plimsoll::data
