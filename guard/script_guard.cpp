#include "guard/script_guard.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "guard/gate/page.h"
#include "guard/note.h"
#include "guard/private_folder.h"
#include "guard/report.h"
#include "guard/signals.h"
#include "guard/ward.h"

namespace plimsoll::guard {

namespace {

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void to_stderr(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// Takes what there is on the process's stderr; a fatal error's text is shown too, for a script has no cell to
// hold it.
bool pass_errors(Ward& ward) {
  ward.hear_stacks(ward.process().read_stacks());
  const std::string text = ward.process().read_err();
  if (text.empty()) return false;
  ward.hear(text, clock_seconds());
  to_stderr(text);
  return true;
}

void run(Ward& ward, SignalPipe& signals) {
  double sampled = 0;
  while (!ward.ended()) {
    const double now = clock_seconds();
    const double wait = std::max(0.0, sampled + ward.sample_interval(true) - now);
    pollfd fds[2] = {{signals.fd(), POLLIN, 0}, {ward.process().err(), POLLIN, 0}};
    ::poll(fds, ward.process().err() >= 0 ? 2 : 1, static_cast<int>(wait * 1e3) + 1);
    for (char signal : signals.take()) {
      if (signal != SIGCHLD) ward.process().signal_group(signal);
    }
    pass_errors(ward);
    ward.poll(clock_seconds());
    if (clock_seconds() - sampled < ward.sample_interval(true)) continue;
    sampled = clock_seconds();
    to_stderr(ward.sample(sampled));
    to_stderr(ward.refusals_text());
    if (ward.must_interrupt()) {
      to_stderr("plimsoll: over the memory line; the program is interrupted before the system kills it.\n");
      ward.process().signal_group(SIGINT);
    }
  }
  while (pass_errors(ward)) {
  }
  to_stderr(ward.refusals_text());
}

// An exit status is the program's own affair; only what it did not choose is explained.
bool needs_note(const Evidence& e) {
  if (!e.start_error.empty()) return true;
  const int signal = WIFSIGNALED(e.wait_status) ? WTERMSIG(e.wait_status) : 0;
  return signal != 0 && signal != SIGINT && signal != SIGTERM && signal != SIGHUP && signal != SIGPIPE;
}

}  // namespace

int guard_script(const GuardOptions& options) {
  SignalPipe signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP});
  PrivateFolder folder;
  Ward ward(options, folder.path());
  ProcessOptions how;
  how.argv = options.command;
  how.capture = false;
  how.keep_stdin = true;
  how.stack_fd = gate::kStackFd;
  ward.start(how, {}, clock_seconds());
  run(ward, signals);

  ReportInput report;
  report.name = options.command[0];
  report.command = options.command;
  report.evidence = ward.evidence(false, clock_seconds());
  ward.process().kill_rest();
  if (::isatty(0)) {
    ::signal(SIGTTOU, SIG_IGN);
    ::tcsetpgrp(0, ::getpgrp());
  }
  if (needs_note(report.evidence)) {
    report.verdict = judge(report.evidence);
    NoteInput input{
        report.verdict, report.evidence.samples, report.evidence.line, "", 0, report.evidence.last_words, 0,
        false,          report.evidence.stacks};
    report.note = note_lines(input, false);
    input.report = write_report(reports_folder(), report);
    for (const auto& line : note_lines(input, ::isatty(2) != 0)) to_stderr(line + "\n");
  }
  const int status = report.evidence.wait_status;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace plimsoll::guard
