#include "guard/kernelspec.h"

#include <gtest/gtest.h>

#include "guard/files.h"
#include "guard/options.h"
#include "guard/private_folder.h"
#include "guard/report.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Kernelspec plain(const fs::path& folder) {
  return {"python3",
          folder,
          {{"argv", {"/env/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"}},
           {"display_name", "Python 3"},
           {"language", "python"},
           {"env", {{"A", "1"}}}}};
}

TEST(Kernelspec, TwinKeepsTheKernelAndPutsTheGuardBeforeIt) {
  InstallOptions options;
  options.guard = "/opt/bin/plimsoll-guard";
  options.words = {"--memory", "4GiB", "--stall-notice", "20", "--no-cgroup"};
  const json twin = guarded_twin(plain("/env/share/jupyter/kernels/python3"), options);
  const std::vector<std::string> argv = twin["argv"];
  EXPECT_EQ(argv.front(), "/opt/bin/plimsoll-guard");
  EXPECT_EQ(
      std::vector<std::string>(argv.end() - 5, argv.end()),
      (std::vector<std::string>{"/env/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"}));
  EXPECT_NE(std::find(argv.begin(), argv.end(), "4GiB"), argv.end());
  EXPECT_EQ(twin["env"]["A"], "1");
  EXPECT_EQ(twin["metadata"]["supported_encryption"][0], "curve");
  const GuardOptions parsed = parse_options({argv.begin() + 1, argv.end()});
  EXPECT_EQ(parsed.memory, "4GiB");
  EXPECT_EQ(parsed.stall_notice, 20);
  EXPECT_FALSE(parsed.cgroup);
  EXPECT_EQ(parsed.command.size(), 5u);
}

TEST(Kernelspec, InstallsListsAndRemovesOnlyTwins) {
  PrivateFolder home;
  const fs::path kernels = home.path() / "share/jupyter/kernels";
  fs::create_directories(kernels / "python3");
  write_file(kernels / "python3" / "kernel.json", plain("").json.dump());
  write_file(kernels / "python3" / "logo.svg", "<svg/>");
  InstallOptions options;
  options.guard = "/bin/true";
  options.prefix = home.path();
  const auto folder = install_kernelspec(options, {kernels});
  EXPECT_EQ(folder, kernels / "python3-guarded");
  EXPECT_TRUE(fs::exists(folder / "logo.svg"));
  const auto specs = list_kernelspecs({kernels});
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[1].guards(), "python3");
  EXPECT_THROW(remove_kernelspec("python3", {kernels}), Error);
  EXPECT_THROW(remove_kernelspec("absent", {kernels}), Error);
  remove_kernelspec("python3-guarded", {kernels});
  EXPECT_EQ(list_kernelspecs({kernels}).size(), 1u);
  options.of = "absent";
  EXPECT_THROW(install_kernelspec(options, {kernels}), Error);
  options.of = "python3";
  options.words = {"--stall-notice", "soon"};
  EXPECT_THROW(install_kernelspec(options, {kernels}), Error);
  EXPECT_EQ(list_kernelspecs({kernels}).size(), 1u);
  options.words.clear();
  options.name = "../evil";
  EXPECT_THROW(install_kernelspec(options, {kernels}), Error);
}

TEST(Options, SayWhatIsWrong) {
  EXPECT_THROW(parse_options({"--memory"}), Error);
  EXPECT_THROW(parse_options({"--nonsense", "--", "true"}), Error);
  EXPECT_THROW(parse_options({"--stall-timeout", "soon", "--", "true"}), Error);
  EXPECT_THROW(parse_options({"--transport", "pigeon", "--", "true"}), Error);
  EXPECT_THROW(parse_options({"--"}), Error);
  EXPECT_TRUE(parse_options({"--help"}).command.empty());
  EXPECT_EQ(parse_options({"python", "x.py", "--memory", "1"}).command.size(), 4u);
}

TEST(Report, IsWrittenReadAndPruned) {
  PrivateFolder home;
  ReportInput in;
  in.name = "python3";
  in.verdict.title = "a <bad> thing";
  in.evidence.last_words = "broken \xFF text";
  in.evidence.samples = {{1, 100, 0, 0}, {2, 200, 0, 0}};
  in.note = {"KernelDied: a <bad> thing"};
  EXPECT_EQ(write_report(home.path(), in), 1);
  EXPECT_EQ(write_report(home.path(), in), 2);
  EXPECT_EQ(list_reports(home.path()), (std::vector<int>{1, 2}));
  const auto report = read_report(home.path(), 2);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->at("title"), "a <bad> thing");
  EXPECT_NE(read_file(home.path() / "2.html")->find("a &lt;bad&gt; thing"), std::string::npos);
  EXPECT_FALSE(read_report(home.path(), 3));
  EXPECT_EQ(write_report("/proc/nowhere", in), 0);
}

}  // namespace
}  // namespace plimsoll::guard
