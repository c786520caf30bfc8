#include "doctor/formats/hdf5_groups.h"

#include <gtest/gtest.h>

#include <cstring>

namespace plimsoll::doctor {
namespace {

void put(std::string& file, size_t at, uint64_t value, size_t width) {
  std::memcpy(&file[at], &value, width);
}

// A root group with a tree of one leaf that holds one empty data set.
std::string small_file() {
  std::string file(1024, '\0');
  file.replace(0, 8, "\x89HDF\r\n\x1a\n");
  file[13] = file[14] = 8;
  put(file, 64, 128, 8);  // the root's header
  file[128] = 1;
  put(file, 136, 24, 4);  // bytes of messages
  put(file, 144, 0x11, 2);
  put(file, 146, 16, 2);
  put(file, 152, 256, 8);
  put(file, 160, 384, 8);
  file.replace(256, 4, "TREE");
  put(file, 262, 1, 2);
  put(file, 288, 512, 8);
  file.replace(384, 4, "HEAP");
  file.replace(512, 4, "SNOD");
  put(file, 518, 1, 2);
  put(file, 528, 768, 8);  // the data set's header
  file[768] = 1;
  return file;
}

std::string complaint_of(const std::string& file) {
  try {
    check_hdf5_groups(Bytes(file));
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Hdf5Groups, FollowsAWholeFile) { EXPECT_EQ(complaint_of(small_file()), ""); }

TEST(Hdf5Groups, NamesATableThatIsZeros) {
  for (const size_t at : {256, 384, 512, 768}) {
    std::string file = small_file();
    file.replace(at, 16, std::string(16, '\0'));
    EXPECT_NE(complaint_of(file).find("got zeros"), std::string::npos) << at;
  }
}

TEST(Hdf5Groups, FollowsAHeaderThatGoesOnElsewhere) {
  std::string file = small_file();
  file.replace(900, 24, file.substr(144, 24));
  put(file, 144, 0x10, 2);
  put(file, 152, 900, 8);
  put(file, 160, 24, 8);
  EXPECT_EQ(complaint_of(file), "");
  file.replace(256, 4, std::string(4, '\0'));
  EXPECT_NE(complaint_of(file), "");
}

TEST(Hdf5Groups, EndsWhereATreeLeadsBackToItself) {
  std::string file = small_file();
  file[261] = 1;
  put(file, 288, 256, 8);
  EXPECT_EQ(complaint_of(file), "");
}

}  // namespace
}  // namespace plimsoll::doctor
