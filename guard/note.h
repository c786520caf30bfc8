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

struct PythonStack {
  bool failed = false;  // it is the thread that had the fault, or was asked
  std::vector<PythonFrame> frames;
};

// The stacks in a text by faulthandler (Python 3.9 to 3.14): of all threads, the newest first, or of one.
std::vector<PythonStack> python_stacks(const std::string& text);

// That of the thread that failed; of a thread that runs no Python there is none: then the cell's, else the
// main thread's.
PythonStack choose_stack(const std::vector<PythonStack>& stacks);

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
  std::string stacks;  // Python's, as asked for at the fault
};

// The lines of the note, the first being "KernelDied: …". With ANSI colours if `colours`.
std::vector<std::string> note_lines(const NoteInput& input, bool colours);

}  // namespace plimsoll::guard
