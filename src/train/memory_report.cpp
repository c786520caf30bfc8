// memory_report_html() and memory_report_svg().
#include "plimsoll/memory_report.h"

#include "common/no_memory.h"
#include "data/settings.h"
#include "memory/account.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
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
  const Trainer& trainer = model.body().trainer;
  const int64_t line = memory.empty() ? account::kNoLimit : parse_memory(memory);
  const BatchTypes types = batch_types(model, batch_size);
  const StepPlan p = plan_step(trainer, StepKind::train, types, line, false, [&](const StepForecast& step) {
    return f.total() - f.arena - f.programs + step.program.program;
  });
  const Program program = trainer.planned(StepKind::train, types, std::max<int64_t>(p.arena_line, 0), false);
  return {.title = concat("Memory of a training step of ", model.name(), ", batch ", batch_size),
          .spans = program.timeline(),
          .steps = lines_of(program.text(), program.steps()),
          .arena = program.memory().arena,
          .line = line == account::kNoLimit ? 0 : p.arena_line};
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
