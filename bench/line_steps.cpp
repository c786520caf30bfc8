// What a step takes under a line: each model at 50, 30 and 20 % of the arena it has without one, and the
// least there is.
//   line_steps [--plan] [--peak] [--exact] [--rounds N] [--json FILE] [MODEL ...]
// --plan: what the planner expects, without running. --peak: with what lies in the arena where it is fullest.
// --exact: the batch is never cut. --json: one object per line, for bench/line.py.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "models/models.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/program.h"

namespace {

using namespace plimsoll;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Contender {
  int share;
  models::Weights weights{};
  MemoryReport memory{};
  std::unique_ptr<Program> program = nullptr;
  std::vector<Tensor> outputs = std::vector<Tensor>(1);
  std::vector<double> seconds = {};
};

struct Arguments {
  bool plan = false, peak = false, exact = false;
  int rounds = 9;
  std::string json = {};
  std::vector<std::string> models = {};
};

// Those that the line is measured on: shallow and deep, with and without batch normalisation, recurrent,
// wide.
constexpr const char* kModels[] = {"cnn64bn_b32", "cnn100_b512", "resnet50_b8", "mobilenetv2_b16",
                                   "unet_b4",     "vgg16_b16",   "bert_b4",     "lstm_b32"};

int64_t bytes_of(const std::vector<Tensor>& tensors) {
  int64_t sum = 0;
  for (const Tensor& t : tensors) sum += byte_size(t.dtype(), t.shape());
  return sum;
}

// `seconds` 0: not run.
void write_json(std::FILE* file, std::string_view model, const Contender& c, int64_t batch, double seconds) {
  const MemoryReport& m = c.memory;
  std::fprintf(file,
               "{\"model\": \"%s\", \"share\": %d, \"fits\": %s, \"arena\": %lld, \"total\": %lld, "
               "\"parts\": %lld, \"again\": %lld, \"expected\": %.4f, \"seconds\": %.6f}\n",
               std::string(model).c_str(), c.share, m.fits ? "true" : "false",
               static_cast<long long>(m.arena),
               static_cast<long long>(m.arena + m.variables + m.constants + m.program + batch),
               static_cast<long long>(m.parts), static_cast<long long>(m.again),
               1 + m.extra_seconds / m.seconds, seconds);
}

void print_plan(const Contender& c, int64_t all, double planning, const MemoryReport& m) {
  std::printf(
      "  %3d %%: arena %8.2f MiB (%5.1f %%)  %s  expected %.3fx (bound %.3fx)  %lld run again  %lld parts  "
      "planned in %.2f s\n",
      c.share, static_cast<double>(m.arena) / (1 << 20),
      100.0 * static_cast<double>(m.arena) / static_cast<double>(all), m.fits ? "fits" : "DOES NOT FIT",
      1 + m.extra_seconds / m.seconds, 1 + m.least_extra / m.seconds, static_cast<long long>(m.again),
      static_cast<long long>(m.parts), planning);
}

// What lies in the arena at the step where that is most.
void print_peak(const Graph& graph, CompileOptions options, const MemoryReport& m) {
  options.memory = -1;
  options.recipe = m.recipe;
  const std::vector<ArenaSpan> spans = Program::compile(graph, options).timeline();
  const auto at = [&](int64_t step) {
    std::vector<ArenaSpan> list;
    std::ranges::copy_if(spans, std::back_inserter(list),
                         [&](const ArenaSpan& s) { return s.first <= step && step <= s.last; });
    return list;
  };
  const auto sum = [](const std::vector<ArenaSpan>& list) {
    int64_t bytes = 0;
    for (const ArenaSpan& s : list) bytes += s.bytes;
    return bytes;
  };
  int64_t fullest = 0;
  for (const ArenaSpan& s : spans) {
    if (sum(at(s.first)) > sum(at(fullest))) fullest = s.first;
  }
  std::vector<ArenaSpan> list = at(fullest);
  std::ranges::stable_sort(list, std::greater(), &ArenaSpan::bytes);
  for (const ArenaSpan& s : list) {
    if (s.bytes < sum(list) / 100) break;
    std::printf("        %8.2f MiB  %s%s, %s%s\n", static_cast<double>(s.bytes) / (1 << 20),
                s.first == fullest ? "makes " : "", s.layer.c_str(), s.what.c_str(),
                s.again ? ", again" : "");
  }
}

// The smallest arena there is, bit by bit the same and with the batch cut.
void print_least(const models::Model& model, int64_t all, const Arguments& a) {
  for (const bool cut : {false, true}) {
    if (cut && a.exact) continue;
    models::Weights weights;
    CompileOptions options;
    options.memory = 0;
    options.micro_batch = cut;
    const Graph graph = models::train_graph(model, weights, model.batch);
    const MemoryReport m = Program::forecast(graph, options);
    std::printf("  least%s: arena %8.2f MiB (%5.1f %%)  expected %.3fx  %lld parts\n", cut ? " in parts" : "",
                static_cast<double>(m.arena) / (1 << 20),
                100.0 * static_cast<double>(m.arena) / static_cast<double>(all),
                1 + m.extra_seconds / m.seconds, static_cast<long long>(m.parts));
    if (a.peak) print_peak(graph, options, m);
  }
}

void run_model(const models::Model& model, const Arguments& a) {
  std::printf("%s\n", std::string(model.name).c_str());
  std::vector<std::unique_ptr<Contender>> list;
  const std::vector<Tensor> inputs = models::sample_batch(model, model.batch);
  int64_t all = 0;
  for (const int share : {100, 50, 30, 20}) {
    auto c = std::make_unique<Contender>(Contender{share});
    const Graph graph = models::train_graph(model, c->weights, model.batch);
    CompileOptions options;
    if (share < 100) options.memory = all * share / 100;
    options.micro_batch = !a.exact;
    const auto start = Clock::now();
    const MemoryReport m = Program::forecast(graph, options);
    if (share == 100) all = m.arena;
    print_plan(*c, all, since(start), m);
    if (a.peak) print_peak(graph, options, m);
    c->memory = m;
    if (m.fits && !a.plan) {
      options.recipe = m.recipe;
      c->program = std::make_unique<Program>(Program::compile(graph, options));
      c->program->run(inputs, c->outputs);
    }
    list.push_back(std::move(c));
  }
  print_least(model, all, a);
  for (int round = 0; round < a.rounds; ++round) {
    for (const auto& c : list) {
      if (!c->program) continue;
      const auto start = Clock::now();
      c->program->run(inputs, c->outputs);
      c->seconds.push_back(since(start));
    }
  }
  double unlimited = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      a.json.empty() ? nullptr : std::fopen(a.json.c_str(), "a"), std::fclose);
  for (const auto& c : list) {
    if (!c->program) {
      if (file) write_json(file.get(), model.name, *c, bytes_of(inputs), 0);
      continue;
    }
    std::nth_element(c->seconds.begin(), c->seconds.begin() + a.rounds / 2, c->seconds.end());
    const double median = c->seconds[static_cast<size_t>(a.rounds / 2)];
    if (c->share == 100) unlimited = median;
    std::printf("  %3d %%: %9.2f ms a step, %.3fx\n", c->share, 1e3 * median, median / unlimited);
    if (file) write_json(file.get(), model.name, *c, bytes_of(inputs), median);
  }
  std::fflush(stdout);
}

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--plan")
      a.plan = true;
    else if (arg == "--peak")
      a.plan = a.peak = true;
    else if (arg == "--exact")
      a.exact = true;
    else if (arg == "--json" && i + 1 < argc)
      a.json = argv[++i];
    else if (arg == "--rounds" && i + 1 < argc)
      a.rounds = std::max(1, std::atoi(argv[++i]));
    else
      a.models.push_back(arg);
  }
  if (a.models.empty()) a.models = {std::begin(kModels), std::end(kModels)};
  return a;
}

}  // namespace

int main(int argc, char** argv) try {
  const Arguments a = parse(argc, argv);
  for (const std::string& name : a.models) run_model(models::get_model(name), a);
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
