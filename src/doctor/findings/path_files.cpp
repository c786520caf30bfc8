// .pth files and editable installs that lead to what is not there, or into the packages of another Python.
#include <algorithm>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/source.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// _virtualenv and the like have files; modules of the interpreter have none.
bool is_built_in(const std::string& module) { return is_built_in_module(module) && !module.starts_with('_'); }

const Distribution* owner_of(const Environment& e, const fs::path& file) {
  for (const Distribution& d : e.distributions) {
    if (d.site != file.parent_path()) continue;
    const std::string name = file.filename().string();
    if (std::any_of(d.record.begin(), d.record.end(), [&](const RecordRow& r) { return r.path == name; }))
      return &d;
  }
  return nullptr;
}

// The folders in MAPPING = {'package': '/source/package'} of the finder that setuptools writes.
std::vector<std::string> mapped_folders(const fs::path& finder) {
  const std::string text = read_text(finder, 1u << 20).value_or("");
  const size_t at = text.find("MAPPING");
  const size_t open = at == std::string::npos ? at : text.find('{', at);
  const size_t close = open == std::string::npos ? open : text.find('}', open);
  std::vector<std::string> folders;
  if (close == std::string::npos) return folders;
  for (const std::string_view part :
       split(std::string_view(text).substr(open + 1, close - open - 1), "'\"")) {
    if (part.starts_with('/')) folders.emplace_back(part);
  }
  return folders;
}

// A folder the editable project is loaded from and that is gone; empty if all are there.
std::string lost_source(const Environment& e, const Distribution& d) {
  for (const RecordRow& row : d.record) {
    const fs::path file = d.site / row.path;
    if (row.path.ends_with("_finder.py")) {
      for (const std::string& folder : mapped_folders(file)) {
        // A single module stands there without its .py.
        if (!is_there(folder) && !is_there(folder + ".py")) return folder;
      }
    }
    for (const PthFile& pth : e.path.pth_files()) {
      if (pth.file == file && !pth.gone.empty()) return pth.gone.front();
    }
  }
  return !d.source.empty() && !is_there(d.source) ? d.source.string() : "";
}

void editable_projects(const Exam& exam, Findings& findings) {
  for (const Distribution& d : exam.environment.distributions) {
    const bool finder = std::any_of(d.record.begin(), d.record.end(),
                                    [](const RecordRow& r) { return r.path.starts_with("__editable__"); });
    if (!d.editable && !finder) continue;
    const std::string lost = lost_source(exam.environment, d);
    if (lost.empty()) continue;
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat(d.shown(), " is loaded from a source folder that is gone (an editable install)"),
         {lost + " is not there"},
         "ModuleNotFoundError, while pip believes that it is installed",
         "",
         {},
         {d.name}});
    findings.back().evidence.push_back("if the sources have moved: pip install -e, from where they are now");
  }
}

// Lines that import run at every start of Python; what they name must be there.
void imports_of_lines(const Exam& exam, const PthFile& pth, Findings& findings) {
  for (const std::string& module : pth.modules) {
    if (exam.environment.path.find(module) || is_built_in(module)) continue;
    const Distribution* owner = owner_of(exam.environment, pth.file);
    Finding f;
    f.severity = Severity::warning;
    f.what = concat(pth.file.filename().string(), " imports ", module, " when Python starts, which is gone");
    f.evidence = {pth.file.string()};
    f.leads_to =
        concat("Error processing line 1 of ", pth.file.string(), ": ModuleNotFoundError, at each start");
    if (owner)
      f.installs = reinstall(*owner);
    else
      f.fix = "rm " + shell_word(pth.file);
    findings.push_back(f);
    return;
  }
}

void folders_of_lines(const Exam& exam, const PthFile& pth, Findings& findings) {
  const Distribution* owner = owner_of(exam.environment, pth.file);
  if (pth.gone.empty() || owner) return;  // an editable install, or a name that another system needs
  findings.push_back({"",
                      Severity::warning,
                      Sureness::likely,
                      concat(pth.file.filename().string(), " leads to a folder that is gone"),
                      {concat(pth.file.string(), ": ", some_of(pth.gone))},
                      "ModuleNotFoundError for what was in it: Python passes over such a line without a word",
                      "rm " + shell_word(pth.file)});
}

