// From a node to the steps that run it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device.h"
#include "node.h"

namespace plimsoll::cuda {

// Bytes that a step reads or writes: those of a value from an offset on, of the node's scratch, or of what it
// has prepared.
struct Ref {
  static constexpr int32_t kScratch = -1, kPrepared = -2;

  int32_t value = kScratch;
  int64_t offset = 0;
};

// Where everything is in one run of a node.
struct Place {
  CUstream stream;
  const CUdeviceptr* values;
  CUdeviceptr scratch, prepared;

  CUdeviceptr operator()(const Ref& ref) const {
    const CUdeviceptr base = ref.value >= 0               ? values[ref.value]
                             : ref.value == Ref::kScratch ? scratch
                                                          : prepared;
    return base + static_cast<CUdeviceptr>(ref.offset);
  }
};

class Build;

// One launch, or one call of a library. Queued on a stream; a run allocates nothing.
class Step {
 public:
  virtual ~Step() = default;
  virtual void run(const Place& place) = 0;
  // Whether it can be part of a CUDA graph: it does not wait for the device.
  virtual bool captures() const { return true; }
  virtual std::string name() const = 0;
  // A step of another node that gives `addend` plus what this one gives, at `out`; null if it has none.
  virtual std::unique_ptr<Step> adding(Build&, Ref /*out*/, Ref /*addend*/) const { return nullptr; }
};

// How a kernel is launched.
struct Launch {
  int64_t blocks = 1;
  int threads = 1;
  int64_t blocks_y = 1;
  int64_t shared_bytes = 0;  // dynamic shared memory
  bool together = false;     // all blocks run at the same time, and may wait for each other
};

// The text of a kernel that does the same for every element: see Build::each().
struct EachKernel {
  std::string parameters, body, index;
  size_t arguments;
  int64_t count;
  int threads;
};

class KernelStep final : public Step {
 public:
  KernelStep(std::string name, const Launch& launch, std::vector<Ref> args);
  void run(const Place& place) override;
  std::string name() const override { return name_; }
  const Launch& launch() const { return launch_; }
  const std::vector<Ref>& args() const { return args_; }
  // Null if it is of another kind.
  const EachKernel* each() const { return each_.get(); }
  void set_each(EachKernel each) { each_ = std::make_unique<const EachKernel>(std::move(each)); }
  // When the program's kernels are compiled.
  void set(CUfunction function);

 private:
  std::string name_;
  Launch launch_;
  CUfunction function_ = nullptr;
  std::vector<Ref> args_;
  std::vector<CUdeviceptr> addresses_;
  std::vector<void*> pointers_;
  std::unique_ptr<const EachKernel> each_;
};

// The kernels of a program that are still source.
struct Sources {
  std::vector<std::string> texts;
  std::vector<KernelStep*> steps;
};

class Build {
 public:
  Build(plimsoll_device& device, const Node& node, Sources& sources)
      : device(device), node(node), sources_(sources) {}

  Ref in(size_t i) const { return {node.input(i), 0}; }
  Ref out(size_t i) const { return {node.output(i), 0}; }
  // More bytes of scratch, aligned to 256.
  Ref scratch(int64_t bytes);
  // More bytes for what is made of these inputs alone by the steps that `add_steps` adds: where all of them
  // are weights that stay as they are, that is done once.
  Ref prepared(int64_t bytes, std::vector<size_t> inputs, const std::function<void(Ref)>& add_steps);
  // The fastest of several ways to do the same, each of which adds its steps.
  void fastest(const std::string& key, const std::vector<std::function<void()>>& ways);

  void add(std::unique_ptr<Step> step) { steps.push_back(std::move(step)); }
  // A kernel `text` (see Kernels) with a pointer for each argument.
  void launch(std::string name, std::string text, const Launch& launch, std::vector<Ref> args);
  void launch(std::string name, std::string text, int64_t blocks, int threads, std::vector<Ref> args,
              int64_t blocks_y = 1) {
    launch(std::move(name), std::move(text), Launch{blocks, threads, blocks_y}, std::move(args));
  }
  // One thread per element of `count`: `body` is the text for element `at`; see each_text(). Indices in it
  // are below the count of the node's largest operand.
  void each(std::string_view parameters, int64_t count, std::string_view body, std::vector<Ref> args);
  void copy(Ref to, Ref from, int64_t bytes);  // nothing if both are the same bytes
  void zero(Ref to, int64_t bytes);

  plimsoll_device& device;
  const Node& node;
  std::vector<std::unique_ptr<Step>> steps, preparations;
  std::vector<size_t> prepared_inputs;
  int64_t scratch_bytes = 0, prepared_bytes = 0;

 private:
  Sources& sources_;
};

// How an op runs here.
struct Op {
  enum class Overlap { none, same_shape, first };

  std::string_view name;
  void (*lower)(Build& b);
  bool (*knows)(const Node& node) = nullptr;  // null: always
  Overlap overlap = Overlap::none;            // which inputs an output may lie in
  int32_t fuses = PLIMSOLL_FUSE_NO;
  bool moves = false;  // it only moves elements, complex ones too
  bool (*fits)(const plimsoll_device& device, const Node& node) = nullptr;  // null: on every device
};
// Null if the node cannot run here.
const Op* find_op(const plimsoll_device& device, const Node& node);

}  // namespace plimsoll::cuda
