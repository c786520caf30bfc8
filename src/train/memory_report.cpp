// memory_report_html() and memory_report_svg().
#include "plimsoll/memory_report.h"

#include "common/no_memory.h"
#include "memory/planning.h"
#include "plimsoll/error.h"
#include "train/memory_picture.h"
#include "train/model_body.h"
#include "train/step_plan.h"

namespace plimsoll {
namespace {

std::vector<std::string> lines_of(const std::string& text, size_t count) {
  std::vector<std::string> lines;
  for (size_t at = 0; lines.size() < count && at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t name = std::min(text.find(": ", at), end);
    lines.push_back(text.substr(name + 2, end - name - 2));
    at = end + 1;
  }
  lines.resize(count);
  return lines;
}

// One plan is said and drawn: what the system counts of the process is not measured again in between.
Picture picture_of(const Model& model, int64_t batch_size, const MemoryForecast& f) {
  const account::Planning planning;
  const bool on_device = !f.device.empty();
  const int64_t arena = on_device ? f.on_device.arena : f.arena;
  const int64_t beside = (on_device ? f.on_device.total() : f.total()) - arena;
  std::vector<StepChoices> steps;
  steps.push_back(
      model.body().trainer.choices(StepKind::train, batch_types(model, batch_size), f.parts > 1));
  steps[0].there = 0;
  CompileOptions options = steps[0].options;
  options.arena = nullptr;
  const std::shared_ptr<const Graph> graph = steps[0].choices->graph();
  StepPlans plans(std::move(steps), 0);
  options.recipe = plans.with_arena(arena).choices[0].recipe;
  const Program program = Program::compile(*graph, options);
  return {.title = concat("Memory of a training step of ", model.name(), ", batch ", batch_size),
          .spans = program.timeline(),
          .steps = lines_of(program.text(), program.steps()),
          .arena = program.memory().arena,
          .line = f.line == 0 ? 0 : f.line - beside};
}

}  // namespace

std::string memory_report_html(const Model& model, int64_t batch_size, const MemoryForecast& f) try {
  return picture_html(picture_of(model, batch_size, f));
} catch (const std::bad_alloc&) {
  no_memory("memory_report_html");
}

std::string memory_report_svg(const Model& model, int64_t batch_size, const MemoryForecast& f) try {
  return picture_svg(picture_of(model, batch_size, f));
} catch (const std::bad_alloc&) {
  no_memory("memory_report_svg");
}

std::string memory_report_html(const Model& model, int64_t batch_size, const std::string& memory) {
  return memory_report_html(model, batch_size, forecast(model, batch_size, memory));
}

std::string memory_report_svg(const Model& model, int64_t batch_size, const std::string& memory) {
  return memory_report_svg(model, batch_size, forecast(model, batch_size, memory));
}

}  // namespace plimsoll
