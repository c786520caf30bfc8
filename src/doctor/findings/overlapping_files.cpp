// Two projects that installed different files under the same name.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "doctor/exam.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

bool counts(std::string_view path) {
  if (!path.ends_with(".py") && !path.ends_with(".so") && !contains(path, ".so.")) return false;
  // Careless packages put these beside themselves; nobody imports them from there.
  for (const std::string_view folder :
       {"tests/", "test/", "docs/", "doc/", "examples/", "example/", "scripts/", "../"}) {
    if (path.starts_with(folder)) return false;
  }
  return contains(path, "/");
}

// A file that many projects may write: it only says that others bring parts of the package.
bool is_for_name_space(const fs::path& file) {
  const std::string text = read_text(file, 1u << 16).value_or("");
  return text.size() < 40 || contains(text, "__path__") || contains(text, "declare_namespace");
}

size_t python_files(const Distribution& d) {
  return static_cast<size_t>(std::count_if(d.record.begin(), d.record.end(), [](const RecordRow& row) {
    return counts(row.path) && row.path.ends_with(".py");
  }));
}

// Other builds of one thing replace each other as a whole. Two that only share a name do not: of each the
// other's beginning is left, and half of its own files.
bool is_mixed(const Distribution& a, const Distribution& b, const std::vector<std::string>& files) {
  if (files.size() * 2 >= std::min(python_files(a), python_files(b))) {
    if (files.size() * 2 >= std::max(python_files(a), python_files(b))) return false;
  }
  return std::any_of(files.begin(), files.end(), [&](const std::string& path) {
    const size_t slash = path.find('/');
    return std::string_view(path).substr(slash) == "/__init__.py" && !is_for_name_space(a.site / path);
  });
}

bool is_required(const Environment& e, const Distribution& what) {
  for (const Distribution& d : e.distributions) {
    for (const Requirement& r : d.requires_dist) {
      if (normal_name(r.name) == what.normal) return true;
    }
  }
  return false;
}

}  // namespace

void find_overlapping_files(const Exam& exam, Findings& findings) {
  struct Row {
    const Distribution* owner;
    const std::string* hash;
  };
  std::unordered_map<std::string, Row> seen;
  std::map<std::pair<const Distribution*, const Distribution*>, std::vector<std::string>> overlaps;
  for (const Distribution& d : exam.environment.distributions) {
    for (const RecordRow& row : d.record) {
      if (!counts(row.path) || row.hash.empty()) continue;
      const auto [it, fresh] = seen.try_emplace(d.site.string() + "/" + row.path, Row{&d, &row.hash});
      const Row& first = it->second;
      if (fresh || first.owner->normal == d.normal || *first.hash == row.hash) continue;
      overlaps[{first.owner, &d}].push_back(row.path);
    }
  }
  for (const auto& [owners, files] : overlaps) {
    const bool second =
        is_required(exam.environment, *owners.second) && !is_required(exam.environment, *owners.first);
    const Distribution* a = second ? owners.second : owners.first;  // the one to keep
    const Distribution* b = second ? owners.first : owners.second;
    Finding f;
    f.severity = is_mixed(*a, *b, files) ? Severity::error : Severity::warning;
    f.what = concat(a->shown(), " and ", b->shown(), " overwrite each other's files");
    f.evidence = {concat(files.size(), " files differ: ", some_of(files))};
    f.leads_to = "What was installed last wins; removing one breaks the other";
    f.removes = {b->name};
    f.installs = reinstall(*a);
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
