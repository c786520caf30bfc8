// What the broker says when a kernel has died, and while none can be started.
#include <utility>

#include "guard/broker.h"
#include "guard/request_types.h"

namespace plimsoll::guard {

using nlohmann::json;

namespace {

json error_content(const DeathNote& note) {
  return {{"status", "error"}, {"ename", note.ename}, {"evalue", note.evalue}, {"traceback", note.traceback}};
}

}  // namespace

void Broker::kernel_died(const DeathNote& note) {
  const bool at_start = state_ == State::starting;
  bool blamed = false;
  Requests requests;
  requests.swap(requests_);
  auto held = take_held();
  // The cell that ran comes first: it bears the explanation, whatever waited before it in another subshell.
  for (auto& r : requests) {
    if (r.busy && r.envelope.msg_type == "execute_request") end_request(r, note, blamed);
  }
  for (auto& r : requests) {
    if (r.busy && r.envelope.msg_type == "execute_request") continue;
    if (!r.whole.empty() && r.envelope.subshell_id.empty()) {
      hold({r.channel, r.envelope, std::move(r.whole)});
    } else {
      end_request(r, note, blamed);
    }
  }
  for (auto& h : held) {
    if (can_be_asked_again(h.envelope.msg_type) && h.envelope.subshell_id.empty()) {
      hold(std::move(h));
    } else if (has_reply(h.envelope.msg_type)) {
      Request r = make_request(h.channel, h.envelope, h.frames);
      end_request(r, note, blamed);
    }
  }
  close_comms();
  input_for_.clear();
  if (!blamed) pending_notice_ = note.short_text;
  pending_notice_ += kept_.kernel_died();
  if (!at_start) return start();

  state_ = State::broken;
  broken_note_ = note;
  auto waiting = take_held();
  for (auto& h : waiting) answer_broken(h.channel, h.envelope, std::move(h.frames));
}

// Ends one request for good. The first cell that has no answer yet is told why; those behind it are aborted.
void Broker::end_request(Request& r, const DeathNote& note, bool& blamed) {
  const std::string header(text_of(r.header));
  if (r.envelope.msg_type != "execute_request") {
    if (!r.replied) reply(r, error_content(note));
    return status(header, "idle");
  }
  if (!r.busy && !r.replied) status(header, "busy");
  if (!r.replied && (r.busy || !blamed)) {
    publish_error(r, note);
    json content = error_content(note);
    content["execution_count"] = r.execution_count;
    content["user_expressions"] = json::object();
    content["payload"] = json::array();
    reply(r, content);
    blamed = true;
  } else if (!r.replied) {
    reply(r, {{"status", "aborted"}});
  }
  status(header, "idle");
}

void Broker::publish_error(const Request& r, const DeathNote& note) {
  const std::string_view header = text_of(r.header);
  if (!note.svg.empty()) {
    const json data = {{"image/svg+xml", note.svg},
                       {"text/plain", "<memory of the kernel over the last minute>"}};
    const json content = {{"data", data}, {"metadata", json::object()}, {"transient", json::object()}};
    wire_.to_client(Channel::iopub, author_.make("display_data", {}, header, content));
  }
  const json content = {{"ename", note.ename}, {"evalue", note.evalue}, {"traceback", note.traceback}};
  wire_.to_client(Channel::iopub, author_.make("error", {}, header, content));
}

void Broker::close_comms() {
  for (const auto& [id, header] : comms_) {
    const json content = {{"comm_id", id}, {"data", json::object()}};
    wire_.to_client(Channel::iopub, author_.make("comm_close", {}, header, content));
  }
  comms_.clear();
}

// While no kernel can be started, what needs none is answered here, and a cell has it tried once more.
void Broker::answer_broken(Channel channel, const Envelope& envelope, Frames frames) {
  if (!has_reply(envelope.msg_type)) return;
  if (envelope.msg_type == "execute_request") {
    hold({channel, envelope, std::move(frames)});
    return start();
  }
  Request request = make_request(channel, envelope, frames);
  const std::string header(text_of(request.header));
  status(header, "busy");
  if (envelope.msg_type == "kernel_info_request") {
    answer_kernel_info(request);
  } else {
    reply(request, error_content(broken_note_));
  }
  status(header, "idle");
}

void Broker::answer_kernel_info(Request& request) {
  const json language = {{"name", options_.language},
                         {"version", ""},
                         {"mimetype", "text/plain"},
                         {"file_extension", options_.language == "python" ? ".py" : ".txt"}};
  reply(request, {{"status", "ok"},
                  {"protocol_version", "5.3"},
                  {"implementation", "plimsoll-guard"},
                  {"implementation_version", "0.1"},
                  {"language_info", language},
                  {"banner", broken_note_.short_text},
                  {"help_links", json::array()}});
}

}  // namespace plimsoll::guard
