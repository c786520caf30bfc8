// Files that programs made for themselves and that were cut off: compiled Python, and models and data that
// were downloaded. Nobody looks at them again until they are used.
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/hdf5_attributes.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/parallel.h"
#include "doctor/patience.h"
#include "doctor/python/pyc.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFolders = 400, kMostDownloads = 200;
constexpr std::chrono::milliseconds kLongest{150};

// Python takes a compiled file if time and size of its source are those written in it.
bool is_taken(const PycHeader& header, const fs::path& source) {
  struct stat status {};
  if (::stat(source.c_str(), &status) != 0) return false;
  if (header.flags != 0) return header.flags == 1;
  return static_cast<uint32_t>(status.st_mtime) == header.source_time &&
         static_cast<uint32_t>(status.st_size) == header.source_size;
}

bool is_broken_pyc(const fs::path& file, const std::string& tag, unsigned minor) {
  const std::string name = file.filename().string();
  const std::string end = concat(".", tag, ".pyc");
  if (!name.ends_with(end)) return false;
  const std::string stem = name.substr(0, name.size() - end.size());
  try {
    const std::optional<MappedFile> compiled = MappedFile::open(file);
    if (!compiled || !compiled->bytes().has(0, 16)) return false;  // Python compiles anew
    const fs::path source = file.parent_path().parent_path() / (stem + ".py");
    return is_taken(read_pyc_header(compiled->bytes()), source) && !is_whole_pyc(compiled->bytes(), minor);
  } catch (const Error&) {
    return false;
  }
}

// Folders with compiled files of the packages, those nearest to the top first.
std::vector<fs::path> cache_folders(const Environment& e) {
  std::set<std::pair<size_t, fs::path>> folders;
  for (const Distribution& d : e.distributions) {
    std::string last;
    for (const RecordRow& row : d.record) {
      const size_t slash = row.path.rfind('/');
      if (!row.path.ends_with(".py") || slash == std::string::npos || row.path.starts_with("..")) continue;
      std::string folder = row.path.substr(0, slash);
      if (folder == last) continue;
      folders.emplace(static_cast<size_t>(std::count(folder.begin(), folder.end(), '/')),
                      d.site / folder / "__pycache__");
      last = std::move(folder);
    }
  }
  std::vector<fs::path> all;
  for (const auto& [depth, folder] : folders) {
    if (all.size() < kMostFolders) all.push_back(folder);
  }
  return all;
}

void compiled_files(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  const std::string tag = concat("cpython-", e.major, e.minor);
  const std::vector<fs::path> folders = cache_folders(e);
  std::map<fs::path, std::vector<std::string>> broken;  // by folder
  std::mutex mutex;
  const Patience patience(kLongest);
  parallel_for(folders.size(), [&](size_t i) {
    for (const fs::path& file : patience.over() ? std::vector<fs::path>() : list_folder(folders[i])) {
      if (!is_broken_pyc(file, tag, static_cast<unsigned>(e.minor))) continue;
      const std::lock_guard lock(mutex);
      broken[folders[i]].push_back(file.filename().string());
    }
  });
  for (const auto& [folder, files] : broken) {
    const std::string package = folder.parent_path().filename().string();
    findings.push_back({"",
                        Severity::error,
                        Sureness::certain,
                        concat("Compiled files of ", package, " are cut off: ", some_of(files)),
                        {folder.string(), "Python takes them, since their sources have not changed"},
                        concat("EOFError: marshal data too short, at import ", package),
                        "rm -r " + shell_word(folder)});
  }
}

// A zip archive ends with a table of what it holds, and little behind it.
bool lacks_zip_end(std::string_view bytes) {
  constexpr size_t kLongestTail = (1u << 16) + 64;
  const std::string_view tail = bytes.substr(bytes.size() - std::min(bytes.size(), kLongestTail));
  return tail.rfind("PK\x05\x06") == std::string_view::npos;
}

// Why a download cannot be used; empty if nothing speaks against it.
std::string broken_download(const fs::path& path) {
  const std::optional<MappedFile> file = MappedFile::open(path);
  if (!file) return "";
  const std::string_view bytes = file->bytes().text();
  if (bytes.empty()) return "it is empty";
  if (bytes.starts_with("PK\x03\x04"))
    return lacks_zip_end(bytes) ? "it is cut off: a zip archive without its end" : "";
  const std::string name = path.filename().string();
  const bool h5 = name.ends_with(".h5") || name.ends_with(".hdf5");
  if (h5 && looks_like_hdf5(file->bytes())) {
    try {
      check_hdf5_end(file->bytes(), bytes.size());
    } catch (const Error& e) {
      return e.what();
    }
  } else if (h5) {
    return "it is no HDF5 file";
  }
  return "";
}

void downloads(const Exam& exam, Findings& findings) {
  const fs::path home(exam.system.variable("HOME"));
  if (home.empty()) return;
  const std::string_view cache = exam.system.variable("XDG_CACHE_HOME"),
                         torch = exam.system.variable("TORCH_HOME"),
                         keras = exam.system.variable("KERAS_HOME");
  const fs::path torch_home =
      torch.empty() ? (cache.empty() ? home / ".cache" : fs::path(cache)) / "torch" : fs::path(torch);
  const fs::path keras_home = keras.empty() ? home / ".keras" : fs::path(keras);
  size_t looked = 0;
  for (const fs::path& folder :
       {torch_home / "hub/checkpoints", keras_home / "models", keras_home / "datasets"}) {
    for (const fs::path& file : list_folder(folder)) {
      const std::string why = ++looked > kMostDownloads ? "" : broken_download(file);
      if (why.empty()) continue;
      findings.push_back({"",
                          Severity::warning,
                          Sureness::certain,
                          concat(file.filename().string(), ", downloaded before, is damaged: ", why),
                          {file.string()},
                          "RuntimeError or OSError when it is loaded; it is not downloaded again by itself",
                          "rm " + shell_word(file)});
    }
  }
}

}  // namespace

void find_damaged_caches(const Exam& exam, Findings& findings) {
  compiled_files(exam, findings);
  downloads(exam, findings);
}

}  // namespace plimsoll::doctor
