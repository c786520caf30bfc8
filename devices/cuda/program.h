// A program: for each node its steps, and after planning where every value is.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "build.h"
#include "bundle.h"
#include "graphs.h"
#include "schedule.h"
#include "steady.h"

struct plimsoll_program {
  // Compiles all nodes; scratch[n] is set to what node n needs.
  plimsoll_program(plimsoll_device* device, const plimsoll_graph& graph, int64_t* scratch);

  int64_t kept_bytes() const { return steady_.bytes; }
  void set_plan(const plimsoll_plan& plan);
  // Queues a run, as one CUDA graph where these buffers have been seen before.
  void run(plimsoll::cuda::CUstream stream, const plimsoll_run& run);
  void profile(plimsoll::cuda::CUstream stream, const plimsoll_run& run, double* seconds);
  // Queues every step by itself.
  void queue(plimsoll::cuda::CUstream stream, plimsoll::cuda::CUdeviceptr arena,
             const plimsoll::cuda::CUdeviceptr* inputs, const plimsoll::cuda::CUdeviceptr* outputs,
             const plimsoll::cuda::CUdeviceptr* variables);
  bool captures() const;
  std::string kernel_name(int32_t node) const;

  plimsoll_device* const device;

 private:
  struct Code {
    struct Use {
      int32_t value;
      int64_t bytes;
      bool written;
    };
    std::string op;
    std::vector<std::unique_ptr<plimsoll::cuda::Step>> steps;
    std::vector<std::unique_ptr<plimsoll::cuda::Step>> preparations;  // come before them
    std::vector<Use> uses;
    int64_t scratch_bytes = 0;  // with what is prepared, which comes last
    int64_t prepared_bytes = 0;
    int64_t prepared_at = -1;  // where it can be kept; -1: nowhere
    // Of the sum of a product and something else: one step for both, and the node that makes the product.
    std::unique_ptr<plimsoll::cuda::Step> both;
    int32_t product = -1;
  };
  // Nodes that run together; with more than one of them, as a bundle.
  struct Unit {
    std::vector<int32_t> nodes;
    std::unique_ptr<plimsoll::cuda::Bundle> bundle;
  };
  struct Buffers {
    plimsoll::cuda::CUdeviceptr arena;
    const plimsoll::cuda::CUdeviceptr *inputs, *outputs, *variables;
  };

  plimsoll::cuda::CUdeviceptr resolve(const plimsoll_place& place, const Buffers& buffers) const;
  void place_values(const Buffers& buffers);
  void queue_unit(plimsoll::cuda::CUstream stream, const Unit& unit, plimsoll::cuda::CUdeviceptr arena);
  bool is_kept(const Unit& unit) const;
  void find_sum(const plimsoll::cuda::Node& node, plimsoll::cuda::Build& build, int32_t index);
  std::vector<int32_t> join_sums(std::span<const int32_t> order, plimsoll::cuda::CUdeviceptr arena);
  void make_units(std::span<const int32_t> planned);
  void compile_kernels();
  // As queue(), for a stream that is being captured: on several streams where that is right.
  void queue_captured(plimsoll::cuda::CUstream stream, const Buffers& buffers);
  std::vector<plimsoll::cuda::Access> accesses_of(int32_t node, plimsoll::cuda::CUdeviceptr arena) const;
  const plimsoll::cuda::KernelStep* bundled_step(int32_t node) const;
  void queue_copies(plimsoll::cuda::CUstream stream, const Buffers& buffers);
  Buffers read_run(const plimsoll_run& run);

  std::set<std::shared_ptr<const plimsoll::cuda::Module>> modules_;  // of the kernels
  std::vector<Code> code_;                                           // one per node
  size_t value_count_, input_count_, output_count_, variable_count_;

  plimsoll::cuda::Sources sources_;  // until planned
  std::vector<Unit> units_;          // in the order in which they run
  plimsoll::cuda::Steady steady_;
  std::vector<int32_t> producers_, readers_;  // by value: the node that makes it, how many read it
  plimsoll::cuda::CUdeviceptr kept_ = 0;
  bool has_kept_ = false;  // what is to be kept has been made
  bool skips_ = false;     // while a run is queued: what has been kept is not made again
  std::vector<plimsoll_place> places_;
  std::vector<int64_t> scratch_;
  std::vector<plimsoll_place_copy> copies_;
  std::vector<plimsoll::cuda::CUdeviceptr> constants_;

  // Of the run being queued; made once, because a run allocates nothing.
  std::vector<plimsoll::cuda::CUdeviceptr> values_;
  std::vector<plimsoll::cuda::CUdeviceptr> buffers_;  // arena, inputs, outputs, variables
  plimsoll::cuda::GraphCache graphs_;
};
