// Folders that cannot be used as they must be: packages on a disk whose files may not be run, a home folder
// that may not be written.
#include <unistd.h>

#include <algorithm>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

void not_executable(const Exam& exam, Findings& findings) {
  const Disk* disk = exam.system.disk("packages");
  const auto& libraries = exam.libraries.all();
  const auto loaded = std::find_if(libraries.begin(), libraries.end(), [](const auto& library) {
    return library->in_environment && library->module && !library->standard;
  });
  if (!disk || !disk->noexec || loaded == libraries.end()) return;
  const std::string path = shell_word(disk->path);
  findings.push_back(
      {"",
       Severity::error,
       Sureness::certain,
       "The packages lie on a disk that is mounted noexec: no native module of them can be loaded",
       {disk->path, (*loaded)->shown},
       "ImportError: failed to map segment from shared object: Operation not permitted",
       concat("mount -o remount,exec \"$(findmnt -n -o TARGET -T ", path,
              ")\"   # as root; or make the environment on another disk")});
}

// Jupyter, IPython and Matplotlib keep files there, and a kernel does not start without.
void home(const Exam& exam, Findings& findings) {
  if (!exam.system.home_unwritable) return;
  const bool jupyter = exam.environment.find("ipykernel") || exam.environment.find("jupyter-core");
  if (jupyter && exam.system.has_variable("JUPYTER_RUNTIME_DIR") && exam.system.has_variable("IPYTHONDIR"))
    return;
  findings.push_back(
      {"",
       jupyter ? Severity::warning : Severity::note,
       Sureness::likely,
       concat("The home folder (HOME) is not there or may not be written: ", exam.system.variable("HOME")),
       {concat("HOME=", exam.system.variable("HOME"))},
       "PermissionError when a Jupyter kernel writes its connection file; caches and settings are lost",
       "export HOME=$(mktemp -d)   # or a folder that stays; with Docker: -e HOME=/tmp"});
}

// Numba keeps what it compiles beside the source, in NUMBA_CACHE_DIR or in the home folder. Where it may
// write in none of these, it refuses functions with cache=True when they are imported.
void numba_cache(const Exam& exam, Findings& findings) {
  const auto& sites = exam.environment.sites;
  const bool beside = std::any_of(sites.begin(), sites.end(),
                                  [](const auto& site) { return ::access(site.c_str(), W_OK) == 0; });
  if (!exam.system.home_unwritable || beside) return;
  if (!exam.environment.find("numba") || exam.system.has_variable("NUMBA_CACHE_DIR")) return;
  findings.push_back(
      {"",
       Severity::warning,
       Sureness::likely,
       "Numba has no place for what it compiles: neither the packages nor the home folder may be written",
       {concat("HOME=", exam.system.variable("HOME")), "NUMBA_CACHE_DIR is not set"},
       "RuntimeError: cannot cache function ...: no locator available, when librosa, umap and others are "
       "imported",
       "export NUMBA_CACHE_DIR=$(mktemp -d)   # or a folder that stays; with Docker: -e "
       "NUMBA_CACHE_DIR=/tmp"});
}

void runtime_folder(const Exam& exam, Findings& findings) {
  const std::string& folder = exam.system.unwritable_runtime;
  const bool jupyter = exam.environment.find("ipykernel") || exam.environment.find("jupyter-core");
  if (folder.empty() || exam.system.home_unwritable || !jupyter) return;
  findings.push_back({"",
                      Severity::error,
                      Sureness::certain,
                      concat("Jupyter's runtime folder may not be written by this user: ", folder),
                      {concat(folder, ": permission denied; a Jupyter started as root leaves it so")},
                      "PermissionError for the connection file whenever a kernel is started",
                      concat("sudo chown -R \"$(id -u)\" ", shell_word(folder),
                             "   # or set JUPYTER_RUNTIME_DIR to a folder of your own")});
}

void temporary_folder(const Exam& exam, Findings& findings) {
  if (!exam.system.no_temporary_folder) return;
  findings.push_back(
      {"",
       Severity::error,
       Sureness::certain,
       "No folder for temporary files may be written",
       {"TMPDIR, /tmp, /var/tmp and the current folder"},
       "FileNotFoundError: No usable temporary directory found, in tempfile and whatever uses it",
       exam.system.home_unwritable
           ? "mount -t tmpfs tmpfs /tmp   # as root; with Docker: docker run --tmpfs /tmp"
           : "export TMPDIR=$HOME/tmp && mkdir -p \"$TMPDIR\""});
}

}  // namespace

void find_mounts(const Exam& exam, Findings& findings) {
  not_executable(exam, findings);
  home(exam, findings);
  numba_cache(exam, findings);
  runtime_folder(exam, findings);
  temporary_folder(exam, findings);
}

}  // namespace plimsoll::doctor
