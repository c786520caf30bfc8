// The rows of the benchmark. A row makes a Round once (graph, program, data) and then runs it again and
// again.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll::bench {

struct Round {
  std::function<void()> run;
  int64_t count = 1;   // what one run() counts as
  double scale = 1e3;  // units of the row per second: 1e3 for ms
  // (optional) Time per step of the program, in seconds.
  std::function<std::vector<std::pair<std::string, double>>(int runs)> profile;
  std::function<std::string()> text;  // (optional) the program
};

std::vector<std::string> row_names();
std::vector<std::string> device_row_names();     // for GPUs; make_row() knows them too
std::string_view unit_of(std::string_view row);  // "ms", "us" or "s"
// With `memory` bytes at most for temporaries, if that is not negative; the batch may be cut for it. Throws
// Error{not_found} if there is no such row or device.
Round make_row(std::string_view row, int threads, std::string_view device, int64_t memory = -1);

// Those that call fit(); make_row() knows them too.
std::vector<std::string> fit_row_names();
bool is_fit_row(std::string_view row);
Round make_fit_row(std::string_view row, int threads, std::string_view device);

}  // namespace plimsoll::bench
