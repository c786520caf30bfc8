// describe_model_file: what a file says of itself, without building a model.
#include "common/file_source.h"
#include "common/zip_reader.h"
#include "keras_io/h5_tree.h"
#include "keras_io/json.h"
#include "layers/base/json_parts.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

using namespace keras_io;

void describe_keras(const FileSource& source, ModelFileInfo& info) {
  info.kind = "Keras 3 model (.keras)";
  info.has_model = true;
  const ZipReader zip(source);
  const ZipReader::Member* member = zip.find("metadata.json");
  if (!member) return;
  const Json metadata = parse_json(zip.read(*member, kMostJson), concat(source.name(), ": metadata.json"));
  info.keras_version = text_of(metadata, "keras_version");
  info.date_saved = text_of(metadata, "date_saved");
  info.writer = text_of(metadata, "written_by");
}

void add_arrays(const H5Group& group, const std::string& path, ModelFileInfo& info) {
  for (const auto& [name, dataset] : group.datasets)
    info.arrays.emplace_back(concat(path, name), dataset.type);
  for (const auto& [name, inner] : group.groups) add_arrays(inner, concat(path, name, "/"), info);
}

void describe_h5(const FileSource& source, ModelFileInfo& info) {
  const H5File file = H5File::read(source);
  info.has_model = file.root().text("model_config") != nullptr;
  info.kind = info.has_model ? "whole model of Keras (HDF5)" : "weights alone (HDF5)";
  if (const std::string* version = file.root().text("keras_version")) info.keras_version = *version;
  if (const std::string* backend = file.root().text("backend")) info.backend = *backend;
  // Keras 1.0 and 1.1 wrote no version into the files of models.
  if (info.has_model && info.keras_version.empty()) info.keras_version.assign(1, '1');
  add_arrays(file.root(), "", info);
}

}  // namespace

ModelFileInfo describe_model_file(const std::filesystem::path& path) {
  const FileSource source = FileSource::open(path);
  ModelFileInfo info;
  info.bytes = static_cast<int64_t>(source.size());
  if (ZipReader::looks_like(source))
    describe_keras(source, info);
  else if (H5File::looks_like(source))
    describe_h5(source, info);
  else
    info.kind = "text";
  return info;
}

}  // namespace plimsoll
