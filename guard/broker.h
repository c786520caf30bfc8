// The Broker stands between clients and kernel. It passes messages both ways untouched, keeps a list of
// the requests not yet answered, and when the kernel dies it answers them itself, closes what was open and
// has a new kernel started, so that no client ever waits for the dead one.
//
// It knows no socket and no process: it acts through Wire and Keeper, and time comes in by tick(). One
// thread.
#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "guard/connection.h"
#include "guard/kept_cells.h"
#include "guard/message.h"
#include "guard/utf8.h"

namespace plimsoll::guard {

using TimePoint = std::chrono::steady_clock::time_point;

// Sends frames. A message to the kernel goes to the one started last.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual void to_client(Channel channel, Frames frames) = 0;
  virtual void to_kernel(Channel channel, Frames frames) = 0;
};

// Starts and ends the kernel's process.
class Keeper {
 public:
  virtual ~Keeper() = default;
  // Starts a kernel, on sockets of its own. What comes of it is told by kernel_exited() and kernel_died().
  virtual void start() = 0;
  virtual void interrupt() = 0;
  virtual void terminate() = 0;
  // It answers, and nothing of any client's has run yet.
  virtual void is_ready() = 0;
  // A cell begins or ends; what end_of_cell() returns is shown in the cell (empty: nothing).
  virtual void begin_cell() = 0;
  virtual std::string end_of_cell() = 0;
};

// What a cell shows when its kernel died.
struct DeathNote {
  std::string ename;
  std::string evalue;
  std::vector<std::string> traceback;
  std::string short_text;  // for a cell that did not run when it happened
  std::string svg;         // memory over the last minute; empty: none
};

struct Cell {
  std::string msg_id;
  std::string code;
  int execution_count = 0;
  TimePoint since;
};

struct BrokerOptions {
  std::string language = "unknown";
  std::string setup_code;              // run silently in each new kernel (optional, default none)
  size_t most_held = size_t{1} << 30;  // bytes of requests that may wait for a kernel
};

class Broker {
 public:
  Broker(Wire& wire, Keeper& keeper, Signer& signer, BrokerOptions options);

  // Starts the first kernel.
  void start();

  void from_client(Channel channel, Frames frames);
  void from_kernel(Channel channel, Frames frames);
  // A client subscribed to `topic` of iopub.
  void subscribed(std::string_view topic);
  // Bytes that the kernel wrote to its file descriptor 1 or 2.
  void output(bool is_stderr, std::string_view bytes);
  // Text into the running cell, on its stderr; without one it is dropped.
  void say(std::string_view text);

  // The process has ended; requests wait from now on. Messages it sent before may still arrive.
  void kernel_exited();
  // All that the dead kernel sent has arrived, and this is why it died.
  void kernel_died(const DeathNote& note);
  void tick(TimePoint now);

  bool ready() const { return state_ == State::ready; }
  // A kernel that ended before it was ready would end so again: it is not restarted until a cell asks.
  bool starting() const { return state_ == State::starting; }
  // A client asked for the end: the next exit of the process is no death.
  bool shutting_down() const { return shutting_down_; }
  void begin_shutdown() { shutting_down_ = true; }
  // The oldest cell now running, if any.
  std::optional<Cell> running_cell() const;
  // The cell that will bear the note if the kernel has died now: the one running, else the first not
  // answered.
  std::optional<Cell> cell_to_blame() const;
  bool waiting_for_input() const { return !input_for_.empty(); }
  TimePoint last_output() const { return last_output_; }
  // Messages dropped because they were malformed or wrongly signed.
  int64_t rejected() const { return rejected_; }

 private:
  enum class State { starting, ready, exited, broken };

  struct Request {
    Channel channel;
    Envelope envelope;
    Frames identities;
    Frame header;
    Frame content;  // of an execute_request
    Frames whole;   // of a request that can be asked again
    bool busy = false, replied = false, idle = false;
    int execution_count = 0;
    TimePoint since;
  };
  struct Held {
    Channel channel;
    Envelope envelope;
    Frames frames;
  };
  using Requests = std::list<Request>;

  void forward(Channel channel, const Envelope& envelope, Frames frames);
  void hold(Held held);
  std::deque<Held> take_held();
  void track(Channel channel, const Envelope& envelope, Frames& frames);
  void control_request(const Envelope& envelope, Frames frames);
  bool handle_status(const Envelope& envelope, Frames& frames, const std::string& parent_id);
  void note_iopub(const Envelope& envelope, Frames& frames, const std::string& parent_id);
  void probe();
  void probe_answered();
  void become_ready();
  std::string run_silently(const std::string& code);
  void run_kept_cells();
  void answer_broken(Channel channel, const Envelope& envelope, Frames frames);
  void answer_kernel_info(Request& request);
  void end_request(Request& request, const DeathNote& note, bool& blamed);
  void publish_error(const Request& request, const DeathNote& note);
  void close_comms();
  void status(std::string_view parent_header, const char* state);
  void reply(Request& request, const nlohmann::json& content);
  void stream(std::string_view parent_header, const char* name, std::string_view text);
  Request make_request(Channel channel, const Envelope& envelope, Frames& frames);
  Requests::iterator find(const std::string& msg_id);
  const Request* current() const;
  const Request* first_unanswered() const;
  static Cell cell_of(const Request& request);

  Wire& wire_;
  Keeper& keeper_;
  Signer& signer_;
  BrokerOptions options_;
  Author author_;
  State state_ = State::starting;
  bool shutting_down_ = false;

  Requests requests_;
  std::deque<Held> held_;
  size_t held_bytes_ = 0;
  std::map<std::string, std::string> comms_;  // id -> header of the message that opened it
  std::set<std::string> own_ids_;             // requests the guard made itself
  std::string input_for_;                     // request whose input is awaited
  std::string last_parent_;                   // header of the cell that ran last
  std::string pending_notice_;                // for the next cell
  DeathNote broken_note_;
  KeptCells kept_;

  bool session_known_ = false, probe_replied_ = false, iopub_heard_ = false;
  int generation_ = 0, probes_ = 0, last_count_ = 0;
  TimePoint now_{}, probed_at_{}, last_output_{};
  Utf8Stream out_, err_;
  int64_t rejected_ = 0;
};

}  // namespace plimsoll::guard
