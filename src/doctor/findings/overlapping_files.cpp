// Two projects that installed different files under the same name.
#include <map>
#include <unordered_map>

#include "doctor/exam.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

bool counts(std::string_view path) {
  if (!path.ends_with(".py") && !path.ends_with(".so") && !contains(path, ".so.")) return false;
  // Careless packages put these beside themselves; nobody imports them from there.
  for (const std::string_view folder :
       {"tests/", "test/", "docs/", "doc/", "examples/", "example/", "scripts/", "../"}) {
    if (path.starts_with(folder)) return false;
  }
  return contains(path, "/");
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
    f.severity = Severity::warning;
    f.what = concat(a->shown(), " and ", b->shown(), " overwrite each other's files");
    f.evidence = {concat(files.size(), " files differ: ", some_of(files))};
    f.leads_to = "What was installed last wins; removing one breaks the other";
    f.removes = {b->name};
    f.installs = reinstall(*a);
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor
