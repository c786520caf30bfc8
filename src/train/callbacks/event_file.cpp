#include "train/callbacks/event_file.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0x82F63B78U ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}

uint32_t masked(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U; }

template <class T>
std::string little(T value) {
  std::string out(sizeof(T), '\0');
  for (size_t i = 0; i < sizeof(T); ++i) out[i] = static_cast<char>(value >> (8 * i));
  return out;
}

// Protocol buffers: a field is its number and kind, then its value.
std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string number_field(uint32_t field, uint64_t value) { return varint(field << 3) + varint(value); }
std::string bytes_field(uint32_t field, std::string_view bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}
std::string double_field(uint32_t field, double value) {
  return varint(field << 3 | 1) + little(std::bit_cast<uint64_t>(value));
}

// tensorflow.SummaryMetadata of a plug-in.
std::string plugin(std::string_view name, std::string_view content) {
  return bytes_field(1, bytes_field(1, name) + (content.empty() ? "" : bytes_field(2, content)));
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> table = crc_table();
  uint32_t c = ~0U;
  for (const char b : bytes) c = table[(c ^ static_cast<uint8_t>(b)) & 0xFF] ^ (c >> 8);
  return ~c;
}

EventFile::EventFile(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  static int count = 0;
  path_ = folder / concat("events.out.tfevents.", static_cast<int64_t>(now()), ".", host, ".", ::getpid(),
                          ".", count++, ".v2");
  file_.open(path_, std::ios::binary | std::ios::trunc);
  record(double_field(1, now()) + bytes_field(3, "brain.Event:2"));
}

void EventFile::record(const std::string& event) {
  const std::string length = little(static_cast<uint64_t>(event.size()));
  file_ << length << little(masked(length)) << event << little(masked(event));
  file_.flush();
  if (!file_) fail(ErrorKind::io, "TensorBoard", "cannot write ", path_.string());
}

void EventFile::summary(std::string_view tag, const std::string& metadata, const std::string& tensor,
                        int64_t step) {
  const std::string value = bytes_field(1, tag) + bytes_field(8, tensor) + bytes_field(9, metadata);
  record(double_field(1, now()) + number_field(2, static_cast<uint64_t>(step)) +
         bytes_field(5, bytes_field(1, value)));
}

void EventFile::scalar(std::string_view tag, double value, int64_t step) {
  constexpr uint64_t kFloat = 1, kScalarData = 1;
  const std::string bits = little(std::bit_cast<uint32_t>(static_cast<float>(value)));
  const std::string tensor = number_field(1, kFloat) + bytes_field(2, "") + bytes_field(5, bits);
  summary(tag, plugin("scalars", "") + number_field(4, kScalarData), tensor, step);
}

void EventFile::keras_model(std::string_view json) {
  constexpr uint64_t kString = 7;
  const std::string tensor = number_field(1, kString) + bytes_field(2, "") + bytes_field(8, json);
  summary("keras", plugin("graph_keras_model", "1"), tensor, 0);
}

}  // namespace plimsoll
