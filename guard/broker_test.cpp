#include "guard/broker.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "guard/mocks.h"

namespace plimsoll::guard {
namespace {

using nlohmann::json;
using Told = std::vector<std::string>;

// A client and a kernel, both played by the test.
class BrokerTest : public testing::Test {
 protected:
  BrokerTest() {
    broker.tick(TimePoint(std::chrono::seconds(100)));
    broker.start();
  }
  void make_ready() {
    answer_probe();
    wire.kernel.clear();
    wire.client.clear();
  }
  void answer_probe() {
    const auto probe = open_envelope(wire.kernel.back().frames);
    const std::string header(text_of(wire.kernel.back().frames[probe->header()]));
    broker.from_kernel(Channel::iopub, kernel.make("status", {}, header, {{"execution_state", "busy"}}));
    broker.from_kernel(Channel::shell, kernel.make("kernel_info_reply", {}, header, {{"status", "ok"}}));
  }
  // A whole cell that ends well.
  void run(const std::string& code) {
    const std::string header = execute(code);
    publish("busy", header);
    answer(header);
    publish("idle", header);
  }
  // Sends a request; returns its header.
  std::string ask(const std::string& type, const json& content = json::object(),
                  Channel channel = Channel::shell) {
    Frames identities;
    identities.push_back(frame_of("client-1"));
    Frames frames = client.make(type, std::move(identities), "{}", content);
    last_id = client.last_id();
    std::string header(text_of(frames[3]));
    broker.from_client(channel, std::move(frames));
    return header;
  }
  std::string execute(const std::string& code = "1") { return ask("execute_request", {{"code", code}}); }
  void publish(const char* state, const std::string& header) {
    broker.from_kernel(Channel::iopub, kernel.make("status", {}, header, {{"execution_state", state}}));
  }
  void answer(const std::string& header, const std::string& type = "execute_reply") {
    Frames identities;
    identities.push_back(frame_of("client-1"));
    broker.from_kernel(Channel::shell, kernel.make(type, std::move(identities), header, {{"status", "ok"}}));
  }
  void die() {
    broker.kernel_exited();
    broker.kernel_died(note);
  }

