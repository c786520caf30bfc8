// More than one OpenMP runtime in one process.
#include <algorithm>
#include <map>
#include <set>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

enum class Family { none, gnu, llvm };

Family family_of(const Library& library) {
  const std::string name = library.path.filename().string();
  if (name.starts_with("libgomp")) return Family::gnu;
  if (name.starts_with("libiomp5") || name.starts_with("libomp.") || name.starts_with("libomp-") ||
      name.starts_with("libomp5")) {
    return Family::llvm;
  }
  return Family::none;
}

// In conda the packages are made to share one. Wheels each bring their own; a link makes them one file, which
// the loader then loads once. The largest is the newest, as a rule, and does what older ones did.
std::string share_one(const Exam& exam, const std::map<std::string, const Library*>& copies) {
  if (exam.environment.kind == Environment::Kind::conda)
    return concat("conda install -y -p ", shell_word(exam.environment.prefix), " nomkl");
  const auto size = [](const auto& entry) {
    return entry.second->file ? entry.second->file->bytes().size() : 0;
  };
  const auto kept = std::max_element(copies.begin(), copies.end(),
                                     [&](const auto& a, const auto& b) { return size(a) < size(b); });
  std::vector<std::string> links;
  for (const auto& [path, library] : copies) {
    if (path != kept->first)
      links.push_back(concat("ln -sf ", shell_word(kept->first), " ", shell_word(path)));
  }
  return join(links, " && ");
}

}  // namespace

void find_openmp(const Exam& exam, Findings& findings) {
  std::map<std::string, const Library*> llvm, gnu;  // by real file: links to one file are one runtime
  for (const auto& library : exam.libraries.all()) {
    const Family family = family_of(*library);
    if (family == Family::none || !(library->in_environment || library->reachable)) continue;
    (family == Family::llvm ? llvm : gnu).emplace(real_path(library->path).string(), library.get());
  }
  const auto names = [](const std::map<std::string, const Library*>& files) {
    std::vector<std::string> shown;
    for (const auto& [path, library] : files) shown.push_back(library->shown);
    return some_of(shown, 6);
  };
  if (llvm.size() > 1) {
    const bool told = exam.system.has_variable("KMP_DUPLICATE_LIB_OK");
    findings.push_back(
        {"",
         Severity::warning,
         Sureness::likely,
         concat(llvm.size(), " copies of the LLVM/Intel OpenMP runtime can be loaded together"),
         {names(llvm)},
         told ? "KMP_DUPLICATE_LIB_OK silences the check: crashes or wrong results remain possible"
              : "OMP: Error #15: Initializing libiomp5, but found libomp already initialized; abort",
         share_one(exam, llvm)});
  } else if (!llvm.empty() && !gnu.empty()) {
    findings.push_back({"",
                        Severity::note,
                        Sureness::possible,
                        "Two OpenMP runtimes can be loaded together",
                        {names(llvm), names(gnu)},
                        "Twice the threads on the same processors; a fork after use may hang",
                        set_command(exam, "MKL_THREADING_LAYER", "GNU")});
  } else if (gnu.size() > 1) {
    findings.push_back({"",
                        Severity::note,
                        Sureness::possible,
                        concat(gnu.size(), " copies of the GNU OpenMP runtime can be loaded together"),
                        {names(gnu)},
                        "Each has threads of its own: set OMP_NUM_THREADS if the processors are overloaded",
                        ""});
  }
}

}  // namespace plimsoll::doctor
