// Several HDF5 libraries under one name: h5py gets the one that comes first.
#include <map>
#include <set>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// "1.14.6" out of the text that every libhdf5 carries.
std::string version_of(const Library& library) {
  constexpr std::string_view kMark = "HDF5 library version: ";
  if (!library.file) return "";
  std::string_view text = library.elf ? library.elf->read_only_data().text() : library.file->bytes().text();
  for (size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at + 1)) {
    const std::string_view rest = text.substr(at + kMark.size(), 16);
    if (rest.empty() || !is_digit(rest.front())) continue;
    return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
  }
  return "";
}

}  // namespace

void find_hdf5(const Exam& exam, Findings& findings) {
  // Wheels give their copy a name of its own (libhdf5-8c29085d.so); only plain names can be confused.
  std::map<std::string, std::map<std::string, const Library*>> by_name;  // soname -> real file
  for (const auto& library : exam.libraries.all()) {
    if (!library->elf || !(library->reachable || library->in_environment)) continue;
    const std::string name(library->elf->soname());
    if (name.starts_with("libhdf5.so") || name.starts_with("libhdf5_hl.so") ||
        name.starts_with("libhdf5_serial.so")) {
      by_name[name].emplace(real_path(library->path).string(), library.get());
    }
  }
  for (const auto& [name, files] : by_name) {
    if (files.size() < 2) continue;
    std::vector<std::string> shown;
    std::set<std::string> versions;
    for (const auto& [path, library] : files) {
      const std::string version = version_of(*library);
      versions.insert(version);
      shown.push_back(concat(library->shown, version.empty() ? "" : " (HDF5 " + version + ")"));
    }
    const bool differ = versions.size() > 1;
    findings.push_back(
        {"",
         differ ? Severity::warning : Severity::note,
         Sureness::likely,
         concat(files.size(), " libraries are called ", name, differ ? ", of different versions" : ""),
         {some_of(shown)},
         "\"HDF5 library version mismatched error\" and abort when h5py and another package meet",
         InstallCommand{{"h5py"}, false, true, true}.text(exam)});
  }
}

}  // namespace plimsoll::doctor
