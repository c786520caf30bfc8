// Modules compiled against NumPy 1 in an environment with NumPy 2.
#include <map>
#include <mutex>

#include "doctor/exam.h"
#include "doctor/parallel.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// NumPy's headers compile into each module the name of the module that holds the C API. Those of
// NumPy 2 know both places, those of NumPy 1 only the old one.
bool built_for_numpy_1(const Library& library) {
  const Bytes data = library.elf ? library.elf->read_only_data() : library.file->bytes();
  const std::string_view text = data.text();
  return contains(text, "numpy.core._multiarray_umath") && !contains(text, "numpy._core._multiarray_umath");
}

bool uses_c_api(const Library& library) {
  bool imports = false;
  const auto note = [&](std::string_view name) {
    imports |= name == "PyCapsule_GetPointer" || name == "_PyCapsule_GetPointer";
  };
  if (library.elf) library.elf->for_each_undefined([&](std::string_view name, bool) { note(name); });
  if (!library.slices.empty()) {
    library.slices.front().for_each_undefined([&](std::string_view name, bool, unsigned) { note(name); });
  }
  return imports;
}

}  // namespace

void find_numpy_abi(const Exam& exam, Findings& findings) {
  const Distribution* numpy = exam.environment.find("numpy");
  if (!numpy || !numpy->version || numpy->version->major() < 2) return;
  std::map<std::string, std::vector<std::string>> built;
  std::mutex mutex;
  const auto& all = exam.libraries.all();
  parallel_for(all.size(), [&](size_t i) {
    const Library& library = *all[i];
    // A module, or what a module is made of: PyTorch's own is an empty shell around libtorch_python.so.
    if (!library.reachable || !library.in_environment || library.standard ||
        (library.owner && library.owner->normal == "numpy"))
      return;
    try {
      if (!uses_c_api(library) || !built_for_numpy_1(library)) return;
    } catch (const Error&) {
      return;  // garbled; damaged_libraries
    }
    const std::lock_guard lock(mutex);
    built[library.owner ? library.owner->name : std::string(split(library.shown, "/")[0])].push_back(
        library.shown);
  });
  for (auto& [name, files] : built) {
    std::sort(files.begin(), files.end());
    Finding f;
    f.severity = Severity::error;
    f.what = concat(name, " was compiled for NumPy 1; ", numpy->shown(), " is installed");
    f.evidence = {some_of(files)};
    f.leads_to =
        "\"A module that was compiled using NumPy 1.x cannot be run in NumPy 2\", ImportError or a crash";
    // What was built for NumPy 2 runs on 1.26 too; there is none for Python 3.13 and later.
    if (exam.environment.minor <= 12)
      f.installs = {{"numpy<2", normal_name(name), false}};
    else
      f.installs = {{name, "", false}};
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
