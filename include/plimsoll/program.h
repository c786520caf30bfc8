// Program: a graph made ready to run on a device: passes applied, memory planned, kernels chosen. run()
// allocates nothing. One run at a time per arena, a second one is refused; a Program may move between
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/graph.h"
#include "plimsoll/tensor.h"
#include "plimsoll/watch.h"

#pragma GCC visibility push(default)
namespace plimsoll {

class Arena;
class Device;
struct Recipe;

struct CompileOptions {
  int threads = 0;                       // 0: all cores this process may use
  std::vector<std::string> skip_passes;  // by name: "fuse", "simplify", ...; "all" skips every one
  // Programs of one model share an arena, as only one of them runs at a time. Empty: one of its own.
  std::shared_ptr<Arena> arena;
  // Empty: the CPU. Else the device to run on (find_device() of devices.h); `threads`, `arena` and what is
  // for tests except `no_reuse` then say nothing, and what fails in a run is thrown by whoever reads a
  // result.
  std::shared_ptr<Device> device;
  // The line: the most bytes that temporaries and scratch may take (MemoryReport::arena). Under it nodes are
  // put in another order, and values dropped and made again: slower, with the same results bit by bit.
  // Negative: what the limit of the account and the Budget of this thread leave.
  int64_t memory = -1;
  // Consent to what is equal to rounding only (about 1e-6 of the largest element in float32): where nothing
  // else fits under the line, the batch is cut into ranges of rows that run one after the other, and sums
  // over it are added up range by range. The batch: the first axis of the inputs.
  bool micro_batch = false;
  // What forecast() found for the same graph and options (MemoryReport::recipe): nothing is searched, that is
  // made. Empty: it is searched for here.
  std::shared_ptr<const Recipe> recipe;
  // For tests.
  int64_t parts = 0;               // cut the batch into so many ranges, line or not
  bool reference_kernels = false;  // take each op's last kernel
  bool no_reuse = false;           // one buffer per value
  bool poison = false;             // fill dead bytes with 0xFF (as a run goes)
};

struct MemoryReport {
  int64_t arena = 0;        // bytes of temporaries and scratch, exact
  int64_t lower_bound = 0;  // largest sum of bytes live at once: no plan of this order can be smaller
  int64_t variables = 0;
  int64_t constants = 0;
  int64_t program = 0;  // of the Program itself: graph, plan, kernels with their code; about
  int64_t kept = 0;     // of copies of weights, in the layout that kernels like
  // Only from forecast(): what each layer has in the arena when most is live, heaviest first.
  std::vector<std::pair<std::string, int64_t>> layers = {};
  // What the line (CompileOptions::memory) changes.
  bool fits = true;       // false, from forecast() only: `arena` is the least that was found
  int64_t unlimited = 0;  // the arena without a line
  int64_t again = 0;      // nodes that run once more
  int64_t parts = 1;      // ranges of rows the batch is cut into; above 1: equal to rounding, not bit by bit
  double seconds = 0;     // of a step without them, estimated
  double extra_seconds = 0;  // of what runs again, by the same estimate
  double least_extra = 0;    // no plan of the same order takes fewer of these
  std::shared_ptr<const Recipe> recipe = {};  // for CompileOptions: how this is made
};

// A stretch of steps in which a value, or the scratch of a step, has its bytes in the arena.
struct ArenaSpan {
  std::string layer, what;  // "conv2d_1", "relu float32(32, 8, 8, 16)"
  int64_t offset = 0, bytes = 0;
  int64_t first = 0, last = 0;  // steps
  bool again = false;           // made once more
  bool scratch = false;
};

class Program {
 public:
  // Throws Error; MemoryLineError (memory.h) if no plan fits under the line.
  static Program compile(const Graph& graph, const CompileOptions& options = {});
  // What compile() would need, without taking it. Does not throw if it does not fit: says so.
  static MemoryReport forecast(const Graph& graph, const CompileOptions& options = {});
  // One that was moved away can be assigned to and destroyed; all else throws Error{invalid_argument}.
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // Inputs and outputs in the graph's order. Given output tensors of the right types are written, undefined
  // ones are made. Throws Error{invalid_argument} before anything is changed if an input has the wrong type,
  // a given output shares bytes with an input, a variable or another output, or this Program, or one that
  // shares its arena, is running.
  void run(std::span<const Tensor> inputs, std::span<Tensor> outputs);
  std::vector<Tensor> operator()(std::span<const Tensor> inputs);

  const MemoryReport& memory() const;
  std::string text() const;  // steps with kernels, offsets, scratch: for people
  size_t steps() const;
  // Time per step, in seconds, of `runs` runs: (what, seconds) for benchmarks and reports.
  std::vector<std::pair<std::string, double>> profile(std::span<const Tensor> inputs, int runs);
  // Runs once more without writing a variable, to find where the numbers come from for which output `flag`, a
  // bool made with isfinite() of them, is false. Nothing is found (all of it empty) where all are finite now,
  // and on devices of plug-ins.
  NonFinite find_nonfinite(std::span<const Tensor> inputs, size_t flag);
  // Everything that lies in the arena during a run, for reports.
  std::vector<ArenaSpan> timeline() const;

 private:
  struct Body;
  explicit Program(std::unique_ptr<Body> body);
  Body& body() const;
  std::unique_ptr<Body> body_;
};

}  // namespace plimsoll
#pragma GCC visibility pop
