// memory_report_html() and memory_report_svg().
#include "plimsoll/memory_report.h"

#include "common/no_memory.h"
#include "data/settings.h"
#include "memory/account.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/planning.h"
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

Picture picture_of(const Model& model, int64_t batch_size, const std::string& memory) {
  const MemoryForecast f = forecast(model, batch_size);
  give_back_memory();  // what planning has taken so far is no part of the step
  const Trainer& trainer = model.body().trainer;
  const int64_t line = memory.empty() ? account::kNoLimit : parse_memory(memory);
  std::vector<StepChoices> steps;
  steps.push_back(trainer.choices(StepKind::train, batch_types(model, batch_size), false));
  steps[0].there = 0;
  CompileOptions options = steps[0].options;
  options.arena = nullptr;
  const Graph& graph = *steps[0].graph;
  StepPlans plans(std::move(steps), f.total() - f.arena - f.programs - f.constants);
  const std::optional<StepPlans::Picked> p = plans.within(line);
  if (!p) {
    const int64_t least = plans.least().bytes;
    throw MemoryLineError("memory report",
                          concat("a batch of ", batch_size, " does not fit under ", memory_text(line),
                                 "; the least line that would do is ", line_text(least)),
                          {.line = line, .need = f.total(), .least = least, .batch = batch_size});
  }
  options.recipe = p->choices[0].recipe;
  const Program program = Program::compile(graph, options);
  return {.title = concat("Memory of a training step of ", model.name(), ", batch ", batch_size),
          .spans = program.timeline(),
          .steps = lines_of(program.text(), program.steps()),
          .arena = program.memory().arena,
          .line = line == account::kNoLimit ? 0 : line - p->beside};
}

}  // namespace

std::string memory_report_html(const Model& model, int64_t batch_size, const std::string& memory) try {
  return picture_html(picture_of(model, batch_size, memory));
} catch (const std::bad_alloc&) {
  no_memory("memory_report_html");
}

std::string memory_report_svg(const Model& model, int64_t batch_size, const std::string& memory) try {
  return picture_svg(picture_of(model, batch_size, memory));
} catch (const std::bad_alloc&) {
  no_memory("memory_report_svg");
}

}  // namespace plimsoll
