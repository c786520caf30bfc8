// plimsoll report N: what is known about one death.
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "guard/report.h"
#include "plimsoll/error.h"

void cmd_report(CLI::App& app) {
  auto* command = app.add_subcommand("report", "Show one report of `plimsoll reports`.");
  struct Options {
    int number = 0;
    bool json = false, html = false;
  };
  auto options = std::make_shared<Options>();
  command->add_option("number", options->number, "Its number (default: the last)");
  command->add_flag("--json", options->json, "All of it, as JSON");
  command->add_flag("--html", options->html, "The path of its page");
  command->callback([options] {
    using namespace plimsoll::guard;
    const auto folder = reports_folder();
    const auto numbers = list_reports(folder);
    const int number = options->number > 0 ? options->number : numbers.empty() ? 0 : numbers.back();
    const auto report = read_report(folder, number);
    if (!report)
      plimsoll::fail(plimsoll::ErrorKind::not_found, "report", "no report ", number, " in ", folder.string());
    if (options->html) {
      fmt::print("{}\n", (folder / fmt::format("{}.html", number)).string());
    } else if (options->json) {
      fmt::print("{}\n", report->dump(1));
    } else {
      fmt::print("Report {} of {:.19}, kernel {}\n", number, report->value("time", ""),
                 report->value("kernel", ""));
      for (const auto& line : report->at("note")) fmt::print("{}\n", line.get<std::string>());
    }
  });
}
