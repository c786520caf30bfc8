#include "guard/report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "common/html.h"
#include "common/bytes.h"
#include "guard/chart.h"
#include "guard/files.h"
#include "guard/timestamp.h"

namespace plimsoll::guard {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr size_t kMostReports = 200;

json refusals_json(const std::vector<Refusal>& refusals) {
  json out = json::array();
  for (const auto& r : refusals) {
    out.push_back({{"size", r.size}, {"resident", r.resident}, {"line", r.line}, {"stack", r.frames}});
  }
  return out;
}

json faults_json(const std::vector<Fault>& faults) {
  json out = json::array();
  for (const auto& f : faults) {
    out.push_back({{"signal", f.signal},
                   {"code", f.code},
                   {"address", fmt::format("0x{:x}", f.address)},
                   {"module", f.module},
                   {"mapping", f.mapping},
                   {"instruction", f.instruction}});
  }
  return out;
}

std::string list_html(const json& items) {
  std::string out = "<ul>";
  for (const auto& item : items) out += "<li>" + escape_html(item.get<std::string>()) + "</li>";
  return out + "</ul>";
}

std::vector<MemorySample> samples_of(const json& report) {
  std::vector<MemorySample> samples;
  for (const auto& s : report.at("memory").at("samples")) samples.push_back({s.at(0), s.at(1), 0, 0});
  return samples;
}

void prune(const fs::path& folder) {
  auto numbers = list_reports(folder);
  std::error_code ignored;
  for (size_t i = 0; i + kMostReports < numbers.size(); ++i) {
    for (const char* end : {".json", ".html"})
      fs::remove(folder / (std::to_string(numbers[i]) + end), ignored);
  }
}

// Takes the next free number by creating its file, so that two guards never share one.
int claim(const fs::path& folder) {
  const auto numbers = list_reports(folder);
  for (int n = numbers.empty() ? 1 : numbers.back() + 1, tries = 0; tries < 1000; ++n, ++tries) {
    const int fd =
        ::open((folder / fmt::format("{}.json", n)).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
      ::close(fd);
      return n;
    }
    if (errno != EEXIST) return 0;
  }
  return 0;
}

}  // namespace

fs::path reports_folder() { return state_folder() / "reports"; }

json report_json(const ReportInput& in) {
  json samples = json::array();
  const double end = in.evidence.samples.empty() ? 0 : in.evidence.samples.back().time;
  for (const auto& s : in.evidence.samples) samples.push_back({s.time - end, s.resident, s.available});
  return {
      {"format", 1},
      {"kernel", in.name},
      {"command", in.command},
      {"pid", in.evidence.pid},
      {"cause", name_of(in.verdict.cause)},
      {"certain", in.verdict.certain},
      {"title", in.verdict.title},
      {"evidence", in.verdict.evidence},
      {"advice", in.verdict.advice},
      {"wait_status", in.evidence.wait_status},
      {"cell", {{"code", in.code}, {"execution_count", in.execution_count}, {"seconds", in.cell_seconds}}},
      {"stderr", in.evidence.last_words},
      {"stacks", in.evidence.stacks},
      {"memory", {{"line", in.evidence.line}, {"hard_limit", in.evidence.leaf_limit}, {"samples", samples}}},
      {"refusals", refusals_json(in.evidence.refusals)},
      {"faults", faults_json(in.evidence.faults)},
      {"note", in.note}};
}

std::string report_html(const json& r) {
  std::string note;
  for (const auto& line : r.at("note")) note += escape_html(line.get<std::string>()) + "\n";
  return fmt::format(
      "<!doctype html><html><head><meta charset=\"utf-8\"><title>Report "
      "{0}</title><style>body{{font:15px/1.5 sans-serif;"
      "max-width:60em;margin:2em auto;padding:0 "
      "1em}}pre{{background:#f6f6f6;padding:1em;overflow:auto}}</style></head><body>"
      "<h1>Report {0}: {1}</h1><p>{2}, kernel {3}, process {4}. Cause: <b>{5}</b> ({6}).</p>"
      "<h2>What it rests on</h2>{7}<h2>What to do</h2>{8}<h2>Memory over the last minute</h2>{9}"
      "<h2>The cell</h2><pre>{10}</pre><h2>The note in the cell</h2><pre>{11}</pre><h2>Its last "
      "words</h2><pre>{12}</pre>"
      "</body></html>\n",
      r.value("number", 0), escape_html(r.at("title")), escape_html(r.value("time", "")),
      escape_html(r.at("kernel")), r.at("pid").get<int>(), escape_html(r.at("cause")),
      r.at("certain").get<bool>() ? "certain" : "likely", list_html(r.at("evidence")),
      list_html(r.at("advice")), svg_chart(samples_of(r), r.at("memory").at("line")),
      escape_html(r.at("cell").at("code")), note, escape_html(r.at("stderr")));
}

int write_report(const fs::path& folder, const ReportInput& input) {
  try {
    std::error_code error;
    fs::create_directories(folder, error);
    const int number = claim(folder);
    if (number == 0) return 0;
    json report = report_json(input);
    report["number"] = number;
    report["time"] = timestamp();
    // Once through text: bytes that are no characters are replaced there.
    const std::string text = report.dump(1, ' ', false, json::error_handler_t::replace);
    write_file(folder / fmt::format("{}.json", number), text);
    write_file(folder / fmt::format("{}.html", number), report_html(json::parse(text)));
    prune(folder);
    return number;
  } catch (const std::exception&) {
    return 0;
  }
}

std::vector<int> list_reports(const fs::path& folder) {
  std::vector<int> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".json") continue;
    const int number = std::atoi(entry.path().stem().c_str());
    if (number > 0) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::optional<json> read_report(const fs::path& folder, int number) {
  const auto text = read_file(folder / fmt::format("{}.json", number));
  if (!text) return std::nullopt;
  json report = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("title") || !report.contains("note")) return std::nullopt;
  return report;
}

}  // namespace plimsoll::guard
