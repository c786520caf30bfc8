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
#include "doctor/formats/data_file.h"
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

// Folders in which programs keep what they downloaded.
std::vector<fs::path> download_folders(const System& system) {
  const fs::path home(system.variable("HOME"));
  const auto or_else = [&](std::string_view variable, const fs::path& usual) {
    const std::string_view value = system.variable(variable);
    return value.empty() ? usual : fs::path(value);
  };
  const fs::path cache = or_else("XDG_CACHE_HOME", home / ".cache");
  const fs::path torch = or_else("TORCH_HOME", cache / "torch"),
                 keras = or_else("KERAS_HOME", home / ".keras");
  const fs::path hub = or_else("HF_HUB_CACHE", or_else("HF_HOME", cache / "huggingface") / "hub");
  return {
      torch / "hub/checkpoints", keras / "models",  keras / "datasets",           hub,
      cache / "whisper",         cache / "clip",    home / "nltk_data",           home / "scikit_learn_data",
      home / ".u2net",           home / ".EasyOCR", home / ".insightface/models", home / ".deepface/weights"};
}

// The files below a folder; those that the Hugging Face cache keeps under other names once.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      if (name == "blobs" || name.starts_with('.') || it.depth() > 6) it.disable_recursion_pending();
    } else if (it->is_regular_file(ignored)) {
      files.push_back(it->path());
    }
    if (files.size() > kMostDownloads) break;
  }
  std::sort(files.begin(), files.end());
  return files;
}

void downloads(const Exam& exam, Findings& findings) {
  if (exam.system.variable("HOME").empty()) return;
  const Patience patience(kLongest);
  size_t looked = 0;
  for (const fs::path& folder : download_folders(exam.system)) {
    for (const fs::path& path : files_below(folder)) {
      if (++looked > kMostDownloads || patience.over()) return;
      const std::optional<MappedFile> file = MappedFile::open(path);
      const DataFile data = file ? inspect_data(file->bytes(), path.filename().string()) : DataFile{};
      if (data.trouble.empty() || !data.damaged) continue;
      const fs::path real = real_path(path);
      findings.push_back(
          {"",
           Severity::warning,
           Sureness::certain,
           concat(path.filename().string(), ", downloaded before, is damaged: ", data.trouble),
           {path.string()},
           "RuntimeError, OSError or SafetensorError when it is loaded; it is not downloaded again "
           "by itself",
           concat("rm ", shell_word(path), real == path ? "" : concat(" ", shell_word(real)))});
    }
  }
}

}  // namespace

void find_damaged_caches(const Exam& exam, Findings& findings) {
  compiled_files(exam, findings);
  downloads(exam, findings);
}

}  // namespace plimsoll::doctor
