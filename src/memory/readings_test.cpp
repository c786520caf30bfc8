#include "memory/readings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace plimsoll::readings {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(ReadingsParse, TheShareOfTimeInWhichEveryoneWaitedForMemory) {
  EXPECT_EQ(parse::stalled("some avg10=9.00 avg60=1.00 total=5\nfull avg10=1.25 avg60=0.00 total=3\n"), 1.25);
  EXPECT_FALSE(parse::stalled("some avg10=9.00\n"));
  EXPECT_FALSE(parse::stalled("full avg10=x"));
  EXPECT_FALSE(parse::stalled(""));
}

TEST(ReadingsParse, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse::number(" 42\n"), 42);
  EXPECT_EQ(parse::number("-1"), -1);
  EXPECT_FALSE(parse::number(""));
  EXPECT_FALSE(parse::number("12x"));
  EXPECT_FALSE(parse::number("99999999999999999999"));
}

TEST(ReadingsParse, ALimitOfMaxOrNear63BitsIsNone) {
  EXPECT_EQ(parse::cgroup_limit("1073741824\n"), kGiB);
  EXPECT_FALSE(parse::cgroup_limit("max\n"));
  EXPECT_FALSE(parse::cgroup_limit("9223372036854771712\n"));
  EXPECT_FALSE(parse::cgroup_limit("18446744073709551615\n"));
  EXPECT_EQ(parse::cgroup_limit("0"), 0);
}

TEST(ReadingsParse, CpuQuotaIsAShareOfThePeriod) {
  EXPECT_EQ(parse::cpu_max("150000 100000\n"), 1.5);
  EXPECT_FALSE(parse::cpu_max("max 100000\n"));
  EXPECT_FALSE(parse::cpu_max("-1 100000"));
  EXPECT_FALSE(parse::cpu_max("100000 0"));
  EXPECT_FALSE(parse::cpu_max(""));
}

TEST(ReadingsParse, FieldsAreFoundByTheirWholeName) {
  const char* text = "SwapCached:   8 kB\nSwap:\t 3 kB\ninactive_file 4096\nBad: x kB\nEmpty:\n";
  EXPECT_EQ(parse::field(text, "Swap"), 3 * 1024);
  EXPECT_EQ(parse::field(text, "inactive_file"), 4096);
  EXPECT_FALSE(parse::field(text, "Bad"));
  EXPECT_FALSE(parse::field(text, "Empty"));
  EXPECT_FALSE(parse::field(text, "inactive"));
}

TEST(ReadingsParse, StatusGivesTheProcess) {
  const auto p = parse::status(
      "Name:\tx\nVmSize:\t 3060 kB\nVmHWM:\t 1700 kB\nVmRSS:\t 1692 kB\n"
      "RssAnon:\t 112 kB\nVmSwap:\t 4 kB\n");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->resident, 1692 * 1024);
  EXPECT_EQ(p->anonymous, 112 * 1024);
  EXPECT_EQ(p->peak_resident, 1700 * 1024);
  EXPECT_EQ(p->swapped, 4 * 1024);
  EXPECT_EQ(p->addresses, 3060 * 1024);
  EXPECT_FALSE(parse::status("Name:\tkthreadd\nState:\tS (sleeping)\n"));
}

TEST(ReadingsParse, MeminfoOfAnOldKernelStillHasAvailable) {
  const auto s =
      parse::meminfo("MemTotal: 100 kB\nMemFree: 20 kB\nCached: 30 kB\nSwapTotal: 5 kB\nSwapFree: 4 kB\n");
  ASSERT_TRUE(s);
  EXPECT_EQ(s->available, 50 * 1024);
  EXPECT_EQ(s->swap_total, 5 * 1024);
  EXPECT_FALSE(parse::meminfo(""));
}

TEST(ReadingsParse, CgroupPathIsThatOfTheController) {
  const char* hybrid = "9:name=systemd:/a\n4:cpu,memory:/b/c\n0::/d:e\n";
  EXPECT_EQ(parse::cgroup_path(hybrid, "memory"), "/b/c");
  EXPECT_EQ(parse::cgroup_path(hybrid, ""), "/d:e");
  EXPECT_FALSE(parse::cgroup_path(hybrid, "pids"));
  EXPECT_FALSE(parse::cgroup_path("nonsense\n", ""));
}

TEST(ReadingsParse, CgroupMountIsThatOfTheController) {
  const char* text =
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
      "35 31 0:32 /docker/x /sys/fs/cgroup/my\\040memory rw shared:9 - cgroup cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
  const auto v1 = parse::cgroup_mount(text, "memory");
  ASSERT_TRUE(v1);
  EXPECT_EQ(v1->point, "/sys/fs/cgroup/my memory");
  EXPECT_EQ(v1->root, "/docker/x");
  EXPECT_EQ(parse::cgroup_mount(text, "")->point, "/sys/fs/cgroup/unified");
  EXPECT_FALSE(parse::cgroup_mount(text, "cpu"));
}

