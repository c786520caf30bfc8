#include "build.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "text.h"

namespace plimsoll::cuda {
namespace {

class CopyStep final : public Step {
 public:
  CopyStep(Ref to, Ref from, int64_t bytes) : to_(to), from_(from), bytes_(bytes) {}
  void run(const Place& place) override {
    const CUdeviceptr to = place(to_), from = place(from_);
    if (to != from)
      check(driver().copy_on_device(to, from, static_cast<size_t>(bytes_), place.stream), "copy");
  }
  std::string name() const override { return "copy"; }

 private:
  Ref to_, from_;
  int64_t bytes_;
};

class ZeroStep final : public Step {
 public:
  ZeroStep(Ref to, int64_t bytes) : to_(to), bytes_(bytes) {}
  void run(const Place& place) override {
    check(driver().fill(place(to_), 0, static_cast<size_t>(bytes_), place.stream), "zeros");
  }
  std::string name() const override { return "zeros"; }

 private:
  Ref to_;
  int64_t bytes_;
};

// Several ways to do the same; the fastest is found in the first run.
class FastestStep final : public Step {
 public:
  using Steps = std::vector<std::unique_ptr<Step>>;
  FastestStep(std::string key, Tuning& tuning, std::vector<Steps> ways)
      : key_(std::move(key)), tuning_(tuning), ways_(std::move(ways)) {}

  void run(const Place& place) override {
    const auto run_way = [&](size_t i) {
      for (const auto& step : ways_[i]) step->run(place);
    };
    if (!chosen_) {
      for (size_t i = 0; i < ways_.size(); ++i) run_way(i);  // they choose algorithms of their own first
      chosen_ = tuning_.choose(key_, ways_.size(), place.stream, run_way);
    }
    run_way(*chosen_);
  }
  std::string name() const override { return ways_[chosen_.value_or(0)].back()->name(); }
  std::unique_ptr<Step> adding(Build& b, Ref out, Ref addend) const override {
    return ways_.front().size() == 1 ? ways_.front().front()->adding(b, out, addend) : nullptr;
  }

 private:
  const std::string key_;
  Tuning& tuning_;
  std::vector<Steps> ways_;
  std::optional<size_t> chosen_;
};

constexpr int kThreads = 256;
constexpr int64_t kWavesOfBlocks = 16;  // per multiprocessor, of kernels that loop over elements

}  // namespace

KernelStep::KernelStep(std::string name, const Launch& launch, std::vector<Ref> args)
    : name_(std::move(name)), launch_(launch), args_(std::move(args)), addresses_(args_.size()) {
  for (CUdeviceptr& address : addresses_) pointers_.push_back(&address);
}

void KernelStep::set(CUfunction function) {
  function_ = function;
  constexpr int64_t kWithoutAsking = 48 << 10;
  if (launch_.shared_bytes > kWithoutAsking)
    check(driver().function_set(function, kMostSharedMemory, static_cast<int>(launch_.shared_bytes)),
          "shared memory");
}

void KernelStep::run(const Place& place) {
  for (size_t i = 0; i < args_.size(); ++i) addresses_[i] = place(args_[i]);
  const auto x = static_cast<unsigned>(launch_.blocks), y = static_cast<unsigned>(launch_.blocks_y),
             threads = static_cast<unsigned>(launch_.threads),
             bytes = static_cast<unsigned>(launch_.shared_bytes);
  check(launch_.together ? driver().launch_cooperative(function_, x, y, 1, threads, 1, 1, bytes, place.stream,
                                                       pointers_.data())
                         : driver().launch(function_, x, y, 1, threads, 1, 1, bytes, place.stream,
                                           pointers_.data(), nullptr),
        name_.c_str());
}

Ref Build::scratch(int64_t bytes) {
  const Ref ref{-1, scratch_bytes};
  scratch_bytes += (bytes + 255) / 256 * 256;
  return ref;
}

Ref Build::prepared(int64_t bytes, std::vector<size_t> inputs, const std::function<void(Ref)>& add_steps) {
  const Ref ref{Ref::kPrepared, prepared_bytes};
  prepared_bytes += (bytes + 255) / 256 * 256;
  prepared_inputs.insert(prepared_inputs.end(), inputs.begin(), inputs.end());
  std::vector<std::unique_ptr<Step>> others = std::move(steps);
  steps.clear();
  add_steps(ref);
  for (auto& step : steps) preparations.push_back(std::move(step));
  steps = std::move(others);
  return ref;
}

void Build::fastest(const std::string& key, const std::vector<std::function<void()>>& ways) {
  if (device.tuning == nullptr) return ways.front()();
  if (const std::optional<size_t> known = device.tuning->known(key, ways.size())) return ways[*known]();
  std::vector<std::unique_ptr<Step>> others = std::move(steps);
  std::vector<std::vector<std::unique_ptr<Step>>> all;
  const int64_t start = scratch_bytes;
  int64_t most = start;
  for (const auto& way : ways) {
    steps.clear();
    scratch_bytes = start;
    way();
    most = std::max(most, scratch_bytes);
    all.push_back(std::move(steps));
  }
  scratch_bytes = most;
  steps = std::move(others);
  add(std::make_unique<FastestStep>(key, *device.tuning, std::move(all)));
}

void Build::launch(std::string name, std::string text, const Launch& launch, std::vector<Ref> args) {
  if (launch.blocks > std::numeric_limits<int32_t>::max() || launch.blocks_y > 65535)
    fail(ErrorKind::unsupported, node.op(), "too many elements for one kernel");
  auto step = std::make_unique<KernelStep>(std::move(name), launch, std::move(args));
  sources_.texts.push_back(std::move(text));
  sources_.steps.push_back(step.get());
  add(std::move(step));
}

void Build::each(std::string_view parameters, int64_t count, std::string_view body, std::vector<Ref> args) {
  if (count == 0) return;
  const int64_t blocks =
      std::min((count + kThreads - 1) / kThreads, kWavesOfBlocks * std::max(1, device.multiprocessors));
  int64_t largest = count;
  for (size_t i = 0; i < node.input_count(); ++i) largest = std::max(largest, node.in(i).count());
  for (size_t i = 0; i < node.output_count(); ++i) largest = std::max(largest, node.out(i).count());
  const size_t arguments = args.size();
  launch(std::string(node.op()), each_text(parameters, count, largest, kThreads, body), blocks, kThreads,
         std::move(args));
  sources_.steps.back()->set_each({std::string(parameters), std::string(body),
                                   std::string(index_type(std::max(count, largest))), arguments, count,
                                   kThreads});
}

void Build::copy(Ref to, Ref from, int64_t bytes) {
  if (bytes > 0) add(std::make_unique<CopyStep>(to, from, bytes));
}
void Build::zero(Ref to, int64_t bytes) {
  if (bytes > 0) add(std::make_unique<ZeroStep>(to, bytes));
}

}  // namespace plimsoll::cuda
