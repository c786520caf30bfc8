// A wire and a keeper that only remember, for tests without sockets, processes or time.
#pragma once

#include <string>
#include <vector>

#include "guard/broker.h"

namespace plimsoll::guard {

struct Sent {
  Channel channel;
  Frames frames;
  std::string type;
  std::string parent_id;
  nlohmann::json content;
};

inline Sent sent_of(Channel channel, Frames frames) {
  Sent s{channel, std::move(frames), "", "", {}};
  if (auto e = open_envelope(s.frames)) {
    s.type = e->msg_type;
    s.parent_id = string_member(text_of(s.frames[e->parent()]), "msg_id").value_or("");
    s.content = nlohmann::json::parse(text_of(s.frames[e->content()]), nullptr, false);
  }
  return s;
}

class MockWire final : public Wire {
 public:
  void to_client(Channel channel, Frames frames) override {
    client.push_back(sent_of(channel, std::move(frames)));
  }
  void to_kernel(Channel channel, Frames frames) override {
    kernel.push_back(sent_of(channel, std::move(frames)));
  }
  // What clients were sent since the last call, as "iopub status:busy" or "shell execute_reply:error".
  std::vector<std::string> told() {
    std::vector<std::string> out;
    for (const auto& s : client) {
      std::string text = std::string(name_of(s.channel)) + " " + s.type;
      for (const char* key : {"execution_state", "status"}) {
        if (s.content.is_object() && s.content.contains(key))
          text.append(":").append(s.content[key].get<std::string>());
      }
      out.push_back(text);
    }
    client.clear();
    return out;
  }
  std::vector<Sent> client, kernel;
};

class MockKeeper final : public Keeper {
 public:
  void start() override { ++starts; }
  void interrupt() override { ++interrupts; }
  void terminate() override { ++terminations; }
  void is_ready() override {}
  void begin_cell() override { ++begun; }
  std::string end_of_cell() override { return at_end_of_cell; }
  int starts = 0, interrupts = 0, terminations = 0, begun = 0;
  std::string at_end_of_cell;
};

}  // namespace plimsoll::guard
