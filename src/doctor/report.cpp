// What people and programs read of a Diagnosis.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr size_t kWidth = 96;

// Breaks `text` into lines of at most kWidth columns, each after the first indented.
std::string wrap(std::string_view text, size_t indent) {
  std::string out;
  size_t column = indent;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (column > indent && column + 1 + end > kWidth) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

const char* colour_of(Severity severity) {
  switch (severity) {
    case Severity::error: return "\033[1;31m";
    case Severity::warning: return "\033[1;33m";
    case Severity::note: return "\033[1;36m";
  }
  return "";
}

void append(std::string& out, const Finding& f, bool colour) {
  const char* bold = colour ? colour_of(f.severity) : "";
  const char* green = colour ? "\033[32m" : "";
  const char* plain = colour ? "\033[0m" : "";
  out += concat("\n", bold, name_of(f.severity), plain, ": ", wrap(f.what, 2), " [", f.id, "]\n");
  for (const std::string& line : f.evidence) out += concat("  seen      ", wrap(line, 12), "\n");
  if (!f.leads_to.empty()) out += concat("  leads to  ", wrap(f.leads_to, 12), "\n");
  if (!f.fix.empty()) out += concat("  fix       ", green, f.fix, plain, "\n");
  if (f.sureness != Sureness::certain) out += concat("  sure      ", name_of(f.sureness), "\n");
}

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "";
}

std::string_view name_of(Sureness sureness) {
  switch (sureness) {
    case Sureness::possible: return "possible";
    case Sureness::likely: return "likely";
    case Sureness::certain: return "certain";
  }
  return "";
}

std::string some_of(const std::vector<std::string>& all, size_t most) {
  std::string out;
  for (size_t i = 0; i < std::min(most, all.size()); ++i) out += (i ? ", " : "") + all[i];
  if (all.size() > most) out += concat(" and ", all.size() - most, " more");
  return out;
}

int Diagnosis::exit_status() const {
  int status = 0;
  for (const Finding& f : findings) status = std::max(status, static_cast<int>(f.severity));
  return status;
}

std::string Diagnosis::text(bool colour) const {
  std::string out = concat("Examined ", environment, "\n");
  char time[32];
  std::snprintf(time, sizeof time, "%.2f", seconds);
  out += concat(distributions, " projects, ", libraries, " native libraries, in ", time, " s\n");
  size_t count[3] = {};
  for (const Finding& f : findings) {
    append(out, f, colour);
    ++count[static_cast<int>(f.severity)];
  }
  out += findings.empty()
             ? "\nNothing found.\n"
             : concat("\n", count[2], " errors, ", count[1], " warnings, ", count[0], " notes\n");
  return out;
}

std::string Diagnosis::json() const {
  nlohmann::json j = {{"environment", environment},
                      {"projects", distributions},
                      {"libraries", libraries},
                      {"seconds", seconds},
                      {"status", exit_status()},
                      {"findings", nlohmann::json::array()},
                      {"system", nlohmann::json::parse(system_json, nullptr, false)}};
  for (const Finding& f : findings) {
    j["findings"].push_back({{"id", f.id},
                             {"severity", name_of(f.severity)},
                             {"sureness", name_of(f.sureness)},
                             {"what", f.what},
                             {"evidence", f.evidence},
                             {"leads_to", f.leads_to},
                             {"fix", f.fix}});
  }
  return j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace plimsoll::doctor
