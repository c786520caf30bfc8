// Device: one device of a plug-in (include/plimsoll/device.h) as this process uses it: its memory, by owner
// and under a line; a stream that computes and one that copies; one arena for all programs. The CPU is none:
// its programs are exec's StepList. Handles keep their device alive, and a device its library. May be used
// from any thread; work is queued in the order of the calls.
//
// What fails while it runs is thrown late, by the next sync() or download(), and names the node. A device
// that is lost throws Error{device} from then on; the rest of the process goes on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/capabilities.h"
#include "memory/device_account.h"
#include "plimsoll/device.h"

namespace plimsoll {

class Device;
class Plan;
class PluginLibrary;

struct DeviceMemory {
  int64_t total = 0;  // bytes it has
  int64_t free = 0;   // bytes it could still give to this process
};

// Bytes on a device, charged to its account. Gives them back when it dies, after what uses them.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  int64_t bytes() const { return bytes_; }
  plimsoll_slice slice() const { return {object_, 0}; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  friend class Device;
  std::shared_ptr<Device> device_;
  plimsoll_buffer* object_ = nullptr;
  int64_t bytes_ = 0;
  Owner owner_ = Owner::tensors;
  mutable uint64_t used_ = 0;    // the run that used it last
  mutable uint64_t filled_ = 0;  // the upload into it that was last
};

// A graph made ready on a device. Used by one thread at a time.
class DeviceProgram {
 public:
  // A sub-graph of a node, made ready before: `graph` is the attribute's.
  struct Part {
    const Graph* graph;
    const DeviceProgram* program;
    int64_t arena_bytes;
  };
  ~DeviceProgram();
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  // Bytes that each node needs beside its inputs and outputs.
  std::span<const int64_t> scratch() const { return scratch_; }
  // Once, before the first run. `whole`: it runs by itself, not as a part of another.
  void place(const Graph& graph, const Plan& plan, bool whole);
  std::string kernel_name(NodeId node) const;
  plimsoll_program* object() const { return object_; }

 private:
  friend class Device;
  DeviceProgram(std::shared_ptr<Device> device, const Graph& graph, std::span<const Part> parts);
  void load_constants(const Graph& graph);
  void allocate_kept();

  std::shared_ptr<Device> device_;
  plimsoll_program* object_ = nullptr;
  std::vector<int64_t> scratch_;
  std::vector<std::string> names_;       // of the nodes: "dense_1/dot_general"
  std::vector<DeviceBuffer> constants_;  // one per node; empty for all others
  DeviceBuffer kept_;                    // what it makes of weights alone
  int64_t arena_bytes_ = 0;
};

// The buffers of one run, in the graph's order.
struct DeviceRun {
  std::span<const DeviceBuffer*const> inputs, outputs, variables;
  bool steady = false;  // the variables are what they were in the program's last run
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  // For load_device() only.
  Device(std::shared_ptr<PluginLibrary> library, int index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }  // "cuda:0"
  std::string describe() const;                      // for people: hardware, libraries
  DeviceMemory memory() const;
  DeviceAccount& account() { return account_; }
  int64_t arena_bytes() const;  // of the arena there is
  const Capabilities& capabilities() const { return *capabilities_; }

  // Throws Error{out_of_memory}: over the line, or the device has no more.
  DeviceBuffer allocate(int64_t bytes, Owner owner);
  // What is run from now on sees these bytes of the host, which may change once this returns. At most
  // kStaging bytes of the host are in use for it.
  void upload(const DeviceBuffer& to, const void* from, int64_t bytes);
  // Waits for all that was queued.
  void download(void* to, const DeviceBuffer& from, int64_t bytes);

  std::unique_ptr<DeviceProgram> compile(const Graph& graph, std::span<const DeviceProgram::Part> parts = {});
  // Queues a run. The arena of the device grows to what the largest program of it needs.
  void run(const DeviceProgram& program, const DeviceRun& run);
  // Runs it now and adds the seconds of each node. Throws Error{unsupported} if the plug-in cannot.
  void profile(const DeviceProgram& program, const DeviceRun& run, std::span<double> seconds);
  // Waits for all that was queued. Throws what failed meanwhile, once.
  void sync();
  // How often that happened: what was copied to the device before may not have arrived.
  uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

  static constexpr int64_t kStaging = int64_t{8} << 20;

 private:
  friend class DeviceBuffer;
  friend class DeviceProgram;
  struct Staging;
  struct Streams;

  template <class F>
  void call(F&& f) const;
  template <class F>
  auto make(F&& f) const;
  [[noreturn]] void throw_error(plimsoll_error& error) const;
  void check_alive() const;
  Streams& streams();
  void begin_streams();
  void end_streams() noexcept;
  void wait_for_runs() noexcept;
  void wait_for_uploads() noexcept;
  void queue(const DeviceProgram& program, const DeviceRun& run, double* seconds);
  void note_run();
  void free(DeviceBuffer& buffer) noexcept;
  int64_t wanted_arena() const;
  void free_arena() noexcept;
  void shrink_arena() noexcept;
  void fit_arena();

  const std::shared_ptr<PluginLibrary> library_;
  const plimsoll_device_table& table_;
  std::string name_;
  DeviceAccount account_;
  plimsoll_device* device_ = nullptr;
  std::unique_ptr<Capabilities> capabilities_;

  mutable std::recursive_mutex mutex_;  // guards all below, and the streams
  mutable std::string lost_;            // why, once it is
  std::atomic<uint64_t> failures_{0};
  std::unique_ptr<Streams> streams_;    // made with the first work
  std::unordered_map<const plimsoll_program*, const DeviceProgram*> programs_;  // those alive
  plimsoll_buffer* arena_ = nullptr;
  int64_t arena_bytes_ = 0;
  std::array<std::vector<plimsoll_slice>, 3> slices_;  // of the run being queued
};

// A device of the plug-in in a shared library; the same one while anybody has it. Throws Error: {not_found}
// without the file, {bad_file} if it is no plug-in, {unsupported} if it is one for another version of the
// interface or has no device of this index.
std::shared_ptr<Device> load_device(const std::string& path, int index = 0);

// The line of the device of this name, now and whenever it is loaded again.
void keep_device_limit(const std::string& name, int64_t bytes);

// "oneDNN 3.2, own kernels on Highway avx2, 2 threads"
std::string describe_cpu();

}  // namespace plimsoll
