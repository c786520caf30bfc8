// The guard's own ZeroMQ against libzmq, over ipc sockets in a folder of the test's own. Nothing waits for a
// time to pass: each step ends when what it waits for is there.
#include "guard/zmtp_wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <zmq.hpp>

#include "guard/sockets.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {
namespace {

class ZmtpWireTest : public testing::Test {
 protected:
  ZmtpWireTest() {
    char name[] = "/tmp/plimsoll-wire-XXXXXX";
    folder = ::mkdtemp(name);
    front.transport = back.transport = "ipc";
    front.ports = back.ports = {1, 2, 3, 4, 5};
    front.ip = folder + "/f";
    back.ip = folder + "/k1";
    wire = std::make_unique<ZmtpWire>(front);
    Transport::Handlers handlers;
    handlers.from_client = [this](Channel c, Frames f) {
      from_client.push_back(texts(f));
      if (passes) wire->to_kernel(c, std::move(f));
    };
    handlers.from_kernel = [this](Channel c, Frames f) {
      from_kernel.push_back(texts(f));
      wire->to_client(c, std::move(f));
    };
    handlers.subscribed = [this](std::string_view topic) { topics.emplace_back(topic); };
    handlers.passes_at_once = [this] { return passes; };
    wire->set_handlers(std::move(handlers));
  }
  ~ZmtpWireTest() override {
    wire.reset();
    for (auto* s : {&shell, &iopub, &client, &subscriber, &other}) s->close();
    std::filesystem::remove_all(folder);
  }

