// What the guard reads off a connection: greeting, commands, messages. However the stream is cut, the same is
// found in it.
#include <algorithm>

#include "fuzz.h"
#include "guard/zmtp_reader.h"

using namespace plimsoll::guard;

namespace {

std::string frame(uint8_t flags, const std::string& body) {
  std::string out;
  zmtp::append_head(out, flags, body.size());
  return out + body;
}

// Writes down what is found, so that two readings can be compared.
struct Log : MessageSink {
  void head(Frames frames) override {
    for (const auto& f : frames) text.append("[").append(text_of(f)).append("]");
    text += frames.tail ? ":" : ";";
  }
  void tail(std::string_view bytes, bool last) override {
    text += bytes;
    if (last) text += ";";
  }
  void command(const zmtp::Command& c) override {
    text.append("<").append(c.name).append(">");
    if (c.name == "READY") zmtp::parse_properties(c.data);
  }
  std::string text;
};

std::string read(std::string_view stream, size_t step, bool whole) {
  Log log;
  MessageReader reader(1 << 16);
  for (size_t at = 0; at < stream.size(); at += step) {
    if (!reader.feed(stream.substr(at, step), log, whole)) return log.text + "bad";
  }
  return log.text;
}

}  // namespace

std::vector<std::string> seeds() {
  std::string request;
  for (const char* part : {"id", "<IDS|MSG>", "signature", "{}", "{}", "{}", "{}"})
    request += frame(zmtp::kMore, part);
  const std::string opened = zmtp::greeting(1) + zmtp::ready_command({"DEALER", "id"});
  return {opened + request + frame(0, std::string(300, 'b')),
          opened + request + frame(zmtp::kMore, "") + zmtp::command("PING", "ttcontext") + frame(0, "b") +
              request + frame(0, ""),
          opened + zmtp::command("SUBSCRIBE", "topic") + frame(0, "\1topic") + frame(zmtp::kMore, "") +
              frame(0, "ping")};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view stream(reinterpret_cast<const char*>(data), size);
  const auto verdict = zmtp::judge_greeting(stream.substr(0, zmtp::kGreetingSize));
  if (verdict == zmtp::Greeting::incomplete && size >= zmtp::kGreetingSize) __builtin_trap();
  stream.remove_prefix(std::min(size, zmtp::kGreetingSize));
  for (const bool whole : {false, true}) {
    const std::string at_once = read(stream, size + 1, whole);
    if (read(stream, 1, whole) != at_once || read(stream, 7, whole) != at_once) __builtin_trap();
  }
  return 0;
}
