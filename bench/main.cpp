// plimsoll_bench --row NAME [--device NAME] [--threads N] [--memory MIB] [--rounds N | --serve | --profile |
// --text], or --list, or --once.
// --memory: the most that temporaries may take.
// --once runs one round of every row: do they all run?
// --serve answers every line on standard input with one round, as bench/peers.py does, so that ours and
// theirs can take turns.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>

#include "rows.h"

namespace plimsoll::bench {
namespace {

struct Arguments {
  std::string row;
  std::string device = "cpu";
  int threads = 0;
  int rounds = 5;
  int64_t memory = -1;
  bool list = false;
  bool once = false;
  bool serve = false;
  bool profile = false;
  bool text = false;
};

double time_round(const Round& round) {
  const auto start = std::chrono::steady_clock::now();
  round.run();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(round.count) * round.scale;
}

void serve(const Round& round) {
  std::cout << "{\"ready\": true}" << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) std::cout << "{\"value\": " << time_round(round) << "}" << std::endl;
}

void print_profile(const Round& round) {
  std::map<std::string, std::pair<double, int>> kinds;
  double total = 0;
  for (const auto& [what, seconds] : round.profile(5)) {
    auto& [sum, count] = kinds[what];
    sum += seconds;
    ++count;
    total += seconds;
  }
  std::vector<std::pair<std::string, std::pair<double, int>>> rows(kinds.begin(), kinds.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  for (const auto& [what, spent] : rows) {
    std::printf("%10.4f ms %5.1f %% %5d x  %s\n", spent.first * 1e3, 100 * spent.first / total, spent.second,
                what.c_str());
  }
  std::printf("%10.4f ms in all\n", total * 1e3);
}

void print_rounds(const Arguments& arguments, const Round& round) {
  std::vector<double> values;
  for (int i = 0; i < arguments.rounds; ++i) values.push_back(time_round(round));
  std::sort(values.begin(), values.end());
  std::printf("%-24s median %.4f %s, best %.4f\n", arguments.row.c_str(), values[values.size() / 2],
              std::string(unit_of(arguments.row)).c_str(), values.front());
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  const auto value = [&](int& i) { return i + 1 < argc ? argv[++i] : ""; };
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--row") arguments.row = value(i);
    if (name == "--device") arguments.device = value(i);
    if (name == "--threads") arguments.threads = std::atoi(value(i));
    if (name == "--rounds") arguments.rounds = std::max(1, std::atoi(value(i)));
    if (name == "--memory") arguments.memory = std::atoll(value(i)) << 20;
    if (name == "--list") arguments.list = true;
    if (name == "--once") arguments.once = true;
    if (name == "--serve") arguments.serve = true;
    if (name == "--profile") arguments.profile = true;
    if (name == "--text") arguments.text = true;
  }
  return arguments;
}

void run_all_once(int threads) {
  for (const std::string& name : row_names()) {
    std::printf("%s\n", name.c_str());
    std::fflush(stdout);
    make_row(name, threads, "cpu").run();
  }
}

int run(const Arguments& arguments) {
  if (arguments.once) return run_all_once(arguments.threads), 0;
  if (arguments.list || arguments.row.empty()) {
    for (const auto& names : {row_names(), device_row_names()})
      for (const std::string& name : names)
        std::printf("%s %s\n", name.c_str(), std::string(unit_of(name)).c_str());
    return arguments.list ? 0 : 2;
  }
  const Round round = make_row(arguments.row, arguments.threads, arguments.device, arguments.memory);
  if (arguments.text && round.text) std::fputs(round.text().c_str(), stdout);
  round.run();
  if (arguments.serve) {
    serve(round);
  } else if (arguments.profile && round.profile) {
    print_profile(round);
  } else {
    print_rounds(arguments, round);
  }
  return 0;
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  try {
    return plimsoll::bench::run(plimsoll::bench::parse(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "plimsoll_bench: %s\n", e.what());
    return 1;
  }
}
