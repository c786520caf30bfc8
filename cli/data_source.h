// Where a command finds its data: .npz, .npy, .csv, .h5 or a folder of images.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plimsoll/data.h"
#include "plimsoll/model.h"

namespace plimsoll::cli {

struct DataArguments {
  std::string path;
  std::string y_path;             // of .npy
  std::vector<std::string> x, y;  // arrays or columns
  std::string weights;
  std::vector<int64_t> image_size = {224, 224};
  bool skip_bad = false;
  std::string delimiter = ",";  // of .csv, as the two that follow
  bool no_header = false;
  std::optional<double> missing;
};

// --data and its relatives.
void add_data_options(CLI::App& command, DataArguments& arguments, bool with_targets);
// Arrays of a .npz that are not named are found (match_arrays.h).
Dataset open_data(const DataArguments& arguments, const Model& model, bool with_targets);

}  // namespace plimsoll::cli
