// The least a kernel can be, for tests of the guard: it answers questions, and dies of the first cell it is
// given, by the signal named there. Starts in a few milliseconds.
//   guard_mayfly connection-file
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "guard/connection.h"
#include "guard/message.h"

using namespace plimsoll::guard;
using nlohmann::json;

namespace {

Frames receive(zmq::socket_t& socket) {
  Frames frames;
  for (bool more = true; more;) {
    Frame frame;
    if (!socket.recv(frame)) break;
    more = frame.more();
    frames.push_back(std::move(frame));
  }
  return frames;
}

void send(zmq::socket_t& socket, Frames frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    socket.send(frames[i], i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const Connection connection = read_connection(argv[1]);
  Signer signer(connection.key, connection.scheme);
  Author author(signer, random_hex());
  zmq::context_t context;
  zmq::socket_t shell(context, zmq::socket_type::router), iopub(context, zmq::socket_type::xpub);
  zmq::socket_t control(context, zmq::socket_type::router), input(context, zmq::socket_type::router);
  shell.bind(connection.endpoint(Channel::shell));
  control.bind(connection.endpoint(Channel::control));
  input.bind(connection.endpoint(Channel::stdin_));
  iopub.bind(connection.endpoint(Channel::iopub));
  receive(iopub);  // a subscription: nobody misses what is published from here on
  for (;;) {
    Frames frames = receive(shell);
    const auto envelope = open_envelope(frames);
    if (!envelope) continue;
    const std::string header(text_of(frames[envelope->header()]));
    send(iopub, author.make("status", {}, header, {{"execution_state", "busy"}}));
    if (envelope->msg_type == "execute_request") {
      const std::string code = string_member(text_of(frames[envelope->content()]), "code").value_or("");
      if (code == "exit") ::_exit(1);
      ::kill(::getpid(), std::atoi(code.c_str()));
    }
    frames.resize(envelope->delimiter);
    send(shell, author.make("kernel_info_reply", std::move(frames), header,
                            {{"status", "ok"}, {"protocol_version", "5.3"}}));
    send(iopub, author.make("status", {}, header, {{"execution_state", "idle"}}));
  }
}
