#include "guard/broker.h"

#include <algorithm>
#include <utility>

#include "guard/request_types.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

using nlohmann::json;

namespace {

constexpr auto kProbeAgain = std::chrono::milliseconds(100);
constexpr int kMostProbes = 20;
constexpr size_t kMostRequests = 10000;

}  // namespace

Broker::Broker(Wire& wire, Keeper& keeper, Signer& signer, BrokerOptions options)
    : wire_(wire),
      keeper_(keeper),
      signer_(signer),
      options_(std::move(options)),
      author_(signer, random_hex()) {}

void Broker::start() {
  state_ = State::starting;
  session_known_ = probe_replied_ = iopub_heard_ = false;
  probes_ = last_count_ = 0;
  ++generation_;
  own_ids_.clear();
  keeper_.start();
  probe();
}

// A kernel is ready once it has answered on shell and was heard on iopub: a subscription takes its time,
// and what a cell prints before it is in place would be lost.
void Broker::probe() {
  Author self(signer_, "plimsoll-guard");
  Frames frames = self.make("kernel_info_request", {}, "{}", json::object());
  own_ids_.insert(self.last_id());
  ++probes_;
  probed_at_ = now_;
  wire_.to_kernel(Channel::shell, std::move(frames));
}

void Broker::probe_answered() {
  if (state_ == State::starting && probe_replied_ && (iopub_heard_ || probes_ >= kMostProbes)) become_ready();
}

void Broker::become_ready() {
  state_ = State::ready;
  keeper_.is_ready();
  if (!options_.setup_code.empty()) run_silently(options_.setup_code);
  run_kept_cells();
  // Clients saw `starting`; what the probe provoked was kept from them, so they are told of `idle`.
  if (generation_ > 1) status("{}", "idle");
  auto held = take_held();
  for (auto& h : held) forward(h.channel, h.envelope, std::move(h.frames));
}

// Returns the id of the request; what comes of it no client sees.
std::string Broker::run_silently(const std::string& code) {
  Author self(signer_, "plimsoll-guard");
  const json content = {{"code", code},           {"silent", true},
                        {"store_history", false}, {"user_expressions", json::object()},
                        {"allow_stdin", false},   {"stop_on_error", false}};
  Frames frames = self.make("execute_request", {}, "{}", content);
  own_ids_.insert(self.last_id());
  wire_.to_kernel(Channel::shell, std::move(frames));
  return self.last_id();
}

// What waits for the new kernel comes behind them in its queue.
void Broker::run_kept_cells() {
  std::set<std::string> ids;
  for (const auto& code : kept_.codes()) ids.insert(run_silently(code));
  kept_.begin(std::move(ids));
}

void Broker::tick(TimePoint now) {
  now_ = now;
  if (state_ != State::starting || now_ - probed_at_ < kProbeAgain) return;
  if (probe_replied_ && probes_ < kMostProbes) {
    probe();
  } else {
    probe_answered();
  }
}

// ---- from clients ------------------------------------------------------------------------------

void Broker::from_client(Channel channel, Frames frames) {
  auto envelope = open_envelope(frames);
  if (!envelope || envelope->delimiter == 0 || !signature_fits(signer_, frames, envelope->delimiter)) {
    ++rejected_;
    return;
  }
  if (channel == Channel::stdin_) {
    input_for_.clear();
    last_output_ = now_;  // the cell has been given something to do only now
    if (state_ == State::ready) wire_.to_kernel(channel, std::move(frames));
    return;
  }
  if (channel == Channel::control) return control_request(*envelope, std::move(frames));
  if (state_ == State::ready) return forward(channel, *envelope, std::move(frames));
  if (state_ == State::broken) return answer_broken(channel, *envelope, std::move(frames));
  hold({channel, std::move(*envelope), std::move(frames)});
}

void Broker::control_request(const Envelope& envelope, Frames frames) {
  if (state_ == State::ready) {
    if (envelope.msg_type == "shutdown_request") shutting_down_ = true;
    return forward(Channel::control, envelope, std::move(frames));
  }
  if (envelope.msg_type == "shutdown_request") {
    shutting_down_ = true;
    Request request = make_request(Channel::control, envelope, frames);
    const json asked = json::parse(text_of(frames[envelope.content()]), nullptr, false);
    const bool restart = asked.is_object() && asked.contains("restart") && asked["restart"] == json(true);
    reply(request, {{"status", "ok"}, {"restart", restart}});
    return keeper_.terminate();
  }
  if (envelope.msg_type == "interrupt_request") {
    Request request = make_request(Channel::control, envelope, frames);
    keeper_.interrupt();
    return reply(request, {{"status", "ok"}});
  }
  if (state_ == State::broken) return answer_broken(Channel::control, envelope, std::move(frames));
  hold({Channel::control, envelope, std::move(frames)});
}

