#include "build.h"

#include <algorithm>
#include <limits>

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
  launch(std::string(node.op()), each_text(parameters, count, largest, kThreads, body), blocks, kThreads,
         std::move(args));
}

void Build::copy(Ref to, Ref from, int64_t bytes) {
  if (bytes > 0) add(std::make_unique<CopyStep>(to, from, bytes));
}
void Build::zero(Ref to, int64_t bytes) {
  if (bytes > 0) add(std::make_unique<ZeroStep>(to, bytes));
}

}  // namespace plimsoll::cuda
