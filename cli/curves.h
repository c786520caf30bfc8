// Pictures as SVG: the curves of a training run, and images with what the model said of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plimsoll/model.h"

namespace plimsoll::cli {

// One panel for the losses, one for the metrics; training drawn full, validation dashed.
std::string curves_svg(const History& history);

struct Sample {
  Tensor pixels;  // uint8 (rows, columns), 0 is black
  std::string caption;
  bool right = true;  // wrong ones are framed in red
};
std::string samples_svg(const std::vector<Sample>& samples);

// Throws Error{io}.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace plimsoll::cli