// A request that finds no room is answered with an error at once; one that asks for no answer is left out.
void Broker::hold(Held held) {
  constexpr size_t kEach = 1024;  // what a message takes beside its bytes
  size_t bytes = kEach;
  for (const auto& frame : held.frames) bytes += text_of(frame).size();
  if (bytes <= options_.most_held - held_bytes_) {
    held_bytes_ += bytes;
    held_.push_back(std::move(held));
    return;
  }
  if (!has_reply(held.envelope.msg_type)) return;
  DeathNote note;
  note.ename = "KernelNotReady";
  note.evalue =
      concat("no kernel is ready, and requests of ", held_bytes_, " bytes wait for it: this one, of ", bytes,
             " bytes, would be more than the guard holds (", options_.most_held, "). Send it again later");
  note.traceback = {note.ename + ": " + note.evalue};
  bool blamed = false;
  Request request = make_request(held.channel, held.envelope, held.frames);
  end_request(request, note, blamed);
}

std::deque<Broker::Held> Broker::take_held() {
  held_bytes_ = 0;
  return std::exchange(held_, {});
}

void Broker::forward(Channel channel, const Envelope& envelope, Frames frames) {
  track(channel, envelope, frames);
  wire_.to_kernel(channel, std::move(frames));
}

Broker::Request Broker::make_request(Channel channel, const Envelope& envelope, Frames& frames) {
  Request request{};
  request.channel = channel;
  request.envelope = envelope;
  for (size_t i = 0; i < envelope.delimiter; ++i) request.identities.push_back(share(frames[i]));
  request.header = share(frames[envelope.header()]);
  request.since = now_;
  request.execution_count = last_count_ + 1;
  return request;
}

void Broker::track(Channel channel, const Envelope& envelope, Frames& frames) {
  if (envelope.msg_type == "comm_open" || envelope.msg_type == "comm_close") {
    if (auto id = string_member(text_of(frames[envelope.content()]), "comm_id")) {
      if (envelope.msg_type == "comm_open") {
        comms_[*id] = std::string(text_of(frames[envelope.header()]));
      } else {
        comms_.erase(*id);
      }
    }
  }
  if (!has_reply(envelope.msg_type)) return;
  Request request = make_request(channel, envelope, frames);
  if (envelope.msg_type == "execute_request") request.content = share(frames[envelope.content()]);
  if (can_be_asked_again(envelope.msg_type)) {
    for (auto& frame : frames) request.whole.push_back(share(frame));
  }
  requests_.push_back(std::move(request));
  // A kernel that never says idle must not fill the list.
  if (requests_.size() > kMostRequests && requests_.front().replied) requests_.pop_front();
}

// ---- from the kernel ---------------------------------------------------------------------------

Broker::Requests::iterator Broker::find(const std::string& msg_id) {
  return std::find_if(requests_.begin(), requests_.end(),
                      [&](auto& r) { return r.envelope.msg_id == msg_id; });
}

const Broker::Request* Broker::current() const {
  for (const auto& r : requests_) {
    if (r.busy && r.envelope.msg_type == "execute_request") return &r;
  }
  return nullptr;
}

const Broker::Request* Broker::first_unanswered() const {
  for (const auto& r : requests_) {
    if (r.envelope.msg_type == "execute_request" && !r.replied) return &r;
  }
  return nullptr;
}

Cell Broker::cell_of(const Request& r) {
  return {r.envelope.msg_id, string_member(text_of(r.content), "code").value_or(""), r.execution_count,
          r.since};
}

// A kernel that never got as far as to say that it is busy runs it all the same: native code may keep Python
// from saying anything.
std::optional<Cell> Broker::running_cell() const {
  const Request* r = current() ? current() : first_unanswered();
  if (!r) return std::nullopt;
  return cell_of(*r);
}

std::optional<Cell> Broker::cell_to_blame() const {
  if (const auto cell = running_cell()) return cell;
  for (const auto& h : held_) {
    if (h.envelope.msg_type != "execute_request") continue;
    return Cell{h.envelope.msg_id,
                string_member(text_of(h.frames[h.envelope.content()]), "code").value_or(""), 0, now_};
  }
  return std::nullopt;
}

