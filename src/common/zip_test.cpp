#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "common/zip_reader.h"
#include "common/zip_writer.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

FileSource source_of(std::string_view bytes) {
  NamelessFile file;
  file.append(bytes.data(), bytes.size());
  return std::move(file).source("test.zip");
}

// An archive as ZipWriter writes it.
std::string archive(const std::vector<std::pair<std::string, std::string>>& members) {
  const std::string path = concat(::testing::TempDir(), "zip_test_", ::getpid());
  std::string bytes;
  write_atomically(path, [&](NewFile& file) {
    ZipWriter zip(file);
    for (const auto& [name, contents] : members) {
      if (name.size() % 2)
        zip.add(name, contents);
      else
        zip.add(name, source_of(contents));
    }
    zip.finish();
  });
  const FileSource file = FileSource::open(path);
  bytes = file.text(0, file.size());
  std::remove(path.c_str());
  return bytes;
}

// What Python's zipfile writes for one deflated member of `a` times 1000.
std::string deflated() {
  const unsigned char bytes[] = {
      0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x03, 0xda,
      0x38, 0x9a, 0x0b, 0x00, 0x00, 0x00, 0xe8, 0x03, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x61, 0x4b,
      0x4c, 0x1c, 0x05, 0xa3, 0x60, 0x14, 0x0c, 0x77, 0x00, 0x00, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03,
      0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x03, 0xda, 0x38, 0x9a, 0x0b, 0x00,
      0x00, 0x00, 0xe8, 0x03, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x61, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00,
      0x00, 0x01, 0x00, 0x01, 0x00, 0x2f, 0x00, 0x00, 0x00, 0x2a, 0x00, 0x00, 0x00, 0x00, 0x00};
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

template <class Do>
void expect_bad_file(Do&& act, const std::string& what = "") {
  try {
    act();
    ADD_FAILURE() << "no error: " << what;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::bad_file) << e.what();
    EXPECT_NE(std::string(e.what()).find("test.zip"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
  }
}

void read_all(const std::string& bytes) {
  const ZipReader zip(source_of(bytes));
  for (const auto& member : zip.members()) zip.read(member, 1u << 20);
}

TEST(Zip, ReadsWhatItWrites) {
  const std::string large(300'000, 'x');
  const ZipReader zip(source_of(archive({{"a/b.json", "{}"}, {"empty", ""}, {"large", large}})));
  ASSERT_EQ(zip.members().size(), 3u);
  EXPECT_EQ(zip.read(*zip.find("a/b.json"), 100), "{}");
  EXPECT_EQ(zip.read(*zip.find("empty"), 100), "");
  EXPECT_EQ(zip.read(*zip.find("large"), 1u << 20), large);
  EXPECT_EQ(zip.find("b.json"), nullptr);
}

TEST(Zip, AStoredMemberIsReadInPlace) {
  const std::string bytes = archive({{"x", "0123456789"}});
  const ZipReader zip(source_of(bytes));
  const FileSource member = zip.open(*zip.find("x"), 100);
  EXPECT_EQ(member.offset(), bytes.find("0123456789"));
  EXPECT_EQ(member.text(3, 4), "3456");
  expect_bad_file([&] { member.text(8, 4); });
}

TEST(Zip, ADeflatedMemberIsUnpacked) {
  const ZipReader zip(source_of(deflated()));
  EXPECT_EQ(zip.read(zip.members()[0], 1000), std::string(1000, 'a'));
  EXPECT_EQ(zip.open(zip.members()[0], 1000).text(990, 10), std::string(10, 'a'));
  expect_bad_file([&] { zip.read(zip.members()[0], 999); }, "more than the 999 allowed");
}

TEST(Zip, EveryCutIsABadFile) {
  for (const std::string& whole : {archive({{"a", "some text"}, {"b", "more"}}), deflated()}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      expect_bad_file([&] { read_all(whole.substr(0, size)); });
    }
  }
}

TEST(Zip, AChangedByteOfAMemberIsABadFile) {
  std::string bytes = archive({{"a", "some text"}});
  bytes[bytes.find("text")] = 'T';
  expect_bad_file([&] { read_all(bytes); }, "checksum");
}

TEST(Zip, NamesThatLeadElsewhereAreRefused) {
  for (const char* name : {"/etc/x", "../x", "a/../../x", "a/..", "a\\b", "c:x", ""}) {
    expect_bad_file([&] { read_all(archive({{name, "x"}})); }, "not allowed");
  }
  EXPECT_NO_THROW(read_all(archive({{"a/b..c/..d", "x"}})));
  expect_bad_file([&] { read_all(archive({{"a", "x"}, {"a", "y"}})); }, "two members");
}

TEST(Zip, ASizeThatDeflateCannotReachIsRefused) {
  std::string bytes = deflated();
  const size_t entry = bytes.find("PK\x01\x02");
  bytes[entry + 26] = 1;  // 65 KiB more
  expect_bad_file([&] { read_all(bytes); }, "cannot hold");
}

TEST(Zip, MembersThatOverlapAreRefused) {
  std::string bytes = archive({{"a", "some text"}, {"b", "more"}});
  const size_t entry = bytes.rfind("PK\x01\x02");
  bytes[entry + 42] = 1;  // the second begins inside the first
  expect_bad_file([&] { read_all(bytes); }, "goes into the next");
}

}  // namespace
}  // namespace plimsoll
