#include "doctor/python/import_path.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

class ImportPathTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const fs::path& file, const std::string& text = "") {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  fs::path root_;
};

TEST_F(ImportPathTest, TakesWhatPythonWouldTake) {
  write("one/a.py");
  write("one/b/notes.txt");
  write("two/a/__init__.py");
  write("two/b.py");
  write("two/c.cpython-311-x86_64-linux-gnu.so");
  write("two/c.py");
  write("two/d.cpython-310-x86_64-linux-gnu.so");
  ImportPath path("cpython-311");
  path.add({root_ / "one", PathEntry::From::folder, "", {}, false, {}});
  path.add({root_ / "two", PathEntry::From::site, "", {}, false, {}});
  EXPECT_EQ(path.find("a").file, root_ / "one/a.py");
  EXPECT_EQ(path.find("a", 1).file, root_ / "two/a/__init__.py");
  EXPECT_EQ(path.find("b").file, root_ / "two/b.py");  // a folder without __init__.py comes last
  EXPECT_EQ(path.find("c").file.filename(), "c.cpython-311-x86_64-linux-gnu.so");
  EXPECT_FALSE(path.find("d"));
  EXPECT_FALSE(path.find("e"));
}

TEST_F(ImportPathTest, FollowsPthFiles) {
  write("linked/a.py");
  write("early/a.py");
  write("site/b.py");
  write("site/1.pth",
        "# a comment\n" + (root_ / "linked").string() + "\n/gone\nimport hook, sys; hook.go()\n");
  write("site/2.pth", "import sys; sys.path.insert(0, '" + (root_ / "early").string() + "')\n");
  ImportPath path("cpython-311");
  path.add_site(root_ / "site", "python3.11");
  EXPECT_EQ(path.find("a").file, root_ / "early/a.py");
  ASSERT_EQ(path.pth_files().size(), 2u);
  EXPECT_EQ(path.pth_files()[0].gone, std::vector<std::string>{"/gone"});
  EXPECT_EQ(path.pth_files()[0].modules, (std::vector<std::string>{"hook", "sys"}));
}

TEST(PthLine, FindsModulesInCode) {
  const PthLine line = parse_pth_line("import os; var = 'X'; enabled and __import__('_distutils_hack');");
  EXPECT_EQ(line.modules, (std::vector<std::string>{"os", "_distutils_hack"}));
  EXPECT_EQ(parse_pth_line("  ../src ").folder, "../src");
  EXPECT_TRUE(parse_pth_line("import x; sys.path.insert(0, 'open").inserted.empty());
}

TEST(OtherPython, IsSeenInAPath) {
  EXPECT_TRUE(leads_to_other_python("/usr/lib/python3.9/site-packages/", "python3.11"));
  EXPECT_FALSE(leads_to_other_python("/usr/lib/python3.11/site-packages/", "python3.11"));
  EXPECT_FALSE(leads_to_other_python("/home/ada/python3.9/notes/", "python3.11"));
}

}  // namespace
}  // namespace plimsoll::doctor