void Broker::from_kernel(Channel channel, Frames frames) {
  auto envelope = open_envelope(frames);
  if (!envelope) {
    ++rejected_;
    return;
  }
  if (!session_known_ && !envelope->session.empty()) {
    author_.set_session(envelope->session);
    session_known_ = true;
  }
  const std::string parent_id = string_member(text_of(frames[envelope->parent()]), "msg_id").value_or("");
  const bool own = own_ids_.count(parent_id) != 0;
  if (channel == Channel::iopub) {
    iopub_heard_ = true;
    probe_answered();
    if (own)
      pending_notice_ += kept_.hear(parent_id, envelope->msg_type, text_of(frames[envelope->content()]));
    if (own || envelope->msg_type == "iopub_welcome") return;
    if (handle_status(*envelope, frames, parent_id)) return;
    note_iopub(*envelope, frames, parent_id);
    return wire_.to_client(channel, std::move(frames));
  }
  if (own) {
    probe_replied_ = true;
    return probe_answered();
  }
  if (channel == Channel::stdin_) {
    input_for_ = parent_id;
  } else if (auto request = find(parent_id); request != requests_.end()) {
    request->replied = true;
    if (request->envelope.msg_type == "execute_request" &&
        string_member(text_of(frames[envelope->content()]), "status") == "ok") {
      kept_.ended_well(cell_of(*request).code);
    }
    // A cell is over when it is idle as well: its status comes by another way and may be late. Of the other
    // requests some kernels publish no status.
    if (request->idle || request->envelope.msg_type != "execute_request") requests_.erase(request);
  }
  wire_.to_client(channel, std::move(frames));
}

// Returns true if the message was dealt with and must not be passed on.
bool Broker::handle_status(const Envelope& envelope, Frames& frames, const std::string& parent_id) {
  if (envelope.msg_type != "status") return false;
  const auto state = string_member(text_of(frames[envelope.content()]), "execution_state");
  auto request = find(parent_id);
  if (!state || request == requests_.end() || request->envelope.msg_type != "execute_request") return false;
  if (*state == "busy" && !request->busy) {
    request->busy = true;
    request->since = last_output_ = now_;
    last_parent_ = text_of(request->header);
    keeper_.begin_cell();
    wire_.to_client(Channel::iopub, std::move(frames));
    if (!pending_notice_.empty()) stream(last_parent_, "stderr", pending_notice_);
    pending_notice_.clear();
    return true;
  }
  if (*state == "idle") {
    if (const std::string text = keeper_.end_of_cell(); !text.empty())
      stream(text_of(request->header), "stderr", text);
    if (input_for_ == parent_id) input_for_.clear();
    request->busy = false;
    request->idle = true;
    if (request->replied) requests_.erase(request);
  }
  return false;
}

void Broker::note_iopub(const Envelope& envelope, Frames& frames, const std::string& parent_id) {
  last_output_ = now_;
  const std::string_view content = text_of(frames[envelope.content()]);
  if (envelope.msg_type == "comm_open") {
    if (auto id = string_member(content, "comm_id"))
      comms_[*id] = std::string(text_of(frames[envelope.parent()]));
  } else if (envelope.msg_type == "comm_close") {
    if (auto id = string_member(content, "comm_id")) comms_.erase(*id);
  } else if (envelope.msg_type == "execute_input") {
    const json parsed = json::parse(content, nullptr, false);
    auto request = find(parent_id);
    if (request != requests_.end() && parsed.is_object() && parsed.contains("execution_count") &&
        parsed["execution_count"].is_number_integer()) {
      last_count_ = request->execution_count = parsed["execution_count"].get<int>();
    }
  }
}

void Broker::subscribed(std::string_view topic) {
  Frames identities;
  if (!topic.empty()) identities.push_back(frame_of(topic));
  wire_.to_client(Channel::iopub,
                  author_.make("iopub_welcome", std::move(identities), "{}", {{"subscription", topic}}));
}

void Broker::output(bool is_stderr, std::string_view bytes) {
  const std::string text = (is_stderr ? err_ : out_).take(bytes);
  if (text.empty()) return;
  last_output_ = now_;
  // Output and `busy` travel by different ways: what comes first belongs to the cell that is to begin.
  const Request* request = current();
  if (!request) request = first_unanswered();
  stream(request ? text_of(request->header) : std::string_view(last_parent_), is_stderr ? "stderr" : "stdout",
         text);
}

void Broker::say(std::string_view text) {
  const Request* request = current() ? current() : first_unanswered();
  if (request) stream(text_of(request->header), "stderr", text);
}

// ---- death -------------------------------------------------------------------------------------

void Broker::kernel_exited() {
  if (state_ == State::ready) state_ = State::exited;
}

// ---- messages of our own -----------------------------------------------------------------------

void Broker::status(std::string_view parent_header, const char* state) {
  wire_.to_client(Channel::iopub, author_.make("status", {}, parent_header, {{"execution_state", state}}));
}

void Broker::stream(std::string_view parent_header, const char* name, std::string_view text) {
  wire_.to_client(Channel::iopub,
                  author_.make("stream", {}, parent_header, {{"name", name}, {"text", text}}));
}

void Broker::reply(Request& request, const json& content) {
  Frames identities;
  for (auto& id : request.identities) identities.push_back(share(id));
  const json metadata = {{"status", content.value("status", "ok")}};
  wire_.to_client(request.channel, author_.make(reply_type(request.envelope.msg_type), std::move(identities),
                                                text_of(request.header), content, metadata));
}

}  // namespace plimsoll::guard
