#include "doctor/program_reader.h"

#include <algorithm>

#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {

ProgramReader::ProgramReader(const Exam& exam, std::string_view source, Findings& findings)
    : exam_(exam),
      source_(source),
      findings_(findings),
      lines_(source),
      file_(exam.options.model.filename().string()) {
  for (size_t i = 0; i < lines_.size(); ++i) {
    std::vector<ImportStatement> imports;
    add_imports(trim(lines_[i].text), imports);
    for (const ImportStatement& s : imports) {
      if (s.level == 0) imported_.insert(s.module.substr(0, s.module.find('.')));
      bound_.insert(s.names.begin(), s.names.end());
      if (s.level == 0 && !is_guarded(i)) taken_.emplace_back(i, s.module);
      for (const std::string& name : s.names) {
        if (s.level == 0 && !is_guarded(i)) taken_.emplace_back(i, concat(s.module, ".", name));
      }
    }
  }
}

bool ProgramReader::imports(std::string_view packages) const {
  const auto all = split(packages, " ");
  return std::any_of(all.begin(), all.end(), [&](auto p) { return imported_.contains(p); });
}

bool ProgramReader::is_at_least(std::string_view project, std::string_view version) const {
  const Distribution* d = exam_.environment.find(project);
  return d && d->version && *d->version >= *Version::parse(version);
}

std::string ProgramReader::shown(std::string_view project) const {
  const Distribution* d = exam_.environment.find(project);
  return d ? d->shown() : std::string(project);
}

bool ProgramReader::is_guarded(size_t line) const {
  size_t indent = lines_[line].indent;
  for (size_t i = line; i-- > 0 && indent > 0;) {
    if (lines_[i].indent >= indent) continue;
    indent = lines_[i].indent;
    const std::string_view text = lines_[i].text;
    if (text.starts_with("try") || text.starts_with("except")) return true;
    if (text.starts_with("else") || contains(text, "version") || contains(text, "hasattr")) return true;
    if (text.starts_with("with ") && (contains(text, "raises") || contains(text, "assertRaises"))) return true;
  }
  return contains(lines_[line].text, "hasattr") || contains(lines_[line].text, "version");
}

bool ProgramReader::is_own(std::string_view name) const {
  return contains(source_, concat("def ", name, "(")) || contains(source_, concat("class ", name, "(")) ||
         contains(source_, concat("class ", name, ":"));
}

void ProgramReader::add(size_t line, std::string what, std::string leads_to, std::string fix) {
  if (!said_.insert(what).second) return;
  const std::string_view whole = trim(lines_[line].whole);
  findings_.push_back({"",
                       Severity::warning,
                       Sureness::likely,
                       concat(file_, " ", what),
                       {std::string(whole.substr(0, std::min<size_t>(whole.find('\n'), 90)))},
                       std::move(leads_to),
                       std::move(fix)});
}

}  // namespace plimsoll::doctor
