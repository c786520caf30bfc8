#include "guard/kernel_guard.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "guard/broker.h"
#include "guard/chart.h"
#include "guard/files.h"
#include "guard/gate/page.h"
#include "guard/launch.h"
#include "guard/note.h"
#include "guard/private_folder.h"
#include "guard/report.h"
#include "guard/signals.h"
#include "guard/stall_watch.h"
#include "guard/transport.h"
#include "guard/ward.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr auto kLastWordsReady = milliseconds(100);
constexpr auto kLastWordsStarting = milliseconds(20);
constexpr auto kTermGrace = milliseconds(1500);
// A cell that does not heed an interrupt for so long is ended, if a timeout was asked for.
constexpr auto kStallGrace = std::chrono::seconds(10);

// One message that cannot be dealt with must not end the guard: it is all that holds the connection.
template <class Function>
void safely(Function function) {
  try {
    function();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "plimsoll-guard: %s\n", e.what());
  }
}

double seconds(TimePoint time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

class KernelGuard final : public Keeper {
 public:
  explicit KernelGuard(const GuardOptions& options)
      : options_(options),
        signals_({SIGCHLD, SIGINT, SIGTERM, SIGHUP}),
        front_(read_connection(options.connection_file)),
        signer_(front_.key, front_.scheme),
        wire_(make_transport(front_)),
        ward_(options, folder_.path()),
        stall_(options.stall_notice, options.stall_timeout),
        broker_(*wire_, *this, signer_,
                {options.language, is_ipykernel(options.command) ? python_setup_code() : std::string()}) {
    ward_.watch_stalls();
    if (auto parent = environment("JPY_PARENT_PID")) parent_ = std::atoi(parent->c_str());
    if (parent_ != ::getppid()) parent_ = 0;
    Transport::Handlers handlers;
    handlers.from_client = [this](Channel c, Frames f) {
      safely([&] { broker_.from_client(c, std::move(f)); });
    };
    handlers.from_kernel = [this](Channel c, Frames f) {
      safely([&] { broker_.from_kernel(c, std::move(f)); });
    };
    handlers.subscribed = [this](std::string_view topic) { safely([&] { broker_.subscribed(topic); }); };
    handlers.passes_at_once = [this] { return broker_.ready(); };
    wire_->set_handlers(std::move(handlers));
  }

  int run() {
    tell_time();
    broker_.start();
    while (!done_) turn();
    ward_.process().kill_rest();
    wire_->close(1000);
    return 0;
  }

  // Keeper
  void start() override;
  void interrupt() override { ward_.process().signal_group(SIGINT); }
  void terminate() override;
  void is_ready() override { stall_.begin_process(ward_.process().pid()); }
  void begin_cell() override;
  std::string end_of_cell() override;

 private:
  void tell_time();
  void turn();
  void take_signals();
  void take_output();
  void sample();
  void look_for_stalls();
  void end_of_process();
  DeathNote explain();

  GuardOptions options_;
  SignalPipe signals_;
  PrivateFolder folder_;
  Connection front_;
  Signer signer_;
  std::unique_ptr<Transport> wire_;
  Ward ward_;
  StallWatch stall_;
  Broker broker_;
  Launch launch_;
  std::vector<pollfd> fds_;
  TimePoint now_{}, exited_at_{}, sampled_at_{};
  TimePoint looked_at_{};
  std::optional<TimePoint> kill_at_, stall_kill_at_;
  std::string stall_seen_;  // when the cell was interrupted
  int generation_ = 0;
  pid_t parent_ = 0;
  bool done_ = false, running_ = false;
};

void KernelGuard::tell_time() {
  now_ = Clock::now();
  broker_.tick(now_);
}

void KernelGuard::start() {
  exited_at_ = now_;
  stall_kill_at_.reset();
  std::error_code ignored;
  std::filesystem::remove(launch_.connection_file, ignored);
  try {
    folder_.restore();
    launch_ = prepare_launch(options_, front_, folder_.path(), ++generation_);
    wire_->connect_kernel(launch_.connection);
    ProcessOptions how;
    how.argv = launch_.argv;
    how.stack_fd = gate::kStackFd;
    ward_.start(how, {concat("JPY_PARENT_PID=", ::getpid())}, seconds(now_));
  } catch (const Error& e) {  // a full disk, for instance: the next cell tells of it and tries once more
    ward_.fail_start(e.what(), seconds(now_));
  }
}

void KernelGuard::begin_cell() {
  ward_.begin_cell(seconds(now_));
  stall_.begin_cell(seconds(now_));
  stall_kill_at_.reset();
  running_ = true;
}

void KernelGuard::terminate() {
  ward_.process().signal_group(SIGTERM);
  kill_at_ = now_ + kTermGrace;
  if (ward_.process().pid() <= 0) done_ = true;
}

void KernelGuard::turn() {
  fds_.assign(1, {signals_.fd(), POLLIN, 0});
  Process& process = ward_.process();
  for (int fd : {process.out(), process.err(), process.stacks()}) {
    if (fd >= 0) fds_.push_back({fd, POLLIN, 0});
  }
  const double until_sample = seconds(sampled_at_) + ward_.sample_interval(running_) - seconds(now_);
  const double wait = ward_.ended() ? 0.005 : broker_.ready() ? std::max(0.001, until_sample) : 0.05;
  wire_->wait(fds_, static_cast<int>(wait * 1e3));
  tell_time();
  // Most turns pass a message and nothing else; they make no other system call.
  bool any_fd = ward_.ended().has_value();
  for (const auto& fd : fds_) any_fd = any_fd || fd.revents != 0;
  if (any_fd) take_signals();
  // Messages first: what a cell writes to its descriptors belongs to it only once its `busy` has been seen.
  wire_->receive();
  if (any_fd) take_output();
  if (seconds(now_) - seconds(sampled_at_) >= ward_.sample_interval(running_)) sample();
  if (ward_.ended()) end_of_process();
  if (kill_at_ && now_ >= *kill_at_) ward_.process().signal_group(SIGKILL);
}

void KernelGuard::take_signals() {
  for (char signal : signals_.take()) {
    switch (signal) {
      case SIGINT: interrupt(); break;
      case SIGTERM:
      case SIGHUP:
        broker_.begin_shutdown();
        terminate();
        break;
      default: break;
    }
  }
  if (ward_.poll(seconds(now_))) {
    exited_at_ = now_;
    broker_.kernel_exited();
  }
}

void KernelGuard::take_output() {
  Process& process = ward_.process();
  if (const std::string text = process.read_out(); !text.empty()) {
    if (!broker_.ready())
      ward_.hear(text, seconds(now_));  // no cell shows it, and it may say why there is none
    broker_.output(false, text);
  }
  if (const std::string text = process.read_stacks(); !text.empty()) {
    stall_.hear_stack(text);
    ward_.hear_stacks(text);
  }
  if (const std::string text = process.read_err(); !text.empty()) {
    const bool show = ward_.hear(text, seconds(now_));
    // Before it can answer, a kernel talks to whoever started it.
    if (!broker_.ready()) {
      std::fputs(text.c_str(), stderr);
    } else if (show) {
      broker_.output(true, text);
    }
  }
}

// A cell that stands still is told of, and interrupted only if that was asked for.
void KernelGuard::look_for_stalls() {
  if (now_ - looked_at_ < std::chrono::seconds(1)) return;
  looked_at_ = now_;
  const auto cell = broker_.running_cell();
  if (!cell) return;
  StallWatch::Look look;
  look.pid = ward_.process().pid();
  look.now = seconds(now_);
  look.last_sign = std::max(seconds(broker_.last_output()), seconds(cell->since));
  look.waiting_for_input = broker_.waiting_for_input();
  look.alarm = static_cast<Alarm>(ward_.alarm());
  if (const std::string text = stall_.look(look); !text.empty()) broker_.say(text);
  // After the look: while it writes its stacks the process seems to be at work.
  if (stall_.wants_stack(look.now, look.last_sign)) ward_.ask_for_stack();
  if (stall_.must_interrupt()) {
    broker_.say("plimsoll: interrupted, as --stall-timeout asks.\n");
    interrupt();
    stall_seen_ = stall_.seen();
    stall_kill_at_ = now_ + kStallGrace;
  }
  if (stall_kill_at_ && now_ >= *stall_kill_at_) {
    ward_.blame_stall(stall_seen_);
    ward_.process().signal_group(SIGKILL);
    stall_kill_at_.reset();
  }
}

// What the cell wrote to its descriptors comes before its `idle`.
std::string KernelGuard::end_of_cell() {
  take_output();
  ward_.end_cell();
  return ward_.refusals_text();
}

void KernelGuard::sample() {
  sampled_at_ = now_;
  take_signals();
  // Jupyter's server is gone, and nobody will ask for the end.
  if (parent_ != 0 && ::getppid() != parent_) {
    broker_.begin_shutdown();
    terminate();
  }
  running_ = broker_.running_cell().has_value();
  const std::string warning = ward_.sample(seconds(now_));
  if (!running_) return;
  look_for_stalls();
  if (!warning.empty()) broker_.say(warning);
  if (ward_.must_interrupt()) {
    broker_.say(
        "plimsoll: over the memory line; the cell is interrupted before the system kills the kernel.\n");
    interrupt();
  }
}

// What the kernel sent before it died is still on its way; it belongs before the account of its death.
void KernelGuard::end_of_process() {
  const auto patience = broker_.starting() ? kLastWordsStarting : kLastWordsReady;
  if (!wire_->kernel_disconnected() && now_ - exited_at_ < patience) return;
  wire_->drain();
  take_output();
  ward_.process().kill_rest();
  if (broker_.shutting_down()) {
    done_ = true;
    return;
  }
  const DeathNote note = explain();
  ward_.forget_end();
  broker_.kernel_died(note);
}

DeathNote KernelGuard::explain() {
  const auto cell = broker_.cell_to_blame();
  ReportInput report;
  report.name = options_.name;
  report.command = options_.command;
  report.evidence = ward_.evidence(broker_.starting(), seconds(now_));
  report.verdict = judge(report.evidence);
  if (cell) {
    report.code = cell->code;
    report.execution_count = cell->execution_count;
    report.cell_seconds = seconds(now_) - seconds(cell->since);
  }
  NoteInput input{report.verdict,
                  report.evidence.samples,
                  report.evidence.line,
                  report.code,
                  report.execution_count,
                  report.evidence.last_words,
                  0,
                  !report.evidence.at_start,
                  report.evidence.stacks};
  report.note = note_lines(input, /*colours=*/false);
  input.report = write_report(reports_folder(), report);

  DeathNote note;
  note.ename = "KernelDied";
  note.evalue = report.verdict.title;
  note.traceback = note_lines(input, /*colours=*/true);
  note.short_text = fmt::format(
      "plimsoll: the kernel died before this cell ran: {}. Variables are gone; run the cells above "
      "again{}.\n",
      report.verdict.title, input.report > 0 ? fmt::format(" (plimsoll report {})", input.report) : "");
  if (is_memory(report.verdict.cause)) note.svg = svg_chart(report.evidence.samples, report.evidence.line);
  return note;
}

}  // namespace

int guard_kernel(const GuardOptions& options) { return KernelGuard(options).run(); }

}  // namespace plimsoll::guard
