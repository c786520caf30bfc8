// ImageFolder: the image files below a folder with their classes, in the order in which
// keras.utils.image_dataset_from_directory lists them. Immutable; may be read from several threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory/charge.h"
#include "plimsoll/data.h"

namespace plimsoll::data {

class ImageFolder {
 public:
  // Throws Error{not_found} or {io} if a folder cannot be listed, {invalid_argument} if options make no sense
  // or there are no images.
  ImageFolder(const std::string& folder, const ImageOptions& options);

  int64_t size() const { return static_cast<int64_t>(files_.size()); }
  std::string path(int64_t i) const;
  int32_t label(int64_t i) const { return files_[static_cast<size_t>(i)].label; }
  const std::vector<std::string>& class_names() const { return class_names_; }

 private:
  struct File {
    uint64_t name;  // where it begins in names_
    int32_t label;
  };
  void add_class(const std::string& folder, int32_t label);
  void restrict_to_subset(const ImageOptions& options);

  std::string root_;
  std::string names_;  // below root_, each ended by a zero: millions of names in one piece
  std::vector<File> files_;
  std::vector<std::string> class_names_;
  Charge charge_;
};

// numpy.random.RandomState(seed).shuffle(list) of n elements, as the places they come from.
std::vector<size_t> numpy_shuffle(size_t n, uint32_t seed);

}  // namespace plimsoll::data
