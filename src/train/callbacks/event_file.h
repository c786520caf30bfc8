// EventFile: what TensorBoard reads: records (length, data, each with a checksum) that hold Event messages of
// tensorflow/core/util/event.proto, written out by hand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace plimsoll {

// CRC-32C (Castagnoli), as the records have it before it is masked.
uint32_t crc32c(std::string_view bytes);

class EventFile {
 public:
  // In `folder`, which is made. Throws Error{io} if it cannot be written, there and in each write.
  explicit EventFile(const std::filesystem::path& folder);
  void scalar(std::string_view tag, double value, int64_t step);
  // The JSON of a model, for the tab "Graphs".
  void keras_model(std::string_view json);

 private:
  void summary(std::string_view tag, const std::string& metadata, const std::string& tensor, int64_t step);
  void record(const std::string& event);
  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace plimsoll
