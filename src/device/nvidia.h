// NVIDIA's GPUs in this machine, as the kernel's driver tells without any library.
#pragma once

#include <filesystem>
#include <string>

namespace plimsoll {

// "NVIDIA H200", "2 NVIDIA H200"; empty: there is none. `root` stands for "/".
std::string nvidia_gpus(const std::filesystem::path& root = "/");

}  // namespace plimsoll