TEST(ReadingsParse, CgroupFolderIsRelativeToWhatTheMountShows) {
  EXPECT_EQ(parse::cgroup_folder({"/cg", "/"}, "/a/b"), "/cg/a/b");
  EXPECT_EQ(parse::cgroup_folder({"/cg", "/"}, "/"), "/cg");
  EXPECT_EQ(parse::cgroup_folder({"/cg", "/docker/x"}, "/docker/x"), "/cg");
  EXPECT_EQ(parse::cgroup_folder({"/cg", "/docker/x"}, "/docker/x/job"), "/cg/job");
  EXPECT_EQ(parse::cgroup_folder({"/cg", "/docker/x"}, "/docker/xyz"), "/cg");
  EXPECT_EQ(parse::cgroup_folder({"/cg", "/"}, "/../other"), "/cg");
}

#if defined(__linux__)

// A made-up file system below a folder of its own.
class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "plimsoll_readings_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~Tree() { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

TEST(Readings, TheTightestLimitOfNestedGroupsCounts) {
  const Tree tree;
  tree.write("/proc/self/cgroup", "0::/slice/app\n");
  tree.write("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.write("/sys/fs/cgroup/slice/app/memory.max", "max\n");
  tree.write("/sys/fs/cgroup/slice/app/memory.current", "500\n");
  tree.write("/sys/fs/cgroup/slice/app/memory.events", "low 0\noom 3\noom_kill 2\n");
  tree.write("/sys/fs/cgroup/slice/app/cpu.max", "max 100000\n");
  tree.write("/sys/fs/cgroup/slice/memory.max", "1000\n");
  tree.write("/sys/fs/cgroup/slice/memory.current", "900\n");
  tree.write("/sys/fs/cgroup/slice/memory.stat", "anon 600\ninactive_file 300\n");
  tree.write("/sys/fs/cgroup/slice/cpu.max", "250000 100000\n");
  const auto group = cgroup(0, tree.root());
  ASSERT_TRUE(group);
  EXPECT_EQ(group->version, 2);
  ASSERT_EQ(group->levels.size(), 2u);
  EXPECT_FALSE(group->levels[0].limit);
  EXPECT_EQ(group->levels[0].oom_kills, 2);
  EXPECT_EQ(group->limit(), 1000);
  EXPECT_EQ(group->room(), 400);
  EXPECT_EQ(cpu_quota(tree.root()), 2.5);
}

TEST(Readings, V1GovernsMemoryInAHybridSetup) {
  const Tree tree;
  tree.write("/proc/self/cgroup", "4:memory:/docker/x\n1:cpu,cpuacct:/\n0::/\n");
  tree.write("/proc/self/mountinfo",
             "30 24 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
             "31 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
             "35 24 0:32 /docker/x /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  tree.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  tree.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "700\n");
  tree.write("/sys/fs/cgroup/memory/memory.stat",
             "hierarchical_memory_limit 2000\ntotal_inactive_file 100\n");
  tree.write("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  tree.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  tree.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  const auto group = cgroup(0, tree.root());
  ASSERT_TRUE(group);
  EXPECT_EQ(group->version, 1);
  EXPECT_EQ(group->limit(), 2000) << "the ancestors' limit, which the container cannot see";
  EXPECT_EQ(group->room(), 1400);
  EXPECT_EQ(group->levels[0].oom_kills, 1);
  EXPECT_FALSE(cpu_quota(tree.root()));
}

TEST(Readings, NoControlGroupIsNoError) {
  const Tree tree;
  EXPECT_FALSE(cgroup(0, tree.root()));
  EXPECT_FALSE(cpu_quota(tree.root()));
  tree.write("/proc/self/cgroup", "0::/\n");
  tree.write("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_FALSE(cgroup(0, tree.root()));
}

#endif  // __linux__

TEST(Readings, SeeBytesThatThisProcessTouches) {
  const auto before = process();
  ASSERT_TRUE(before);
  constexpr size_t kBytes = 32 << 20;
  std::vector<char> bytes(kBytes);
  volatile char* const touched = bytes.data();  // else a compiler may do without them
  for (size_t i = 0; i < kBytes; i += 4096) touched[i] = 1;
  const auto after = process(::getpid());
  ASSERT_TRUE(after);
  EXPECT_GE(after->resident - before->resident, static_cast<int64_t>(kBytes) * 9 / 10);
  EXPECT_GE(after->peak_resident, after->resident);
  ASSERT_TRUE(proportional());
  EXPECT_GE(*proportional(), static_cast<int64_t>(kBytes));
}

TEST(Readings, ThisMachineMakesSense) {
  const auto machine = readings::system();
  ASSERT_TRUE(machine);
  EXPECT_GT(machine->total, 0);
  EXPECT_LE(machine->available, machine->total);
  EXPECT_GE(usable_cpus(), 1);
}

TEST(Readings, AProcessThatIsNotThereIsNoReading) {
  EXPECT_FALSE(process(0x7ffffff0));
  EXPECT_FALSE(proportional(0x7ffffff0));
}

}  // namespace
}  // namespace plimsoll::readings
