#include "guard/kernel_guard.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "guard/broker.h"
#include "guard/files.h"
#include "guard/launch.h"
#include "guard/private_folder.h"
#include "guard/process.h"
#include "guard/signals.h"
#include "guard/zmq_wire.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr auto kSampleEvery = milliseconds(250);
constexpr auto kLastWordsReady = milliseconds(100);
constexpr auto kLastWordsStarting = milliseconds(20);
constexpr auto kTermGrace = milliseconds(1500);

class KernelGuard final : public Keeper {
 public:
  explicit KernelGuard(const GuardOptions& options)
      : options_(options),
        signals_({SIGCHLD, SIGINT, SIGTERM, SIGHUP}),
        front_(read_connection(options.connection_file)),
        signer_(front_.key, front_.scheme),
        wire_(front_),
        broker_(wire_, *this, signer_,
                {options.language, is_ipykernel(options.command) ? python_setup_code() : std::string()}) {
    if (auto parent = environment("JPY_PARENT_PID")) parent_ = std::atoi(parent->c_str());
    if (parent_ != ::getppid()) parent_ = 0;
    handlers_.from_client = [this](Channel c, Frames f) { broker_.from_client(c, std::move(f)); };
    handlers_.from_kernel = [this](Channel c, Frames f) { broker_.from_kernel(c, std::move(f)); };
    handlers_.subscribed = [this](std::string_view topic) { broker_.subscribed(topic); };
  }

  int run() {
    broker_.tick(Clock::now());
    broker_.start();
    while (!done_) turn();
    process_.kill_rest();
    wire_.close(1000);
    return 0;
  }

  // Keeper
  void start() override;
  void interrupt() override { process_.signal_group(SIGINT); }
  void terminate() override;
  void begin_cell() override {}
  // What the cell wrote to its descriptors comes before its `idle`.
  std::string end_of_cell() override {
    take_output();
    return {};
  }

 private:
  void turn();
  void take_signals();
  void take_output();
  void sample();
  void end_of_process();
  DeathNote explain();

  GuardOptions options_;
  SignalPipe signals_;
  PrivateFolder folder_;
  Connection front_;
  Signer signer_;
  ZmqWire wire_;
  Broker broker_;
  ZmqWire::Handlers handlers_;
  Process process_;
  Launch launch_;
  std::vector<zmq::pollitem_t> items_;
  std::optional<int> wait_status_;
  std::string start_error_;
  std::string last_words_;
  TimePoint now_{}, exited_at_{}, sampled_at_{};
  std::optional<TimePoint> kill_at_;
  int generation_ = 0;
  pid_t parent_ = 0;
  bool done_ = false;
};

void KernelGuard::start() {
  std::error_code ignored;
  std::filesystem::remove(launch_.connection_file, ignored);
  wait_status_.reset();
  start_error_.clear();
  last_words_.clear();
  launch_ = prepare_launch(options_, front_, folder_.path(), ++generation_);
  wire_.connect_kernel(launch_.connection);
  ProcessOptions how;
  how.argv = launch_.argv;
  how.environment = environment_with({concat("JPY_PARENT_PID=", ::getpid()), "PYTHONFAULTHANDLER=1"});
  how.stack_fd = kStackFd;
  try {
    process_ = Process::start(how);
  } catch (const Error& e) {
    process_ = Process();
    start_error_ = e.what();
    wait_status_ = 127 << 8;
    exited_at_ = now_;
  }
}

void KernelGuard::terminate() {
  process_.signal_group(SIGTERM);
  kill_at_ = now_ + kTermGrace;
  if (process_.pid() <= 0) done_ = true;
}

void KernelGuard::turn() {
  items_.clear();
  wire_.add_to(items_);
  items_.push_back({nullptr, signals_.fd(), ZMQ_POLLIN, 0});
  for (int fd : {process_.out(), process_.err(), process_.stacks()}) {
    if (fd >= 0) items_.push_back({nullptr, fd, ZMQ_POLLIN, 0});
  }
  zmq_poll(reinterpret_cast<zmq_pollitem_t*>(items_.data()), static_cast<int>(items_.size()),
           wait_status_ ? 5 : 100);
  now_ = Clock::now();
  broker_.tick(now_);
  take_signals();
  take_output();
  wire_.receive(handlers_);
  if (now_ - sampled_at_ >= kSampleEvery) sample();
  if (wait_status_) end_of_process();
  if (kill_at_ && now_ >= *kill_at_) process_.signal_group(SIGKILL);
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
  if (auto status = process_.poll()) {
    wait_status_ = status;
    exited_at_ = now_;
    broker_.kernel_exited();
  }
}

void KernelGuard::take_output() {
  if (process_.out() >= 0) {
    if (const std::string text = process_.read_out(); !text.empty()) broker_.output(false, text);
  }
  if (process_.err() >= 0) {
    if (const std::string text = process_.read_err(); !text.empty()) {
      last_words_ += text;
      broker_.output(true, text);
    }
  }
}

void KernelGuard::sample() {
  sampled_at_ = now_;
  // Jupyter's server is gone, and nobody will ask for the end.
  if (parent_ != 0 && ::getppid() != parent_) {
    broker_.begin_shutdown();
    terminate();
  }
}

// What the kernel sent before it died is still on its way; it belongs before the account of its death.
void KernelGuard::end_of_process() {
  const auto patience = broker_.starting() ? kLastWordsStarting : kLastWordsReady;
  if (!wire_.kernel_disconnected() && now_ - exited_at_ < patience) return;
  while (wire_.receive(handlers_)) {
  }
  take_output();
  process_.kill_rest();
  if (broker_.shutting_down()) {
    done_ = true;
    return;
  }
  const DeathNote note = explain();
  wait_status_.reset();
  broker_.kernel_died(note);
}

DeathNote KernelGuard::explain() {
  DeathNote note;
  note.ename = "KernelDied";
  note.evalue = WIFSIGNALED(*wait_status_) ? concat("signal ", WTERMSIG(*wait_status_))
                                           : concat("exit ", WEXITSTATUS(*wait_status_));
  note.traceback = {note.evalue, last_words_};
  note.short_text = note.evalue;
  return note;
}

}  // namespace

int guard_kernel(const GuardOptions& options) { return KernelGuard(options).run(); }

}  // namespace plimsoll::guard
