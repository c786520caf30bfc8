// plimsoll plan: what a training step would hold under a line, without running it.
#include <fmt/format.h>

#include "command.h"
#include "common/json.h"
#include "compile_source.h"
#include "curves.h"
#include "forecast_text.h"
#include "memory_option.h"
#include "model_source.h"
#include "outputs.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/memory_report.h"
#include "plimsoll/planning.h"

namespace {

using namespace plimsoll;
using Json = nlohmann::ordered_json;

struct PlanArguments {
  std::string model, memory, html, svg, micro_batch = "never";
  cli::CompileOptions compile;
  int64_t batch = 32;
  bool json = false, hold_updates = false;
};

double times(double extra, const MemoryForecast& f) { return 1 + (f.seconds > 0 ? extra / f.seconds : 0); }

// What holding all updates back takes more; 0 if nothing is held.
int64_t held_bytes(const PlanArguments& a, const Model& model, const MemoryForecast& f) {
  if (!a.hold_updates) return 0;
  const MemoryForecast plain = forecast(model, a.batch, a.memory, a.micro_batch);
  return f.total() - f.process - (plain.total() - plain.process);  // what the system counts is measured anew
}

std::string as_json(const MemoryForecast& f, int64_t batch, int64_t held) {
  Json layers = Json::array();
  for (const auto& [layer, bytes] : f.layers) layers.push_back({{"layer", layer}, {"bytes", bytes}});
  Json j = {{"batch", batch},
            {"bytes", f.total()},
            {"kinds",
             {{"weights", f.weights},
              {"state", f.state},
              {"arena", f.arena},
              {"constants", f.constants},
              {"programs", f.programs},
              {"data", f.data},
              {"process", f.process}}},
            {"layers", layers},
            {"fits", f.fits},
            {"arena_without_line", f.unlimited},
            {"run_again", f.again},
            {"parts", f.parts},
            {"bit_identical", f.parts == 1},
            {"time", times(f.extra_seconds, f)},
            {"time_bound", times(f.least_extra, f)}};
  if (held != 0) j["held_updates"] = held;
  if (!f.device.empty()) {
    const MemoryForecast::OnDevice& d = f.on_device;
    j["on_device"] = {{"device", f.device},
                      {"bytes", d.total()},
                      {"kinds",
                       {{"weights", d.weights},
                        {"state", d.state},
                        {"arena", d.arena},
                        {"constants", d.constants},
                        {"data", d.data}}}};
  }
  if (f.line > 0) {
    j["line"] = f.line;
    j["least_line"] = f.least;
    j["largest_batch"] = f.largest_batch;
  }
  return j.dump(2);
}

std::string under_line_text(const MemoryForecast& f) {
  std::string text = fmt::format("line{}: {}: {}\n", f.device.empty() ? "" : " of " + f.device,
                                 memory_text(f.line), f.fits ? "fits" : "does not fit");
  const int64_t arena = f.device.empty() ? f.arena : f.on_device.arena;
  if (f.parts > 1) {
    text += fmt::format(
        "  arena {} instead of {}: each batch is trained in {} parts, {:.2f} times the time of a step "
        "expected. "
        "Results equal those of whole batches to rounding, not bit by bit; --micro-batch never refuses "
        "instead\n",
        memory_text(arena), memory_text(f.unlimited), f.parts, times(f.extra_seconds, f));
  } else if (f.again > 0) {
    text += fmt::format(
        "  arena {} instead of {}: {} operations run again, {:.2f} times the time of a step expected (no "
        "plan of this "
        "order takes less than {:.2f})\n",
        memory_text(arena), memory_text(f.unlimited), f.again, times(f.extra_seconds, f),
        times(f.least_extra, f));
  }
  text += fmt::format("  least line for this batch: {}\n  largest batch under the line: {}\n",
                      line_text(f.least), f.largest_batch > 0 ? fmt::format("{}", f.largest_batch) : "none");
  return text;
}

std::string layers_text(const MemoryForecast& f) {
  constexpr size_t kShown = 10;
  std::string text = "layers at the peak:\n";
  for (size_t i = 0; i < std::min(kShown, f.layers.size()); ++i) {
    const auto& [layer, bytes] = f.layers[i];
    text += fmt::format("  {:>12}  {}\n", memory_text(bytes), layer.empty() ? "(no layer)" : layer);
  }
  return text;
}

void run(const PlanArguments& a) {
  cli::check_writable("--html", a.html, {".html"});
  cli::check_writable("--svg", a.svg, {".svg"});
  cli::draw_line("");
  Model model = cli::open_model(a.model);
  cli::compile(model, a.compile);
  const MemoryForecast f = forecast(model, a.batch, a.memory, a.micro_batch, a.hold_updates);
  const int64_t held = held_bytes(a, model, f);
  if (a.json) {
    fmt::print("{}\n", as_json(f, a.batch, held));
  } else {
    fmt::print("{}{}{}{}", cli::forecast_text(f, a.batch), f.line > 0 ? under_line_text(f) : "",
               a.hold_updates ? fmt::format("holding updates back takes {} of it\n",
                                            memory_text(std::max<int64_t>(held, 0)))
                              : "",
               layers_text(f));
  }
  if (!a.html.empty()) {
    cli::write_text(a.html, memory_report_html(model, a.batch, f));
    if (!a.json) fmt::print("drew {}\n", a.html);
  }
  if (!a.svg.empty()) {
    cli::write_text(a.svg, memory_report_svg(model, a.batch, f));
    if (!a.json) fmt::print("drew {}\n", a.svg);
  }
  constexpr int kDoesNotFit = 3;
  if (!f.fits) throw CLI::RuntimeError(kDoesNotFit);
}

}  // namespace

void cmd_plan(CLI::App& app) {
  auto a = std::make_shared<PlanArguments>();
  CLI::App* command = app.add_subcommand(
      "plan", "Say what a training step would hold under a memory line, without running it");
  command->add_option("model", a->model, "A .keras, .h5 or .json file, or a .yaml of layers")
      ->required()
      ->check(CLI::ExistingFile);
  cli::add_compile_options(*command, a->compile, true);
  command->add_option("--batch", a->batch, "Records per step")->check(cli::positive())->capture_default_str();
  command->add_option("--memory", a->memory,
                      "The line, of the whole process: 2GiB, 60%; of the device that it is planned for: "
                      "cuda:0=4GiB. Exits with 3 if the step cannot fit");
  command
      ->add_option("--micro-batch", a->micro_batch,
                   "never: a batch that fits in no exact way does not fit; auto: it is trained in parts")
      ->check(CLI::IsMember({"auto", "never"}))
      ->capture_default_str();
  command->add_option("--html", a->html, "Write a page with the bytes over the step by layer (.html)");
  command->add_option("--svg", a->svg, "The same as a picture alone (.svg)");
  command->add_flag("--hold-updates", a->hold_updates,
                    "With all updates held back, as train --hold-updates does");
  command->add_flag("--json", a->json, "For programs");
  command->footer(
      "Examples:\n"
      "  plimsoll plan digits.keras --batch 256\n"
      "  plimsoll plan digits.keras --batch 256 --memory 200MiB --html step.html\n"
      "  plimsoll plan model.yaml --loss mse --batch 512 --memory 500MiB --json");
  command->callback([a] { run(*a); });
}
