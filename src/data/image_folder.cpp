#include "data/image_folder.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <utility>

#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_list(const fs::path& folder, const std::error_code& error) {
  const bool absent = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  fail(absent ? ErrorKind::not_found : ErrorKind::io, folder.string(),
       "cannot list the folder: ", error.message());
}

struct Listing {
  std::vector<std::string> folders, files;  // names, sorted
};

Listing list(const fs::path& folder) {
  Listing listing;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end; it.increment(error)) {
    if (error) break;
    std::error_code gone;  // a file that vanishes while we look is no file
    (it->is_directory(gone) ? listing.folders : listing.files).push_back(it->path().filename().string());
  }
  if (error) cannot_list(folder, error);
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

bool is_image(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  std::string ending = name.substr(dot);
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".gif" || ending == ".bmp";
}

// All folders below and with `folder`, not through links, as names from the root, sorted as os.walk's would
// be.
std::vector<std::string> walk(const fs::path& root, const std::string& folder) {
  std::vector<std::string> all = {folder};
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string parent = all[i];
    for (const std::string& name : list(root / parent).folders) {
      const std::string below = parent.empty() ? name : concat(parent, "/", name);
      std::error_code gone;
      if (!fs::is_symlink(root / below, gone)) all.push_back(below);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::string> classes_of(const std::string& root, const ImageOptions& options) {
  std::vector<std::string> there = list(root).folders;
  std::erase_if(there, [](const std::string& name) { return name.starts_with('.'); });
  for (const std::string& name : options.class_names) {
    require(std::find(there.begin(), there.end(), name) != there.end(), root, "expected a folder for class '",
            name, "', got none of that name");
  }
  return options.class_names.empty() ? there : options.class_names;
}

}  // namespace

std::vector<size_t> numpy_shuffle(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = n; i-- > 1;) {
    size_t mask = i;
    for (const unsigned shift : {1u, 2u, 4u, 8u, 16u}) mask |= mask >> shift;
    size_t j = random() & mask;
    while (j > i) j = random() & mask;
    std::swap(order[i], order[j]);
  }
  return order;
}

ImageFolder::ImageFolder(const std::string& folder, const ImageOptions& options) : root_(folder) {
  const bool inferred = options.labels == "inferred";
  require(inferred || options.labels == "none", "dataset.images",
          "expected labels \"inferred\" or \"none\", got \"", options.labels, "\"");
  require(inferred || options.class_names.empty(), "dataset.images",
          "expected no class_names without labels");
  if (inferred) {
    class_names_ = classes_of(root_, options);
    for (size_t i = 0; i < class_names_.size(); ++i) add_class(class_names_[i], static_cast<int32_t>(i));
  } else {
    add_class("", 0);
  }
  require(!files_.empty(), folder, "expected images (.jpg, .jpeg, .png) ",
          inferred ? "in one folder per class" : "below it", ", got none");
  require(files_.size() <= UINT32_MAX, folder, "expected fewer than 2^32 images");
  charge_.set(Owner::data, static_cast<int64_t>(names_.capacity() + files_.capacity() * sizeof(File)));
  if (options.seed) {
    std::vector<File> shuffled;
    shuffled.reserve(files_.size());
    for (const size_t from : numpy_shuffle(files_.size(), *options.seed)) shuffled.push_back(files_[from]);
    files_ = std::move(shuffled);
  }
  restrict_to_subset(options);
}

void ImageFolder::add_class(const std::string& folder, int32_t label) {
  for (const std::string& place : walk(root_, folder)) {
    for (const std::string& name : list(fs::path(root_) / place).files) {
      if (!is_image(name)) continue;
      files_.push_back({names_.size(), label});
      names_ += place.empty() ? name : concat(place, "/", name);
      names_ += '\0';
    }
  }
}

void ImageFolder::restrict_to_subset(const ImageOptions& options) {
  const double split = options.validation_split;
  require((split > 0) == !options.subset.empty(), "dataset.images",
          "expected validation_split and subset together, got ", split, " and \"", options.subset, "\"");
  if (options.subset.empty()) return;
  require(split < 1, "dataset.images", "expected a validation_split between 0 and 1, got ", split);
  const bool training = options.subset == "training";
  require(training || options.subset == "validation", "dataset.images",
          "expected subset \"training\" or \"validation\", got \"", options.subset, "\"");
  const auto validation = static_cast<ptrdiff_t>(split * static_cast<double>(files_.size()));
  const auto cut = files_.end() - validation;
  if (training)
    files_.erase(cut, files_.end());
  else
    files_.erase(files_.begin(), cut);
  require(!files_.empty(), "dataset.images", "expected images in the ", options.subset, " subset, got none");
}

std::string ImageFolder::path(int64_t i) const {
  return concat(root_, "/", std::string_view(names_.c_str() + files_[static_cast<size_t>(i)].name));
}

}  // namespace plimsoll::data
