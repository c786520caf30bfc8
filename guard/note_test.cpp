#include "guard/note.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "guard/chart.h"
#include "guard/line.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {
namespace {

constexpr const char* kFault =
    "some warning\n"
    "Fatal Python error: Segmentation fault\n\n"
    "Thread 0x00007f01 (most recent call first):\n"
    "  File \"/usr/lib/python3/threading.py\", line 1 in run\n\n"
    "Current thread 0x00007f02 (most recent call first):\n"
    "  File \"/usr/lib/python3/ctypes/__init__.py\", line 519 in string_at\n"
    "  File \"/tmp/ipykernel_17/3489.py\", line 2 in inner\n"
    "  File \"/tmp/ipykernel_17/3489.py\", line 3 in <module>\n"
    "  File \"/env/ipykernel_launcher.py\", line 18 in <module>\n";

bool any_line_has(const std::vector<std::string>& lines, const std::string& what) {
  for (const auto& line : lines) {
    if (line.find(what) != std::string::npos) return true;
  }
  return false;
}

TEST(Note, FindsTheThreadThatFailed) {
  const auto stack = choose_stack(python_stacks(kFault)).frames;
  ASSERT_EQ(stack.size(), 4u);
  EXPECT_EQ(stack[0].function, "string_at");
  EXPECT_EQ(stack[0].line, 519);
  EXPECT_EQ(cell_line(stack), 3);
  EXPECT_EQ(cell_line({}), 0);
}

TEST(Note, NamesTheLineOfTheCell) {
  NoteInput in;
  in.verdict.title = "it broke";
  in.code = "import x\ndef inner(): x.f()\ninner()";
  in.execution_count = 7;
  in.last_words = kFault;
  in.report = 12;
  const auto lines = note_lines(in, false);
  EXPECT_EQ(lines[0], "KernelDied: it broke");
  EXPECT_TRUE(any_line_has(lines, "cell [7], line 3: inner()"));
  EXPECT_TRUE(any_line_has(lines, "some warning"));
  EXPECT_TRUE(any_line_has(lines, "plimsoll report 12"));
  EXPECT_FALSE(any_line_has(lines, "threading.py"));
  EXPECT_FALSE(any_line_has(lines, "\x1b"));
}

TEST(Note, NamesTheLineOfTheCellForAThreadWithoutPython) {
  NoteInput in;
  in.code = "import x\nx.f()";
  in.last_words =
      "Fatal Python error: Segmentation fault\n\n"
      "Thread 0x00007f01 [worker] (most recent call first):\n"
      "  File \"/usr/lib/python3/threading.py\", line 1 in run\n\n"
      "Thread 0x00007f02 [python] (most recent call first):\n"
      "  File \"/tmp/ipykernel_17/3489.py\", line 2 in <module>\n\n"
      "Thread 0x00007f03 [old] (most recent call first):\n"
      "  <no Python frame>\n";
  const auto lines = note_lines(in, false);
  EXPECT_TRUE(any_line_has(lines, "line 2: x.f()"));
  EXPECT_TRUE(any_line_has(lines, "runs no Python"));
  EXPECT_FALSE(any_line_has(lines, "threading.py"));
}

TEST(Note, NamesTheLineOfTheCellAndOfTheThreadThatFailed) {
  NoteInput in;
  in.code = "def f(): x.f()\nstart(f).join()";
  in.last_words =
      "Current thread 0x00007f01 (most recent call first):\n"
      "  File \"/tmp/ipykernel_17/3489.py\", line 1 in f\n\n"
      "Thread 0x00007f02 (most recent call first):\n"
      "  File \"/tmp/ipykernel_17/3489.py\", line 2 in <module>\n";
  const auto lines = note_lines(in, false);
  EXPECT_TRUE(any_line_has(lines, "line 2: start(f).join()"));
  EXPECT_TRUE(any_line_has(lines, "is another one"));
  EXPECT_TRUE(any_line_has(lines, "the cell line 1 in f"));
}

TEST(Note, ReadsTheStackOfOneThread) {
  const auto stacks = python_stacks("Stack (most recent call first):\n  File \"/a.py\", line 7 in g\n");
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_TRUE(stacks[0].failed);
  EXPECT_EQ(stacks[0].frames.at(0).line, 7);
}

TEST(Note, StandsEmptyAndBrokenInput) {
  EXPECT_FALSE(note_lines({}, true).empty());
  const auto cut = python_stacks("Current thread 0x1 (most recent call first):\n  File \"x");
  EXPECT_TRUE(choose_stack(cut).frames.empty());
  EXPECT_TRUE(choose_stack({}).frames.empty());
}

TEST(Chart, DrawsTheLineWhereMemoryComesNearIt) {
  const std::vector<MemorySample> samples = {{0, 1 << 20, 0, 0}, {30, 2 << 20, 0, 0}, {60, 4 << 20, 0, 0}};
  EXPECT_TRUE(any_line_has(text_chart(samples, 5 << 20), "the line"));
  EXPECT_FALSE(any_line_has(text_chart(samples, int64_t{1} << 40), "the line"));
  EXPECT_NE(svg_chart(samples, 5 << 20).find("<svg"), std::string::npos);
  EXPECT_TRUE(text_chart({}, 5).empty());
  EXPECT_TRUE(svg_chart({}, 5).empty());
}

TEST(Line, WarningsSayWhenItIsReachedOrThatItIs) {
  constexpr int64_t kMiB = 1 << 20;
  EXPECT_EQ(when_reached(100 * kMiB, 90 * kMiB, 0), "");
  EXPECT_EQ(when_reached(100 * kMiB, 90 * kMiB, 4.0 * kMiB),
            ", growing by 4.0 MiB/s; the line is reached in 3 s");
  EXPECT_EQ(when_reached(100 * kMiB, 99 * kMiB, 4.0 * kMiB),
            ", growing by 4.0 MiB/s; the line is reached in 1 s");
  EXPECT_EQ(when_reached(100 * kMiB, 120 * kMiB, 4.0 * kMiB),
            ", growing by 4.0 MiB/s; that is over the line");
  EXPECT_EQ(when_reached(100 * kMiB, 120 * kMiB, 0), "; that is over the line");
}

}  // namespace
}  // namespace plimsoll::guard
