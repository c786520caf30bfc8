// plimsoll reports: the deaths that guards have seen, one line each.
#include <fmt/format.h>

#include "command.h"
#include "guard/report.h"

void cmd_reports(CLI::App& app) {
  auto* command = app.add_subcommand("reports", "List the reports of kernels that died under guard.");
  command->callback([] {
    using namespace plimsoll::guard;
    const auto folder = reports_folder();
    const auto numbers = list_reports(folder);
    if (numbers.empty()) fmt::print("No reports in {}\n", folder.string());
    for (int number : numbers) {
      const auto report = read_report(folder, number);
      if (!report) continue;
      fmt::print("{:>5}  {:.19}  {:<20} {}\n", number, report->value("time", ""), report->value("cause", ""),
                 report->value("title", ""));
    }
  });
}
