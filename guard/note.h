// The doctor's note: what a cell shows in place of "the kernel appears to have died". Pure.
#pragma once

#include <string>
#include <vector>

#include "guard/cause.h"

namespace plimsoll::guard {

// One frame of the Python stack that faulthandler wrote, innermost first.
struct PythonFrame {
  std::string file;
  int line = 0;
  std::string function;
};

// The stack of the thread that failed ("Current thread", else the first one) in a text by faulthandler.
std::vector<PythonFrame> python_stack(const std::string& text);

// The line of the cell that was running, from the frames of ipykernel's cell files; 0 if unknown.
int cell_line(const std::vector<PythonFrame>& stack);

struct NoteInput {
  Verdict verdict;
  std::vector<MemorySample> samples;
  int64_t line = 0;
  std::string code;  // of the cell
  int execution_count = 0;
  std::string last_words;
  int report = 0;  // number; 0: none was written
  bool restarted = true;
};

// The lines of the note, the first being "KernelDied: …". With ANSI colours if `colours`.
std::vector<std::string> note_lines(const NoteInput& input, bool colours);

}  // namespace plimsoll::guard