  static std::vector<std::string> texts(const Frames& frames) {
    std::vector<std::string> out;
    for (const auto& f : frames) out.emplace_back(text_of(f));
    return out;
  }
  void turn() {
    std::vector<pollfd> none;
    wire->wait(none, 10);
    wire->receive();
  }
  void until(const std::function<bool()>& there) {
    bool is_there = false;
    for (int i = 0; i < 2000 && !is_there; ++i) {
      turn();
      is_there = there();
    }
    ASSERT_TRUE(is_there);
  }
  zmq::socket_t connect(zmq::socket_type type, Channel channel, const std::string& id = "") {
    zmq::socket_t socket(context, type);
    socket.set(zmq::sockopt::linger, 0);
    if (!id.empty()) socket.set(zmq::sockopt::routing_id, id);
    if (type == zmq::socket_type::sub) socket.set(zmq::sockopt::subscribe, "");
    socket.connect(front.endpoint(channel));
    return socket;
  }
  void start_kernel() {
    shell = zmq::socket_t(context, zmq::socket_type::router);
    iopub = zmq::socket_t(context, zmq::socket_type::xpub);
    for (auto* s : {&shell, &iopub}) s->set(zmq::sockopt::linger, 0);
    shell.bind(back.endpoint(Channel::shell));
    iopub.bind(back.endpoint(Channel::iopub));
    wire->connect_kernel(back);
    receive(iopub);  // the guard's subscription
  }
  void kill_kernel() {
    shell.close();
    iopub.close();
    until([&] { return wire->kernel_disconnected(); });
    wire->drain();
    back.ip = folder + "/k2";
  }
  static void send(zmq::socket_t& socket, const std::vector<std::string>& parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      socket.send(zmq::buffer(parts[i]),
                  i + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }
  std::vector<std::string> receive(zmq::socket_t& socket) {
    std::vector<std::string> parts;
    zmq::message_t part;
    until([&] { return socket.recv(part, zmq::recv_flags::dontwait).has_value(); });
    for (parts.push_back(part.to_string()); part.more(); parts.push_back(part.to_string())) {
      if (!socket.recv(part)) break;
    }
    return parts;
  }
  static std::vector<std::string> request(const std::string& content, const std::string& buffer = "") {
    std::vector<std::string> parts = {
        std::string(kDelimiter), "s", R"({"msg_id":"1","msg_type":"t"})", "{}", "{}", content};
    if (!buffer.empty()) parts.push_back(buffer);
    return parts;
  }
  static std::vector<std::string> to(const std::string& id, std::vector<std::string> parts) {
    parts.insert(parts.begin(), id);
    return parts;
  }
  static Frames frames_of(const std::vector<std::string>& parts) {
    Frames frames;
    for (const auto& part : parts) frames.push_back(frame_of(part));
    return frames;
  }
  static std::string hello(const std::string& id) {
    return zmtp::greeting(1) + zmtp::ready_command({"DEALER", id});
  }
  static void say(int fd, const std::string& bytes) {
    ASSERT_EQ(::send(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  int connect_plainly(Channel channel) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = concat(front.ip, "-", front.ports[static_cast<size_t>(channel)]);
    std::copy(path.begin(), path.end(), address.sun_path);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  // "me" asks for `content` while the guard's own request is not answered yet, and leaves. Returns the
  // identity by which the kernel can answer the guard.
  std::string speak_on_hold_and_leave(const std::string& content) {
    wire->to_kernel(Channel::shell, frames_of(request("own")));
    std::string own = receive(shell)[0];
    const int fd = connect_plainly(Channel::shell);
    say(fd, hello("me") + *encode(frames_of(request(content)), 0));
    until([&] { return from_client.size() == 1; });
    ::close(fd);
    for (int i = 0; i < 5; ++i) turn();
    return own;
  }
  // Waits for the other end to close.
  void until_closed(int fd) {
    char bytes[256];
    until([&] { return ::recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) == 0; });
    ::close(fd);
  }

  std::string folder;
  Connection front, back;
  zmq::context_t context;
  zmq::socket_t shell, iopub, client, subscriber, other;
  std::unique_ptr<ZmtpWire> wire;
  std::vector<std::vector<std::string>> from_client, from_kernel;
  std::vector<std::string> topics;
  bool passes = true;
};

using Parts = std::vector<std::string>;

TEST_F(ZmtpWireTest, RequestsAndRepliesPassWithTheClientsIdentity) {
  start_kernel();
  client = connect(zmq::socket_type::dealer, Channel::shell, "me");
  send(client, request("ask"));
  EXPECT_EQ(receive(shell), to("me", request("ask")));
  send(shell, to("me", request("answer")));
  EXPECT_EQ(receive(client), request("answer"));
  EXPECT_EQ(from_client[0][0], "me");
}

TEST_F(ZmtpWireTest, LargeBuffersPassWhole) {
  start_kernel();
  client = connect(zmq::socket_type::dealer, Channel::shell, "me");
  std::string buffer(5 << 20, 'b');
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<char>(i * 7);
  send(client, request("ask", buffer));
  send(client, request("after"));
  EXPECT_TRUE(receive(shell) == to("me", request("ask", buffer)));
  EXPECT_EQ(receive(shell), to("me", request("after")));
  send(shell, to("me", request("answer", buffer)));
  EXPECT_TRUE(receive(client) == request("answer", buffer));
  EXPECT_EQ(from_client[0].size(), 7u);  // without the buffer
}

// Handshake and request in one read, when there is no connection to the kernel yet.
TEST_F(ZmtpWireTest, WhatComesWithTheHandshakeIsHeard) {
  start_kernel();
  const std::string buffer(100 << 10, 'b');
  const int fd = connect_plainly(Channel::shell);
  say(fd,
      hello("me") + *encode(frames_of(request("first", buffer)), 0) + *encode(frames_of(request("next")), 0));
  EXPECT_EQ(receive(shell), to("me", request("first", buffer)));
  EXPECT_EQ(receive(shell), to("me", request("next")));
  ::close(fd);
}

TEST_F(ZmtpWireTest, WhoLeavesAtOnceIsHeardAndKnownWhenHeIsBack) {
  start_kernel();
  const std::string own = speak_on_hold_and_leave("first");
  client = connect(zmq::socket_type::dealer, Channel::shell, "me");
  send(client, request("second"));
  for (int i = 0; i < 5; ++i) turn();
  send(shell, to(own, request("done")));
  EXPECT_EQ(receive(shell), to("me", request("first")));
  EXPECT_EQ(receive(shell), to("me", request("second")));
}

TEST_F(ZmtpWireTest, WhoLeavesForGoodIsHeard) {
  start_kernel();
  const std::string own = speak_on_hold_and_leave("last");
  send(shell, to(own, request("done")));
  EXPECT_EQ(receive(shell), to("me", request("last")));
}

TEST_F(ZmtpWireTest, ClientsThatComeSpeakAndGoAreAllHeardAndAnswered) {
  start_kernel();
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    const std::string id = "client" + std::to_string(i), buffer(static_cast<size_t>(i % 7) * 40000, 'b');
    client = connect(zmq::socket_type::dealer, Channel::shell, id);
    for (const char* content : {"first", "second"}) send(client, request(content, buffer));
    for (const char* content : {"first", "second"}) {
      ASSERT_TRUE(receive(shell) == to(id, request(content, buffer)));
      send(shell, to(id, request("answer", buffer)));
    }
    for (int answer = 0; answer < 2; ++answer) ASSERT_TRUE(receive(client) == request("answer", buffer));
  }
}

TEST_F(ZmtpWireTest, AClientMayComeBeforeTheKernelAndStayBeyondIt) {
  passes = false;
  client = connect(zmq::socket_type::dealer, Channel::shell, "me");
  send(client, request("early", "buffer"));
  until([&] { return from_client.size() == 1; });
  EXPECT_EQ(from_client[0], to("me", request("early", "buffer")));
  passes = true;
  for (const char* kernel : {"first", "second"}) {
    start_kernel();
    send(client, request(kernel));
    EXPECT_EQ(receive(shell), to("me", request(kernel)));
    kill_kernel();
    wire->to_client(Channel::shell, frames_of({"me", "it died"}));
    EXPECT_EQ(receive(client), Parts{"it died"});
  }
}

TEST_F(ZmtpWireTest, PublishesToThoseWhoSubscribed) {
  start_kernel();
  subscriber = connect(zmq::socket_type::sub, Channel::iopub);
  other = zmq::socket_t(context, zmq::socket_type::sub);
  other.set(zmq::sockopt::subscribe, "b");
  other.connect(front.endpoint(Channel::iopub));
  until([&] { return topics.size() == 2; });
  send(iopub, to("a.stream", request("1")));
  send(iopub, to("b.stream", request("2", std::string(1 << 20, 'x'))));
  EXPECT_EQ(receive(subscriber), to("a.stream", request("1")));
  EXPECT_EQ(receive(subscriber), to("b.stream", request("2", std::string(1 << 20, 'x'))));
  EXPECT_EQ(receive(other), to("b.stream", request("2", std::string(1 << 20, 'x'))));
}

TEST_F(ZmtpWireTest, WhoIsCutOffInsideAMessageHearsTheRestWhenHeIsBack) {
  subscriber = connect(zmq::socket_type::sub, Channel::iopub);
  shell = zmq::socket_t(context, zmq::socket_type::router);
  shell.bind(back.endpoint(Channel::shell));
  const int listener = listen_at(back, Channel::iopub);
  wire->connect_kernel(back);
  int kernel = -1;
  until([&] { return (kernel = accept_from(listener)) >= 0; });
  until([&] { return !topics.empty(); });
  Frames frames = frames_of(to("t", request("large")));
  frames.tail = true;
  std::string bytes = zmtp::greeting(1) + zmtp::ready_command({"XPUB", ""}) + *encode(frames, 0);
  zmtp::append_head(bytes, 0, 1 << 20);
  bytes += "only the beginning of a buffer";
  say(kernel, bytes);
  until([&] { return from_kernel.size() == 1; });
  wire->to_client(Channel::iopub, frames_of({"meanwhile"}));
  ::close(kernel);
  ::close(listener);
  until([&] { return wire->kernel_disconnected(); });
  wire->drain();
  wire->to_client(Channel::iopub, frames_of({"it died"}));
  EXPECT_EQ(receive(subscriber), Parts{"meanwhile"});
  EXPECT_EQ(receive(subscriber), Parts{"it died"});
}

TEST_F(ZmtpWireTest, WhatAClientAsksComesBehindTheGuardsOwnRequests) {
  start_kernel();
  client = connect(zmq::socket_type::dealer, Channel::shell, "me");
  send(client, request("first"));
  EXPECT_EQ(receive(shell), to("me", request("first")));
  wire->to_kernel(Channel::shell, frames_of(request("own")));
  send(client, request("second"));
  Parts at_kernel = receive(shell);
  EXPECT_EQ(at_kernel.back(), "own");
  for (int i = 0; i < 20; ++i) turn();
  EXPECT_EQ(from_client.size(), 1u);
  send(shell, to(at_kernel[0], request("done")));
  EXPECT_EQ(receive(shell), to("me", request("second")));
}

TEST_F(ZmtpWireTest, AnswersHeartbeatsAndPings) {
  client = zmq::socket_t(context, zmq::socket_type::req);
  client.set(zmq::sockopt::linger, 0);
  client.set(zmq::sockopt::heartbeat_ivl, 1);
  client.set(zmq::sockopt::heartbeat_timeout, 60000);
  client.connect(front.endpoint(Channel::hb));
  for (int i = 0; i < 20; ++i) {
    send(client, {"ping"});
    EXPECT_EQ(receive(client), Parts{"ping"});
  }
}

TEST_F(ZmtpWireTest, EndsConnectionsThatSpeakSomethingElse) {
  start_kernel();
  const std::string greeting = zmtp::greeting(1);
  std::string second = greeting.substr(0, 11);
  second[10] = 1;
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x01\x00", 2), second,
        greeting + zmtp::ready_command({"PUSH", ""}), greeting + zmtp::command("READY", "\x05garble"),
        greeting + zmtp::command("ERROR", "\x02no"), greeting + std::string("\x00\x01x", 3),
        greeting + zmtp::ready_command({"DEALER", "x"}) + std::string("\x02\xff\0\0\0\0\0\0\0", 9)}) {
    const int fd = connect_plainly(Channel::shell);
    say(fd, bytes);
    until_closed(fd);
  }
  client = connect(zmq::socket_type::dealer, Channel::shell, "me");
  send(client, request("still there"));
  EXPECT_EQ(receive(shell), to("me", request("still there")));
}

TEST_F(ZmtpWireTest, ManySilentConnectionsKeepNobodyOut) {
  start_kernel();
  std::vector<int> silent;
  for (int i = 0; i < 600; ++i) {
    silent.push_back(connect_plainly(Channel::shell));
    turn();
  }
  client = connect(zmq::socket_type::dealer, Channel::shell, "me");
  send(client, request("through"));
  EXPECT_EQ(receive(shell), to("me", request("through")));
  for (int fd : silent) ::close(fd);
}

TEST_F(ZmtpWireTest, ASlowSubscriberHoldsUpNobody) {
  start_kernel();
  const int slow = connect_plainly(Channel::iopub);
  say(slow, zmtp::greeting(1) + zmtp::ready_command({"SUB", ""}) + zmtp::command("SUBSCRIBE", ""));
  subscriber = connect(zmq::socket_type::sub, Channel::iopub);
  until([&] { return topics.size() == 2; });
  for (int i = 0; i < 8; ++i) {
    send(iopub, to("t", request(std::to_string(i), std::string(4 << 20, 'x'))));
    EXPECT_EQ(receive(subscriber)[6], std::to_string(i));
  }
  ::close(slow);
}

}  // namespace
}  // namespace plimsoll::guard
