// A checkpoint: all that the rest of a training run depends on, in one file that is written atomically and
// checked when read. The layout is little-endian: "PLMCKPT1", the number of records, records (name, dtype,
// shape, bytes), CRC-32 of all before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plimsoll/layer.h"

namespace plimsoll {

struct NamedTensor {
  std::string name;
  Tensor value;
};

// Throws Error{io}.
void write_checkpoint(const std::filesystem::path& path, const std::vector<NamedTensor>& records);
// Throws Error{bad_file} with the place if the file is damaged, {not_found} if there is none.
std::vector<NamedTensor> read_checkpoint(const std::filesystem::path& path);

}  // namespace plimsoll
