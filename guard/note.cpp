#include "guard/note.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "guard/chart.h"
#include "guard/gate/page.h"

namespace plimsoll::guard {

namespace {

constexpr size_t kMostFrames = 12, kMostWords = 12;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool starts_with(const std::string& text, std::string_view what) { return text.rfind(what, 0) == 0; }

// ipykernel compiles a cell as /tmp/ipykernel_<pid>/<hash>.py; its own launcher is named much alike.
bool is_cell_file(const std::string& file) {
  const size_t at = file.find("/ipykernel_");
  return (at != std::string::npos && std::isdigit(static_cast<unsigned char>(file[at + 11]))) ||
         file.rfind("<ipython-input", 0) == 0;
}

// Text the process wrote itself, without the stacks of faulthandler that are shown apart.
std::vector<std::string> own_words(const std::string& text) {
  std::vector<std::string> words;
  for (const auto& line : lines_of(text.substr(0, text.find("Fatal Python error:")))) {
    if (!line.empty()) words.push_back(line.substr(0, 300));
  }
  if (words.size() > kMostWords) words.erase(words.begin(), words.end() - kMostWords);
  return words;
}

class Writer {
 public:
  explicit Writer(bool colours) : colours_(colours) {}
  void heading(const std::string& text) { lines.push_back(paint("1;34", text)); }
  void item(const std::string& text) { lines.push_back("  " + text); }
  std::string paint(const char* code, const std::string& text) const {
    return colours_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  std::vector<std::string> lines;

 private:
  bool colours_;
};

void write_where(Writer& out, const NoteInput& in) {
  // Those that were asked for at the fault are sound, but of two threads only.
  const auto stacks = python_stacks(in.stacks + in.last_words);
  const PythonStack chosen = choose_stack(stacks);
  const auto& stack = chosen.frames;
  int at = cell_line(stack);
  const bool aside = at == 0 && chosen.failed;
  for (const auto& other : stacks) at = at > 0 ? at : cell_line(other.frames);
  const auto code = lines_of(in.code);
  if (in.code.empty() && stack.empty()) return;
  out.heading("Where");
  if (at > 0 && static_cast<size_t>(at) <= code.size()) {
    out.item(
        fmt::format("cell [{}], line {}: {}", in.execution_count, at, code[static_cast<size_t>(at) - 1]));
  } else if (!code.empty()) {
    const auto first = std::find_if(code.begin(), code.end(), [](auto& l) { return !l.empty(); });
    out.item(fmt::format("cell [{}]: {}{}", in.execution_count, first == code.end() ? "" : *first,
                         code.size() > 1 ? " …" : ""));
  }
  if (!stack.empty() && !chosen.failed)
    out.item("  the thread that failed runs no Python; here Python is at:");
  if (!stack.empty() && aside && at > 0) out.item("  the thread that failed is another one, at:");
  for (size_t i = 0; i < stack.size() && i < kMostFrames; ++i) {
    const std::string file = is_cell_file(stack[i].file) ? "the cell" : stack[i].file;
    out.item(fmt::format("  {} line {} in {}", file, stack[i].line, stack[i].function));
    if (is_cell_file(stack[i].file) && stack[i].function == "<module>") break;
  }
}

}  // namespace

std::vector<PythonStack> python_stacks(const std::string& text) {
  std::vector<PythonStack> stacks;
  bool inside = false, main_thread = false;
  for (const auto& line : lines_of(text)) {
    main_thread = main_thread || line + "\n" == gate::kMainThread;
    const bool failed =
        starts_with(line, "Current thread ") || (starts_with(line, "Stack (most recent") && !main_thread);
    if (failed || starts_with(line, "Thread 0x") || starts_with(line, "Stack (most recent")) {
      stacks.push_back({failed, {}});
      inside = true;
      continue;
    }
    const size_t quote = line.find("\", line ");
    inside = inside && starts_with(line, "  File \"") && quote != std::string::npos;
    if (!inside) continue;
    const size_t number = quote + 8;
    const size_t in = line.find(" in ", number);
    PythonFrame frame{line.substr(8, quote - 8), std::atoi(line.c_str() + number), "?"};
    if (in != std::string::npos) frame.function = line.substr(in + 4);
    stacks.back().frames.push_back(frame);
  }
  return stacks;
}

PythonStack choose_stack(const std::vector<PythonStack>& stacks) {
  for (const auto& stack : stacks) {
    if (stack.failed && !stack.frames.empty()) return stack;
  }
  for (const auto& stack : stacks) {
    if (cell_line(stack.frames) > 0) return stack;
  }
  return stacks.empty() ? PythonStack{} : stacks.back();  // the oldest thread is the last
}

int cell_line(const std::vector<PythonFrame>& stack) {
  // The outermost cell frame is the cell itself; inner ones are functions that cells defined.
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
    if (is_cell_file(frame->file) && frame->function == "<module>") return frame->line;
  }
  return 0;
}

std::vector<std::string> note_lines(const NoteInput& in, bool colours) {
  Writer out(colours);
  out.lines.push_back(out.paint("1;31", "KernelDied") + ": " + in.verdict.title);
  out.heading(fmt::format("What it rests on ({})", in.verdict.certain ? "certain" : "likely, not certain"));
  for (const auto& text : in.verdict.evidence) out.item("- " + text);
  write_where(out, in);
  const auto words = own_words(in.last_words);
  if (!words.empty()) {
    out.heading("Its last words");
    for (const auto& text : words) out.item(text);
  }
  const auto chart = text_chart(in.samples, in.line);
  if (!chart.empty()) {
    out.heading("Memory of the kernel over the last minute");
    for (const auto& row : chart) out.lines.push_back(row);
  }
  out.heading("What to do");
  for (const auto& text : in.verdict.advice) out.item("- " + text);
  if (in.restarted) out.item("- a fresh kernel is ready: variables are gone, run the cells above again");
  if (in.report > 0) out.item(fmt::format("- all that is known: plimsoll report {}", in.report));
  return out.lines;
}

}  // namespace plimsoll::guard
