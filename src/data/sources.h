// The kinds of sources, each in a file of its name.
#pragma once

#include <functional>
#include <memory>

#include "common/file_source.h"
#include "data/source.h"

namespace plimsoll::data {

using SourcePtr = std::shared_ptr<const Source>;

SourcePtr array_source(std::vector<Tensor> x, std::vector<Tensor> y, std::vector<Tensor> weights);
SourcePtr generator_source(std::function<Dataset::Generator(int64_t)> open, RecordTypes types);
SourcePtr npy_source(const std::string& x_path, const std::string& y_path);
SourcePtr npz_source(const FileSource& file, const NpzOptions& options);
SourcePtr csv_source(const FileSource& file, const CsvOptions& options);
SourcePtr hdf5_source(const std::string& path, const Hdf5Options& options);
SourcePtr image_source(const std::string& folder, const ImageOptions& options);

}  // namespace plimsoll::data