bool is_utf_8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t more = c < 0x80 ? 0 : (c >> 5) == 6 ? 1 : (c >> 4) == 14 ? 2 : (c >> 3) == 30 ? 3 : 4;
    if (more == 4 || i + more >= text.size()) return false;
    for (size_t k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) >> 6) != 2) return false;
    }
    i += more + 1;
  }
  return true;
}

// Python reads them all when it starts, and stops at one whose letters it cannot read.
void encoding(const Exam& exam, const PthFile& pth, Findings& findings) {
  const std::string text = read_text(pth.file, 1u << 20).value_or("");
  const std::string locale =
      lower_case(concat(exam.system.variable("LC_ALL"), " ", exam.system.variable("LANG")));
  const bool zeros = contains(text, std::string_view("\0", 1));
  if ((is_utf_8(text) && !zeros) || contains(locale, "8859") || contains(locale, "latin")) return;
  findings.push_back(
      {"",
       Severity::error,
       Sureness::likely,
       concat(pth.file.filename().string(), " is not written in UTF-8, and Python reads it at each start"),
       {pth.file.string()},
       "UnicodeDecodeError in site.py: Python does not start, or none of the lines counts",
       "rm " + shell_word(pth.file) + "   # or write it anew as UTF-8"});
}

// Run at every start of Python, if they are there.
void start_up_modules(const Exam& exam, Findings& findings) {
  for (const char* name : {"sitecustomize", "usercustomize"}) {
    const Origin origin = exam.environment.path.find(name);
    if (!origin || origin.file.extension() != ".py" || origin.entry->from == PathEntry::From::folder)
      continue;
    for (const ImportStatement& s :
         read_source(read_text(origin.file, 1u << 20).value_or(""), {.with_chains = false}).imports) {
      const std::string top(split(s.module, ".")[0]);
      if (s.level > 0 || s.tried >= 0 || s.fallback >= 0 || is_built_in_module(top) ||
          exam.environment.path.find(top))
        continue;
      findings.push_back(
          {"",
           Severity::warning,
           Sureness::certain,
           concat(name, ".py, which Python runs at each start, imports ", top, ", which is not there"),
           {origin.file.string()},
           concat("Error in ", name, "; set PYTHONVERBOSE for traceback: ModuleNotFoundError, at each start"),
           concat("mv ", shell_word(origin.file), " ", shell_word(origin.file.string() + ".unused"))});
      break;
    }
  }
}

void other_pythons(const Exam& exam, Findings& findings) {
  for (const PathEntry& entry : exam.environment.path.entries()) {
    if (entry.from != PathEntry::From::pth || !entry.of_other_python) continue;
    findings.push_back(
        {"",
         Severity::error,
         Sureness::likely,
         concat(entry.pth.filename().string(), " brings in the packages of another Python; this is python",
                exam.environment.major, ".", exam.environment.minor),
         {concat(entry.pth.string(), ": ", entry.written)},
         "Native modules of the other version: ImportError, or a crash",
         "rm " + shell_word(entry.pth)});
  }
}

}  // namespace

void find_path_files(const Exam& exam, Findings& findings) {
  editable_projects(exam, findings);
  // Of another machine's Python cannot be seen what it has.
  const bool has_library = is_there(exam.environment.standard_library / "os.py");
  for (const PthFile& pth : exam.environment.path.pth_files()) {
    if (has_library) imports_of_lines(exam, pth, findings);
    const size_t before = findings.size();
    encoding(exam, pth, findings);
    if (findings.size() == before) folders_of_lines(exam, pth, findings);
  }
  if (has_library) start_up_modules(exam, findings);
  other_pythons(exam, findings);
}

}  // namespace plimsoll::doctor
