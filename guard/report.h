// Reports of deaths, kept as JSON and HTML under the state folder, numbered from 1; the oldest give way.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "guard/cause.h"

namespace plimsoll::guard {

struct ReportInput {
  std::string name;  // of the kernel or script
  std::vector<std::string> command;
  Evidence evidence;
  Verdict verdict;
  std::string code;
  int execution_count = 0;
  double cell_seconds = 0;
  std::vector<std::string> note;  // as the cell shows it, without colours
};

std::filesystem::path reports_folder();

// The report as JSON; `number` and the time are added by write_report(). Pure.
nlohmann::json report_json(const ReportInput& input);
// A page of its own, with the picture inside. Pure.
std::string report_html(const nlohmann::json& report);

// Returns the number of the new report, or 0 if it could not be written: a full disk must not keep a cell
// from its answer.
int write_report(const std::filesystem::path& folder, const ReportInput& input);

// Numbers of the reports there are, ascending.
std::vector<int> list_reports(const std::filesystem::path& folder);
std::optional<nlohmann::json> read_report(const std::filesystem::path& folder, int number);

}  // namespace plimsoll::guard
