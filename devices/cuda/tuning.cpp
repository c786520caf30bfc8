#include "tuning.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fault.h"
#include "graphs.h"
#include "libraries.h"
#include "stopwatch.h"

namespace plimsoll::cuda {
namespace {

constexpr double kMostSeconds = 3;
constexpr int kRuns = 3, kRunsInGraph = 10;
constexpr double kShort = 1e-4;    // seconds of a run below which the host's part of it shows
constexpr double kClearly = 0.97;  // of the time of the library's own choice

// As a program will run it: in a CUDA graph, where the time that the host takes for a launch does not count.
double seconds_in_graph(CUstream stream, const std::function<void()>& run) {
  const CUgraphExec graph = capture_graph(stream, [&] {
    for (int n = 0; n < kRunsInGraph; ++n) run();
  });
  try {
    Stopwatch watch;
    check(driver().graph_launch(graph, stream), "launching a graph");
    watch.start(stream);
    check(driver().graph_launch(graph, stream), "launching a graph");
    const double spent = watch.stop(stream);
    driver().graph_exec_destroy(graph);
    return spent / kRunsInGraph;
  } catch (...) {
    driver().graph_exec_destroy(graph);
    throw;
  }
}

double seconds_of(CUstream stream, const std::function<void()>& run) {
  run();
  Stopwatch watch;
  watch.start(stream);
  for (int n = 0; n < kRuns; ++n) run();
  const double spent = watch.stop(stream) / kRuns;
  if (spent > kShort) return spent;
  try {
    return seconds_in_graph(stream, run);
  } catch (const Error&) {  // not everything can be captured
    return spent;
  }
}

}  // namespace

std::string cache_path(const std::string& name) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (cache != nullptr && *cache != 0) return concat(cache, "/plimsoll/", name);
  return home != nullptr && *home != 0 ? concat(home, "/.cache/plimsoll/", name) : "";
}

Tuning::Tuning(std::string path) : path_(std::move(path)) { read(); }

void Tuning::read() {
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    size_t choice = 0;
    if (words >> key >> choice) found_[key] = choice;
  }
}

// One line is one write at the end of the file: several processes may do so.
void Tuning::keep(const std::string& key, size_t choice) {
  found_[key] = choice;
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  std::ofstream(path_, std::ios::app) << concat(key, " ", choice, "\n") << std::flush;
}

bool Tuning::has_time() {
  const std::lock_guard lock(mutex_);
  return seconds_ < kMostSeconds;
}

std::optional<size_t> Tuning::known(const std::string& key, size_t count) {
  const std::lock_guard lock(mutex_);
  const auto found = found_.find(key);
  return found != found_.end() && found->second < count ? std::optional(found->second) : std::nullopt;
}

size_t Tuning::choose(const std::string& key, size_t count, CUstream stream,
                      const std::function<void(size_t)>& run) {
  const std::lock_guard lock(mutex_);
  if (const auto found = found_.find(key); found != found_.end() && found->second < count)
    return found->second;
  if (count < 2 || seconds_ >= kMostSeconds) return 0;
  const auto begin = std::chrono::steady_clock::now();
  size_t best = 0;
  double least = 0;
  for (size_t i = 0; i < count; ++i) {
    const double spent = seconds_of(stream, [&] { run(i); });
    if (i > 0 && spent >= least * (best == 0 ? kClearly : 1)) continue;
    best = i;
    least = spent;
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  keep(key, best);
  return best;
}

}  // namespace plimsoll::cuda