  Signer signer{"key", "hmac-sha256"};
  Author client{signer, "client-session"}, kernel{signer, "kernel-session"};
  MockWire wire;
  MockKeeper keeper;
  Broker broker{wire, keeper, signer, {"python", ""}};
  DeathNote note{"KernelDied", "why", {"why", "at length"}, "died earlier", ""};
  std::string last_id;
};

TEST_F(BrokerTest, HoldsRequestsUntilTheKernelAnswersOnBothSockets) {
  wire.kernel.clear();
  broker.start();
  const Frames& probe = wire.kernel.back().frames;
  const std::string header(text_of(probe[2]));
  execute();
  broker.from_kernel(Channel::shell, kernel.make("kernel_info_reply", {}, header, {{"status", "ok"}}));
  EXPECT_EQ(wire.kernel.size(), 1u);  // only the probe: iopub was not heard yet
  publish("busy", header);
  ASSERT_EQ(wire.kernel.size(), 2u);
  EXPECT_EQ(wire.kernel.back().type, "execute_request");
}

// Time spent on waiting for the user is not the cell's.
TEST_F(BrokerTest, InputFromTheUserIsASignOfLife) {
  make_ready();
  const std::string header = execute("input()");
  publish("busy", header);
  broker.from_kernel(Channel::stdin_, kernel.make("input_request", {}, header, {{"prompt", "?"}}));
  EXPECT_TRUE(broker.waiting_for_input());
  const TimePoint later(std::chrono::seconds(500));
  broker.tick(later);
  ask("input_reply", {{"value", "x"}}, Channel::stdin_);
  EXPECT_FALSE(broker.waiting_for_input());
  EXPECT_EQ(broker.last_output(), later);
}

TEST(BrokerHolding, AnswersWithAnErrorWhatItHasNoRoomFor) {
  Signer signer{"key", "hmac-sha256"};
  Author client{signer, "client-session"};
  MockWire wire;
  MockKeeper keeper;
  Broker broker{wire, keeper, signer, {"python", "", 10000}};
  broker.start();
  wire.kernel.clear();
  auto ask = [&](const char* type, size_t size) {
    Frames identities;
    identities.push_back(frame_of("client-1"));
    broker.from_client(Channel::shell,
                       client.make(type, std::move(identities), "{}", {{"code", std::string(size, 'x')}}));
  };
  ask("execute_request", 4000);
  EXPECT_TRUE(wire.told().empty());
  ask("execute_request", 8000);
  EXPECT_EQ(wire.client.at(1).content["ename"], "KernelNotReady");
  EXPECT_EQ(wire.told(),
            (Told{"iopub status:busy", "iopub error", "shell execute_reply:error", "iopub status:idle"}));
  ask("complete_request", 8000);
  EXPECT_EQ(wire.told(), (Told{"shell complete_reply:error", "iopub status:idle"}));
  ask("comm_msg", 8000);
  EXPECT_TRUE(wire.told().empty());
  ask("complete_request", 100);  // there is room for this one
  EXPECT_TRUE(wire.told().empty());
  EXPECT_TRUE(wire.kernel.empty());
}

TEST_F(BrokerTest, RoomForWaitingRequestsIsThereAgainAfterTheyWereSent) {
  Broker small{wire, keeper, signer, {"python", "", 10000}};
  for (int round = 0; round < 5; ++round) {
    small.start();
    Frames identities;
    identities.push_back(frame_of("client-1"));
    wire.client.clear();
    small.from_client(Channel::shell, client.make("execute_request", std::move(identities), "{}",
                                                  {{"code", std::string(6000, 'x')}}));
    EXPECT_TRUE(wire.told().empty());
    small.kernel_died(note);
  }
}

TEST_F(BrokerTest, ProbesAgainUntilIopubIsHeard) {
  const std::string header(text_of(wire.kernel.back().frames[2]));
  broker.from_kernel(Channel::shell, kernel.make("kernel_info_reply", {}, header, {{"status", "ok"}}));
  broker.tick(TimePoint(std::chrono::seconds(101)));
  EXPECT_EQ(wire.kernel.size(), 2u);
  EXPECT_FALSE(broker.ready());
}

TEST_F(BrokerTest, PassesFramesUntouched) {
  make_ready();
  Frames identities;
  identities.push_back(frame_of("client-1"));
  Frames frames = client.make("execute_request", std::move(identities), "{}", {{"code", "x"}});
  frames.push_back(frame_of(std::string(100000, 'b')));
  std::vector<std::string> before;
  for (const auto& f : frames) before.emplace_back(text_of(f));
  const void* buffer = frames.back().data();
  broker.from_client(Channel::shell, std::move(frames));
  ASSERT_EQ(wire.kernel.size(), 1u);
  const Frames& after = wire.kernel[0].frames;
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) EXPECT_EQ(text_of(after[i]), before[i]);
  EXPECT_EQ(after.back().data(), buffer);
}

TEST_F(BrokerTest, KeepsItsOwnProbeFromClients) {
  make_ready();
  EXPECT_TRUE(wire.client.empty());
}

TEST_F(BrokerTest, RejectsUnsignedAndMalformedMessages) {
  make_ready();
  Frames junk;
  junk.push_back(frame_of("client-1"));
  junk.push_back(frame_of("no delimiter"));
  broker.from_client(Channel::shell, std::move(junk));
  Signer other("another key", "hmac-sha256");
  Author forger(other, "s");
  Frames identities;
  identities.push_back(frame_of("client-1"));
  broker.from_client(Channel::shell,
                     forger.make("execute_request", std::move(identities), "{}", {{"code", "evil"}}));
  broker.from_client(Channel::control, {});
  EXPECT_EQ(broker.rejected(), 3);
  EXPECT_TRUE(wire.kernel.empty());
}

TEST_F(BrokerTest, AnswersTheRunningCellAndAbortsTheQueued) {
  make_ready();
  const std::string running = execute();
  const std::string running_id = last_id;
  publish("busy", running);
  execute("2");
  const std::string queued_id = last_id;
  wire.client.clear();
  die();
  ASSERT_GE(wire.client.size(), 6u);
  EXPECT_EQ(wire.client[0].parent_id, running_id);
  EXPECT_EQ(wire.client[3].parent_id, queued_id);
  EXPECT_EQ(wire.told(), (Told{"iopub error", "shell execute_reply:error", "iopub status:idle",
                               "iopub status:busy", "shell execute_reply:aborted", "iopub status:idle"}));
  EXPECT_EQ(keeper.starts, 2);
}

TEST_F(BrokerTest, SpeaksInTheDeadKernelsSession) {
  make_ready();
  publish("busy", execute());
  wire.client.clear();
  die();
  const auto envelope = open_envelope(wire.client[0].frames);
  EXPECT_EQ(envelope->session, "kernel-session");
  EXPECT_TRUE(signature_fits(signer, wire.client[0].frames, envelope->delimiter));
}

TEST_F(BrokerTest, OnlySaysIdleForACellAlreadyAnswered) {
  make_ready();
  const std::string header = execute();
  publish("busy", header);
  answer(header);
  wire.client.clear();
  die();
  EXPECT_EQ(wire.told(), Told{"iopub status:idle"});
}

TEST_F(BrokerTest, CountsACellAsRunningWhenItsReplyOvertakesItsStatus) {
  make_ready();
  const std::string header = execute();
  answer(header);
  publish("busy", header);
  EXPECT_TRUE(broker.running_cell());
  publish("idle", header);
  EXPECT_FALSE(broker.running_cell());
}

TEST_F(BrokerTest, AsksTheNewKernelWhatTheOldOneLeftUnanswered) {
  make_ready();
  ask("complete_request", {{"code", "impo"}});
  die();
  EXPECT_TRUE(wire.told().empty());
  make_ready();
  broker.kernel_exited();
  EXPECT_EQ(keeper.starts, 2);
}

TEST_F(BrokerTest, TellsOfADeathBetweenCellsInTheNextOne) {
  make_ready();
  die();
  make_ready();
  publish("busy", execute());
  ASSERT_EQ(wire.client.size(), 2u);
  EXPECT_EQ(wire.client[1].content["text"], "died earlier");
}

TEST_F(BrokerTest, ClosesTheCommsOfADeadKernel) {
  make_ready();
  broker.from_kernel(Channel::iopub,
                     kernel.make("comm_open", {}, "{}", {{"comm_id", "c1"}, {"target_name", "t"}}));
  broker.from_kernel(Channel::iopub,
                     kernel.make("comm_open", {}, "{}", {{"comm_id", "c2"}, {"target_name", "t"}}));
  broker.from_kernel(Channel::iopub, kernel.make("comm_close", {}, "{}", {{"comm_id", "c1"}}));
  wire.client.clear();
  die();
  ASSERT_EQ(wire.client.size(), 1u);
  EXPECT_EQ(wire.client[0].type, "comm_close");
  EXPECT_EQ(wire.client[0].content["comm_id"], "c2");
}

TEST_F(BrokerTest, DoesNotRestartAKernelThatCannotStartUntilACellAsks) {
  broker.kernel_died(note);
  EXPECT_EQ(keeper.starts, 1);
  wire.client.clear();
  ask("kernel_info_request");
  EXPECT_EQ(wire.told(), (Told{"iopub status:busy", "shell kernel_info_reply:ok", "iopub status:idle"}));
  execute();
  EXPECT_EQ(keeper.starts, 2);
  wire.client.clear();
  broker.kernel_died(note);
  EXPECT_EQ(wire.told(),
            (Told{"iopub status:busy", "iopub error", "shell execute_reply:error", "iopub status:idle"}));
  EXPECT_EQ(keeper.starts, 2);
}

TEST_F(BrokerTest, AnswersAShutdownForAKernelThatIsNotThere) {
  ask("shutdown_request", {{"restart", true}}, Channel::control);
  ASSERT_EQ(wire.client.size(), 1u);
  EXPECT_EQ(wire.client[0].type, "shutdown_reply");
  EXPECT_EQ(wire.client[0].content["restart"], true);
  EXPECT_EQ(keeper.terminations, 1);
  EXPECT_TRUE(broker.shutting_down());
}

TEST_F(BrokerTest, AnswersControlRequestsOfADeadKernelWithAnError) {
  make_ready();
  ask("debug_request", {{"command", "x"}}, Channel::control);
  die();
  EXPECT_EQ(wire.told(), (Told{"control debug_reply:error", "iopub status:idle"}));
}

TEST_F(BrokerTest, SaysWhatWasRefusedBeforeTheCellIsIdle) {
  make_ready();
  const std::string header = execute();
  publish("busy", header);
  wire.client.clear();
  keeper.at_end_of_cell = "refused";
  publish("idle", header);
  ASSERT_EQ(wire.client.size(), 2u);
  EXPECT_EQ(wire.client[0].content["text"], "refused");
  EXPECT_EQ(wire.client[1].content["execution_state"], "idle");
}

TEST_F(BrokerTest, CutsOutputAtCharacterBorders) {
  make_ready();
  publish("busy", execute());
  wire.client.clear();
  broker.output(false, "a\xE2\x82");
  broker.output(false, "\xAC!");
  ASSERT_EQ(wire.client.size(), 2u);
  EXPECT_EQ(wire.client[0].content["text"], "a");
  EXPECT_EQ(wire.client[1].content["text"], "\xE2\x82\xAC!");
}

TEST_F(BrokerTest, OutputThatOvertakesBusyBelongsToTheCellAboutToBegin) {
  make_ready();
  run("1");
  wire.client.clear();
  const std::string header = execute();
  broker.output(false, "early");
  ASSERT_EQ(wire.client.size(), 1u);
  EXPECT_EQ(wire.client[0].parent_id, last_id);
  publish("busy", header);
  answer(header);
  publish("idle", header);
  broker.output(false, "late");
  EXPECT_EQ(wire.client.back().parent_id, last_id);
}

TEST_F(BrokerTest, WelcomesEachSubscriber) {
  broker.subscribed("");
  ASSERT_EQ(wire.client.size(), 1u);
  EXPECT_EQ(wire.client[0].type, "iopub_welcome");
}

TEST_F(BrokerTest, KeptCellsRunAgainBeforeWhatWaits) {
  make_ready();
  run("%guard keep\nimport numpy");
  run("x = 1");
  die();
  execute("y = 2");
  wire.client.clear();
  answer_probe();
  ASSERT_GE(wire.kernel.size(), 3u);
  const Sent& kept = wire.kernel[wire.kernel.size() - 2];
  EXPECT_EQ(kept.content["code"], "%guard keep\nimport numpy");
  EXPECT_EQ(kept.content["silent"], true);
  EXPECT_EQ(wire.kernel.back().content["code"], "y = 2");

  const std::string own(
      text_of(kept.frames[open_envelope(wire.kernel[wire.kernel.size() - 2].frames)->header()]));
  const std::string waited(
      text_of(wire.kernel.back().frames[open_envelope(wire.kernel.back().frames)->header()]));
  wire.client.clear();
  publish("busy", own);
  publish("idle", own);
  EXPECT_TRUE(wire.client.empty());
  publish("busy", waited);
  ASSERT_EQ(wire.client.size(), 2u);
  EXPECT_EQ(wire.client[1].content["text"], "died earlierplimsoll: 1 kept cell was run again.\n");
}

TEST_F(BrokerTest, KeptCellsThatKillTheKernelAreForgotten) {
  make_ready();
  run("%guard keep\nimport broken");
  die();
  answer_probe();
  die();
  make_ready();
  EXPECT_EQ(keeper.starts, 3);
  publish("busy", execute());
  ASSERT_EQ(wire.kernel.size(), 1u);  // the cell alone
  EXPECT_NE(wire.client.back().content["text"].get<std::string>().find("none is kept any more"),
            std::string::npos);
}

TEST_F(BrokerTest, ForgetsKeptCellsWhenAsked) {
  make_ready();
  run("%guard keep\nimport numpy");
  run("  %guard forget");
  die();
  wire.kernel.clear();
  broker.tick(TimePoint(std::chrono::seconds(200)));
  EXPECT_TRUE(std::none_of(wire.kernel.begin(), wire.kernel.end(),
                           [](auto& s) { return s.type == "execute_request"; }));
}

}  // namespace
}  // namespace plimsoll::guard
