#include "guard/zmtp.h"

#include <gtest/gtest.h>

#include "guard/zmtp_peer.h"
#include "guard/zmtp_reader.h"

namespace plimsoll::guard {
namespace {

using zmtp::Greeting;

TEST(Zmtp, AGreetingIsJudgedAsEarlyAsItCanBe) {
  const std::string good = zmtp::greeting(1);
  ASSERT_EQ(good.size(), zmtp::kGreetingSize);
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_EQ(zmtp::judge_greeting(good.substr(0, n)), Greeting::incomplete);
  EXPECT_EQ(zmtp::judge_greeting(good), Greeting::good);
  EXPECT_EQ(zmtp::judge_greeting(std::string("\x01\x00", 2)),
            Greeting::bad);  // version 1 begins with an identity
  std::string second = good.substr(0, 11);
  second[10] = 1;
  EXPECT_EQ(zmtp::judge_greeting(second), Greeting::bad);
  std::string curve = good;
  curve.replace(12, 5, "CURVE");
  EXPECT_EQ(zmtp::judge_greeting(curve.substr(0, 13)), Greeting::bad);
}

TEST(Zmtp, PropertiesSurviveTheWay) {
  const std::string frame = zmtp::ready_command({"DEALER", "client-1"});
  const auto command = zmtp::parse_command(std::string_view(frame).substr(2));
  ASSERT_TRUE(command);
  EXPECT_EQ(command->name, "READY");
  const auto properties = zmtp::parse_properties(command->data);
  ASSERT_TRUE(properties);
  EXPECT_EQ(properties->socket_type, "DEALER");
  EXPECT_EQ(properties->identity, "client-1");
  for (size_t n = 1; n < command->data.size(); ++n) {
    const auto cut = zmtp::parse_properties(command->data.substr(0, n));
    EXPECT_TRUE(!cut || cut->identity.empty());  // what parses ends between two properties
  }
}

TEST(Zmtp, BadHeadsEndTheStream) {
  for (std::string bytes :
       {std::string("\x08\x00", 2), std::string("\x05\x00", 2), std::string("\x02\x80\0\0\0\0\0\0\0", 9),
        std::string("\x06\0\0\0\0\xff\0\0\0", 9)}) {
    zmtp::FrameParser parser;
    std::string_view input = bytes;
    EXPECT_FALSE(parser.next(input));
    EXPECT_TRUE(parser.bad());
  }
}

// Writes down what a reader finds.
struct Log : MessageSink {
  void head(Frames frames) override {
    for (const auto& f : frames) text.append("[").append(text_of(f)).append("]");
    text += frames.tail ? "..." : ";";
    if (frames.tail) tails += 1;
  }
  void tail(std::string_view bytes, bool last) override {
    text += bytes;
    if (last) text += ";";
  }
  void command(const zmtp::Command& c) override {
    text.append("<").append(c.name).append(" ").append(c.data).append(">");
  }
  std::string text;
  int tails = 0;
};

Frames message(std::initializer_list<std::string> texts) {
  Frames frames;
  for (const auto& text : texts) frames.push_back(frame_of(text));
  return frames;
}

std::string request(std::initializer_list<std::string> buffers) {
  Frames frames =
      message({"id", std::string(kDelimiter), "signature", "header", "parent", "metadata", "content"});
  for (const auto& b : buffers) frames.push_back(frame_of(b));
  return *encode(frames, 0);
}

const std::string kHead = "[id][<IDS|MSG>][signature][header][parent][metadata][content]";

TEST(MessageReader, FindsTheSameHoweverTheStreamIsCut) {
  const std::string stream = request({}) + zmtp::command("PING", "xx") +
                             request({std::string(300, 'b'), ""}) + *encode(message({"", "ping"}), 0);
  Log at_once;
  EXPECT_TRUE(MessageReader().feed(stream, at_once, false));
  for (size_t step = 1; step < 20; ++step) {
    Log log;
    MessageReader reader;
    for (size_t at = 0; at < stream.size(); at += step) {
      EXPECT_TRUE(reader.feed(std::string_view(stream).substr(at, step), log, false));
    }
    EXPECT_EQ(log.text, at_once.text);
  }
}

TEST(MessageReader, HandsBuffersOnUntouched) {
  const std::string buffers[] = {std::string(300, 'b'), "", "c"};
  Log log;
  EXPECT_TRUE(MessageReader().feed(request({buffers[0], buffers[1], buffers[2]}), log, false));
  const std::string tail = *encode(message({buffers[0], buffers[1], buffers[2]}), 0);
  EXPECT_EQ(log.text, kHead + "..." + tail + ";");
}

TEST(MessageReader, GathersBuffersIfAsked) {
  Log log;
  EXPECT_TRUE(MessageReader().feed(request({"b"}), log, true));
  EXPECT_EQ(log.text, kHead + "[b];");
  EXPECT_EQ(log.tails, 0);
}

TEST(MessageReader, HearsCommandsBetweenTheFramesOfAMessage) {
  const std::string all = request({"b"});
  const std::string last = *encode(message({"b"}), 0);
  Log log;
  MessageReader reader;
  const size_t cut = all.size() - last.size();
  EXPECT_TRUE(reader.feed(all.substr(0, cut) + zmtp::command("PING", "") + last, log, false));
  EXPECT_EQ(log.text, kHead + "...<PING >" + last + ";");
}

TEST(MessageReader, HoldsNoMoreThanItMay) {
  std::string endless;
  zmtp::append_head(endless, 0, uint64_t{1} << 60);
  Log log;
  MessageReader reader(10000);
  ASSERT_TRUE(reader.feed(endless, log, false));
  int fed = 0;
  while (reader.feed(std::string(1000, 'x'), log, false) && fed < 100) ++fed;
  EXPECT_LT(fed, 11);
  std::string identities;
  for (int i = 0; i < 100; ++i) identities += std::string("\x01\x00", 2);
  EXPECT_FALSE(MessageReader(1 << 20).feed(identities, log, false));
}

}  // namespace
}  // namespace plimsoll::guard
