#include "common/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / concat("plimsoll-files-", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  size_t entries() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

TEST_F(Files, WritesAndReplaces) {
  const fs::path path = folder_ / "a";
  for (const std::string text : {"first", "2nd"}) {
    write_atomically(path, [&](NewFile& f) {
      f.write(text.data(), 1);
      f.write(text.data() + 1, text.size() - 1);
      EXPECT_EQ(f.position(), text.size());
    });
    EXPECT_EQ(text_of(path), text);
  }
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AnErrorLeavesTheOldFileAndNothingElse) {
  const fs::path path = folder_ / "a";
  write_atomically(path, [](NewFile& f) { f.write("old", 3); });
  EXPECT_THROW(write_atomically(path,
                                [](NewFile& f) {
                                  f.write("half", 4);
                                  fail(ErrorKind::internal, "test", "stop");
                                }),
               Error);
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, KeepsPermissionsAndFollowsLinks) {
  const fs::path path = folder_ / "a", link = folder_ / "link";
  write_atomically(path, [](NewFile& f) { f.write("old", 3); });
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", link);
  write_atomically(link, [](NewFile& f) { f.write("new", 3); });
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(text_of(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, AFolderThatIsNotThereIsAnIoError) {
  try {
    write_atomically(folder_ / "no" / "a", [](NewFile&) {});
    FAIL() << "expected an Error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::io);
    EXPECT_NE(std::string(e.what()).find("no/a"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace plimsoll
