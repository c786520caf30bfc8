#include "guard/message.h"

#include <gtest/gtest.h>

#include <random>

#include "guard/connection.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {
namespace {

TEST(Signer, MatchesTheKnownVectorOfRfc4231) {
  Signer signer("Jefe", "hmac-sha256");
  EXPECT_EQ(signer.sign("what do ya ", "want ", "for ", "nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(signer.sign("what do ya ", "want ", "for ", "nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Signer, TakesOtherDigestsAndLongKeys) {
  Signer sha512("Jefe", "hmac-sha512");
  EXPECT_EQ(sha512.sign("what do ya ", "want ", "for ", "nothing?").substr(0, 32),
            "164b7a7bfcf819e2e395fbe73b56e0a3");
  Signer longer(std::string(131, '\xaa'), "hmac-sha256");
  EXPECT_EQ(longer.sign("Test Using Larger Than Block-Size Key", " - Hash Key First", "", ""),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Signer, SignsNothingWithoutAKeyAndRefusesUnknownSchemes) {
  EXPECT_EQ(Signer("", "hmac-sha256").sign("a", "b", "c", "d"), "");
  EXPECT_THROW(Signer("key", "hmac-rot13"), Error);
  EXPECT_THROW(Signer("key", "sha256"), Error);
}

TEST(StringMember, FindsMembersBesideOtherValues) {
  const char* text = R"({"a": {"msg_id": "inner", "x": [1, "]"]}, "b": "q\"uo,te}", "msg_id": "outer"})";
  EXPECT_EQ(string_member(text, "msg_id"), "outer");
  EXPECT_EQ(string_member(text, "b"), "q\"uo,te}");
  EXPECT_EQ(string_member(text, "absent"), std::nullopt);
  EXPECT_EQ(string_member(R"({"n": 5})", "n"), std::nullopt);
  EXPECT_EQ(string_member(R"({"u": "\u00e9"})", "u"), "\xC3\xA9");
}

TEST(StringMember, SurvivesAnyText) {
  std::mt19937 random(7);
  const std::string alphabet = "{}[]\",:\\ ab1\n";
  for (int i = 0; i < 20000; ++i) {
    std::string text = "{";
    for (size_t n = random() % 40; n > 0; --n) text += alphabet[random() % alphabet.size()];
    string_member(text, "a");
  }
}

TEST(Envelope, NeedsADelimiterFourPartsAndAHeader) {
  Signer signer("key", "hmac-sha256");
  Author author(signer, "session");
  Frames frames = author.make("status", {}, "{}", {{"execution_state", "idle"}});
  const auto envelope = open_envelope(frames);
  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->msg_type, "status");
  EXPECT_EQ(envelope->session, "session");
  frames.pop_back();
  EXPECT_FALSE(open_envelope(frames));
  EXPECT_FALSE(open_envelope({}));
}

TEST(Envelope, SignatureCoversEveryPart) {
  Signer signer("key", "hmac-sha256");
  Author author(signer, "session");
  for (size_t part = 1; part <= 5; ++part) {
    Frames frames = author.make("status", {}, "{}", {{"execution_state", "idle"}});
    EXPECT_TRUE(signature_fits(signer, frames, 0));
    static_cast<char*>(frames[part].data())[0] ^= 1;
    EXPECT_FALSE(signature_fits(signer, frames, 0)) << part;
  }
}

TEST(Author, ReplacesBytesThatAreNoCharacters) {
  Signer signer("", "hmac-sha256");
  Author author(signer, "s");
  const Frames frames = author.make("stream", {}, "{}", {{"text", "broken \xFF"}});
  EXPECT_NE(text_of(frames[5]).find("broken \xEF\xBF\xBD"), std::string_view::npos);
}

TEST(Connection, SpellsEndpointsAsJupyterDoes) {
  Connection c;
  c.ports = {1, 2, 3, 4, 5};
  EXPECT_EQ(c.endpoint(Channel::control), "tcp://127.0.0.1:2");
  c.transport = "ipc";
  c.ip = "/run/x";
  EXPECT_EQ(c.endpoint(Channel::hb), "ipc:///run/x-5");
}

}  // namespace
}  // namespace plimsoll::guard
