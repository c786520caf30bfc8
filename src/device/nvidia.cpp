#include "device/nvidia.h"

#include <fstream>
#include <map>
#include <optional>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

// Of the line "Model:   NVIDIA H200".
std::optional<std::string> model_in(const fs::path& information) {
  std::ifstream file(information);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("Model:")) continue;
    const size_t at = line.find_first_not_of(" \t", 6);
    if (at != line.npos) return line.substr(at);
  }
  return std::nullopt;
}

}  // namespace

std::string nvidia_gpus(const fs::path& root) {
  std::map<std::string, int> models;
  std::error_code none;
  for (fs::directory_iterator it(root / "proc/driver/nvidia/gpus", none), end; it != end;
       it.increment(none)) {
    if (const auto model = model_in(it->path() / "information")) ++models[*model];
  }
  std::string text;
  for (const auto& [model, count] : models) {
    if (!text.empty()) text += ", ";
    text += count > 1 ? concat(count, " ", model) : model;
  }
  // A container may show the device and not what the driver says of it.
  if (text.empty() && fs::exists(root / "dev/nvidia0", none)) return "a GPU of NVIDIA";
  return text;
}

}  // namespace plimsoll
