#include "data_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "match_arrays.h"
#include "plimsoll/error.h"
#include "plimsoll/npy.h"

namespace plimsoll::cli {
namespace {

Dataset open_npz(const DataArguments& a, const Model& model, bool with_targets) {
  ArrayNames asked{a.x, a.y, {}};
  if (!a.weights.empty()) asked.weights = {a.weights};
  const ArrayNames found = match_arrays(npz_types(a.path), std::move(asked), model, with_targets, a.path);
  NpzOptions options;
  options.x = found.x;
  options.y = with_targets ? found.y : std::vector<std::string>();
  options.weights = found.weights;
  return Dataset::npz(a.path, options);
}

// 0: not known.
int64_t input_width(const Model& model) {
  if (model.inputs().size() != 1 || model.inputs()[0].shape().size() != 2) return 0;
  return std::max<int64_t>(model.inputs()[0].shape()[1], 0);
}

char delimiter_of(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  require(text.size() == 1, "--delimiter", "expected one character, or tab, got '", text, "'");
  return text[0];
}

bool is_number(std::string_view text) {
  double value = 0;
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Two things that would pass in silence, or end in a message about something else: another delimiter, and a
// first line that is a record.
void look_at_first_line(const DataArguments& a, const CsvOptions& options) {
  std::ifstream file(a.path, std::ios::binary);
  std::string line(4096, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  line.resize(std::min(line.find_first_of("\r\n"), line.size()));
  if (line.find(options.delimiter) == std::string::npos) {
    for (const char other : {';', '\t', ',', '|'}) {
      if (line.find(other) == std::string::npos) continue;
      const std::string name = other == '\t' ? "tab" : concat("'", other, "'");
      fail(ErrorKind::bad_file, a.path, "line 1: expected columns apart by '", options.delimiter, "', got '",
           line.substr(0, 60), "'. If they are apart by ", name, ", say --delimiter ", name);
    }
  }
  if (!options.header) return;
  std::string_view left = line;
  for (bool more = true; more;) {
    const size_t end = std::min(left.find(options.delimiter), left.size());
    if (!is_number(left.substr(0, end))) return;
    more = end < left.size();
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  fmt::print(stderr,
             "plimsoll warning: [{}] line 1 is taken for the names of the columns, but holds numbers alone: "
             "if it is a record, say --no-header\n",
             a.path);
}

Dataset open_csv(const DataArguments& a, const Model& model, bool with_targets) {
  require(!with_targets || !a.y.empty(), "--y",
          "expected the column of the target, by name or number (-1: the last)");
  CsvOptions options;
  options.columns = a.x;
  if (with_targets) options.label = a.y;
  options.weight = a.weights;
  options.delimiter = delimiter_of(a.delimiter);
  options.header = !a.no_header;
  options.missing = a.missing;
  look_at_first_line(a, options);
  Dataset data = Dataset::csv(a.path, options);
  const int64_t columns = data.types().x[0].shape.elements(), width = input_width(model);
  require(width == 0 || columns == width, a.path, "gives ", columns, " columns to a model that takes ", width,
          "; name the columns with --x");
  return data;
}

Dataset open_hdf5(const DataArguments& a, bool with_targets) {
  Hdf5Options options;
  if (!a.x.empty()) options.x = a.x;
  if (!a.y.empty()) options.y = a.y;
  if (!with_targets) options.y.clear();
  if (!a.weights.empty()) options.weights = {a.weights};
  return Dataset::hdf5(a.path, options);
}

Dataset open_images(const DataArguments& a, const Model& model, bool with_targets) {
  ImageOptions options;
  options.size = a.image_size;
  if (!model.inputs().empty() && model.inputs()[0].shape().size() == 4) {
    const SymbolShape& shape = model.inputs()[0].shape();
    if (shape[1] > 0 && shape[2] > 0) options.size = {shape[1], shape[2]};
    if (shape[3] > 0) options.channels = shape[3];
  }
  if (!with_targets) options.labels = "none";
  return Dataset::images(a.path, options);
}

Dataset open_any(const DataArguments& a, const Model& model, bool with_targets) {
  const std::filesystem::path path = a.path;
  const std::string suffix = path.extension().string();
  if (std::filesystem::is_directory(path)) return open_images(a, model, with_targets);
  if (suffix == ".npz") return open_npz(a, model, with_targets);
  if (suffix == ".npy") {
    require(!with_targets || !a.y_path.empty(), "--targets", "expected the .npy file of targets beside ",
            a.path);
    return Dataset::npy(a.path, with_targets ? a.y_path : "");
  }
  if (suffix == ".csv") return open_csv(a, model, with_targets);
  if (suffix == ".h5" || suffix == ".hdf5") return open_hdf5(a, with_targets);
  fail(ErrorKind::unsupported, a.path, "expected .npz, .npy, .csv, .h5 or a folder of images");
}

}  // namespace

void add_data_options(CLI::App& command, DataArguments& a, bool with_targets) {
  command
      .add_option("--data", a.path,
                  "A .npz, .npy, .csv or .h5 file, or a folder with images (one folder per class)")
      ->required()
      ->check(CLI::ExistingPath);
  command.add_option(
      "--x", a.x, "The arrays (.npz, .h5) or columns (.csv) to learn from; else the usual names are tried");
  command
      .add_option("--delimiter", a.delimiter,
                  "What stands between the columns of a .csv: one character, or tab")
      ->capture_default_str();
  command.add_flag("--no-header", a.no_header,
                   "The first line of a .csv is a record: columns have numbers, from 0");
  command.add_option(
      "--missing", a.missing,
      "What an empty field of a .csv, NA, nan and the like stand for. Default: they are bad records");
  if (with_targets) {
    command.add_option("--y", a.y,
                       "The arrays or columns to learn; of a .csv by name or number (-1: the last)");
    command.add_option("--targets", a.y_path, "The .npy file of targets beside a .npy --data")
        ->check(CLI::ExistingFile);
    command.add_option("--weights", a.weights, "The array or column with a weight for each record");
  }
  command
      .add_option("--image-size", a.image_size, "Height and width of images where the model leaves them open")
      ->expected(2);
  command.add_flag("--skip-bad", a.skip_bad, "Leave out records that cannot be read, and count them");
}

Dataset open_data(const DataArguments& arguments, const Model& model, bool with_targets) {
  return open_any(arguments, model, with_targets).skip_bad(arguments.skip_bad);
}

}  // namespace plimsoll::cli
