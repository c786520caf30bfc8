#include "device/device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "common/fork.h"
#include "device/device_call.h"
#include "device/device_capabilities.h"
#include "device/plugin_library.h"
#include "memory/buffer.h"
#include "memory/charge.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr uint64_t kRunsRemembered = 4;  // events of runs; an older one counts as the oldest of these

}  // namespace

// Host bytes that copies go through, in two halves: one is filled while the other is on its way.
struct Device::Staging {
  struct Half {
    char* bytes = nullptr;
    plimsoll_event* free = nullptr;  // when the last copy from it is done
    bool busy = false;
  };
  static constexpr int64_t kHalf = kStaging / 2;

  void* pinned = nullptr;
  std::shared_ptr<Buffer> plain;  // where the plug-in has no pinned bytes
  Charge charge;                  // of the pinned ones
  std::array<Half, 2> halves;
  size_t next = 0;
};

struct Device::Streams {
  plimsoll_stream* compute = nullptr;
  plimsoll_stream* copies = nullptr;
  std::array<plimsoll_event*, kRunsRemembered> ran{};  // run r at r % kRunsRemembered
  plimsoll_event* copied = nullptr;
  uint64_t runs = 0, runs_done = 0;
  uint64_t uploads = 0, uploads_done = 0,
           uploads_seen = 0;  // queued; known to be done; that compute waits for
  Staging staging;
};

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(object_, other.object_);
  std::swap(bytes_, other.bytes_);
  std::swap(owner_, other.owner_);
  std::swap(used_, other.used_);
  std::swap(filled_, other.filled_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (object_) device_->free(*this);
}

void Device::throw_error(plimsoll_error& error) const {
  const std::lock_guard lock(mutex_);
  error.message[sizeof error.message - 1] = 0;
  if (error.lost != 0 && lost_.empty()) lost_ = error.message[0] ? error.message : "it does not say why";
  std::string place = name_;
  const auto program = programs_.find(error.program);
  const auto node = static_cast<size_t>(error.node);
  if (error.node >= 0 && program != programs_.end() && node < program->second->names_.size())
    place += " " + program->second->names_[node];
  throw_plugin_error(place, error);
}

void Device::check_alive() const {
  if (!lost_.empty())
    fail(ErrorKind::device, name_, "the device was lost (", lost_, "): only a new process can use it again");
}

Device::Device(std::shared_ptr<PluginLibrary> library, int index)
    : library_(std::move(library)),
      table_(library_->table()),
      name_(concat(table_.name, ":", index)),
      account_(name_) {
  const int count = library_->device_count();
  if (index < 0 || index >= count)
    fail(ErrorKind::unsupported, table_.name, "expected a device below ", count, ", got ", index);
  device_ = make([&](plimsoll_error* e) { return table_.device_open(index, e); });
  try {
    capabilities_ = device_capabilities(table_, device_);
  } catch (...) {
    table_.device_close(device_);
    throw;
  }
}

Device::~Device() {
  if (streams_) end_streams();
  free_arena();
  table_.device_close(device_);
}

std::string Device::describe() const {
  std::array<char, 512> text{};
  call([&](plimsoll_error* e) { return table_.device_describe(device_, text.data(), text.size(), e); });
  text.back() = 0;
  return text.data();
}

DeviceMemory Device::memory() const {
  plimsoll_memory_info info{};
  call([&](plimsoll_error* e) { return table_.device_memory(device_, &info, e); });
  return {info.total, info.free};
}

int64_t Device::arena_bytes() const {
  const std::lock_guard lock(mutex_);
  return arena_bytes_;
}

DeviceBuffer Device::allocate(int64_t bytes, Owner owner) {
  require(bytes >= 0, name_, "expected a size that is not negative, got ", bytes);
  check_alive();
  DeviceBuffer buffer;
  account_.charge(owner, bytes);
  try {
    buffer.object_ = make([&](plimsoll_error* e) { return table_.buffer_allocate(device_, bytes, e); });
  } catch (...) {
    account_.release(owner, bytes);
    throw;
  }
  buffer.device_ = shared_from_this();
  buffer.bytes_ = bytes;
  buffer.owner_ = owner;
  return buffer;
}

void Device::free(DeviceBuffer& buffer) noexcept {
  const std::lock_guard lock(mutex_);
  if (streams_ && lost_.empty()) {
    if (buffer.used_ > streams_->runs_done) wait_for_runs();
    if (buffer.filled_ > streams_->uploads_done) wait_for_uploads();
  }
  table_.buffer_free(device_, buffer.object_);
  account_.release(buffer.owner_, buffer.bytes_);
}

Device::Streams& Device::streams() {
  if (!streams_) begin_streams();
  return *streams_;
}

void Device::begin_streams() {
  auto s = std::make_unique<Streams>();
  streams_ = std::move(s);  // what is made before a failure is given back by end_streams()
  Streams& made = *streams_;
  try {
    const auto event = [&](plimsoll_error* e) { return table_.event_create(device_, e); };
    const auto stream = [&](plimsoll_error* e) { return table_.stream_create(device_, e); };
    made.compute = make(stream);
    made.copies = make(stream);
    for (plimsoll_event*& e : made.ran) e = make(event);
    made.copied = make(event);
    Staging& staging = made.staging;
    if (table_.host_allocate) {
      staging.charge.set(Owner::staging, kStaging);
      staging.pinned = make([&](plimsoll_error* e) { return table_.host_allocate(device_, kStaging, e); });
    } else {
      staging.plain = Buffer::make(kStaging, Owner::staging);
    }
    char* const bytes = static_cast<char*>(staging.pinned ? staging.pinned : staging.plain->data());
    for (size_t i = 0; i < 2; ++i)
      staging.halves[i] = {bytes + static_cast<int64_t>(i) * Staging::kHalf, make(event)};
  } catch (...) {
    end_streams();
    throw;
  }
}

void Device::end_streams() noexcept {
  wait_for_runs();
  wait_for_uploads();
  Streams& s = *streams_;
  if (s.copies) table_.stream_destroy(s.copies);
  if (s.compute) table_.stream_destroy(s.compute);
  if (s.staging.pinned) table_.host_free(device_, s.staging.pinned);
  const auto destroy = [&](plimsoll_event* event) {
    if (event) table_.event_destroy(event);
  };
  std::ranges::for_each(s.ran, destroy);
  destroy(s.copied);
  for (const Staging::Half& half : s.staging.halves) destroy(half.free);
  streams_.reset();
}

// What failed stays with the stream, for the next sync().
void Device::wait_for_runs() noexcept {
  if (!streams_ || streams_->runs == streams_->runs_done || !lost_.empty()) return;
  plimsoll_error error = no_error();
  table_.event_sync(streams_->ran[streams_->runs % kRunsRemembered], &error);
  streams_->runs_done = streams_->runs;
}

void Device::wait_for_uploads() noexcept {
  if (!streams_ || streams_->uploads == streams_->uploads_done || !lost_.empty()) return;
  plimsoll_error error = no_error();
  if (table_.event_record(streams_->copied, streams_->copies, &error) == PLIMSOLL_OK)
    table_.event_sync(streams_->copied, &error);
  streams_->uploads_done = streams_->uploads;
}

void Device::upload(const DeviceBuffer& to, const void* from, int64_t bytes) {
  require(bytes >= 0 && bytes <= to.bytes_, name_, "expected at most ", to.bytes_, " bytes, got ", bytes);
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  check_alive();
  Streams& s = streams();
  if (to.used_ > s.runs_done) {  // a run that was queued before may still read or write it
    const uint64_t oldest = s.runs < kRunsRemembered ? 0 : s.runs - kRunsRemembered + 1;
    plimsoll_event* const ran = s.ran[std::max(to.used_, oldest) % kRunsRemembered];
    call([&](plimsoll_error* e) { return table_.event_wait(ran, s.copies, e); });
  }
  for (int64_t at = 0; at < bytes; at += Staging::kHalf) {
    Staging::Half& half = s.staging.halves[s.staging.next];
    s.staging.next ^= 1;
    if (half.busy) call([&](plimsoll_error* e) { return table_.event_sync(half.free, e); });
    const int64_t count = std::min(bytes - at, Staging::kHalf);
    std::memcpy(half.bytes, static_cast<const char*>(from) + at, static_cast<size_t>(count));
    call([&](plimsoll_error* e) {
      return table_.copy_to_device(s.copies, {to.object_, at}, half.bytes, count, e);
    });
    half.busy = true;
    call([&](plimsoll_error* e) { return table_.event_record(half.free, s.copies, e); });
  }
  to.filled_ = ++s.uploads;
}

void Device::download(void* to, const DeviceBuffer& from, int64_t bytes) {
  require(bytes >= 0 && bytes <= from.bytes_, name_, "expected at most ", from.bytes_, " bytes, got ", bytes);
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  check_alive();
  Streams& s = streams();
  if (from.filled_ > s.uploads_done) wait_for_uploads();
  call([&](plimsoll_error* e) { return table_.copy_to_host(s.compute, to, from.slice(), bytes, e); });
  sync();
}

std::unique_ptr<DeviceProgram> Device::compile(const Graph& graph,
                                               std::span<const DeviceProgram::Part> parts) {
  check_alive();
  return std::unique_ptr<DeviceProgram>(new DeviceProgram(shared_from_this(), graph, parts));
}

void Device::run(const DeviceProgram& program, const DeviceRun& run) { queue(program, run, nullptr); }

void Device::profile(const DeviceProgram& program, const DeviceRun& run, std::span<double> seconds) {
  if (!table_.program_profile) fail(ErrorKind::unsupported, name_, "the plug-in cannot time single steps");
  queue(program, run, seconds.data());
  sync();
}

void Device::queue(const DeviceProgram& program, const DeviceRun& run, double* seconds) {
  const std::lock_guard lock(mutex_);
  check_alive();
  Streams& s = streams();
  if (arena_bytes_ < program.arena_bytes_) fit_arena();
  if (s.uploads > s.uploads_seen) {
    call([&](plimsoll_error* e) { return table_.event_record(s.copied, s.copies, e); });
    call([&](plimsoll_error* e) { return table_.event_wait(s.copied, s.compute, e); });
    s.uploads_seen = s.uploads;
  }
  const auto slices = [](std::span<const DeviceBuffer* const> buffers, std::vector<plimsoll_slice>& to) {
    to.clear();
    for (const DeviceBuffer* b : buffers) to.push_back(b->slice());
    return to.data();
  };
  plimsoll_run c{};
  c.size = sizeof c;
  c.arena = {arena_, 0};
  c.inputs = slices(run.inputs, slices_[0]);
  c.outputs = slices(run.outputs, slices_[1]);
  c.variables = slices(run.variables, slices_[2]);
  c.steady = run.steady ? 1 : 0;
  ++s.runs;
  for (const auto& list : {run.inputs, run.outputs, run.variables}) {
    for (const DeviceBuffer* b : list) b->used_ = s.runs;
  }
  try {
    call([&](plimsoll_error* e) {
      return seconds ? table_.program_profile(program.object_, s.compute, &c, seconds, e)
                     : table_.program_run(program.object_, s.compute, &c, e);
    });
  } catch (...) {
    note_run();
    throw;
  }
  note_run();
}

// Where run `runs` ends on the stream, whether or not all of it was queued.
void Device::note_run() {
  Streams& s = *streams_;
  call([&](plimsoll_error* e) { return table_.event_record(s.ran[s.runs % kRunsRemembered], s.compute, e); });
}

void Device::sync() {
  const std::lock_guard lock(mutex_);
  check_alive();
  if (!streams_) return;
  Streams& s = *streams_;
  const uint64_t runs = s.runs, uploads = s.uploads;
  try {
    call([&](plimsoll_error* e) { return table_.stream_sync(s.copies, e); });
    call([&](plimsoll_error* e) { return table_.stream_sync(s.compute, e); });
  } catch (...) {
    ++failures_;
    throw;
  }
  s.runs_done = runs;
  s.uploads_done = uploads;
}

int64_t Device::wanted_arena() const {
  int64_t wanted = 0;
  for (const auto& [object, program] : programs_) wanted = std::max(wanted, program->arena_bytes_);
  return wanted;
}

// Nothing in it outlives a run.
void Device::free_arena() noexcept {
  wait_for_runs();
  if (arena_) table_.buffer_free(device_, arena_);
  account_.release(Owner::arena, arena_bytes_);
  arena_ = nullptr;
  arena_bytes_ = 0;
}

// The next run makes it anew, as large as is needed then.
void Device::shrink_arena() noexcept {
  if (wanted_arena() < arena_bytes_) free_arena();
}

void Device::fit_arena() {
  const int64_t wanted = wanted_arena();
  if (wanted == arena_bytes_) return;
  free_arena();
  account_.charge(Owner::arena, wanted);
  try {
    arena_ = make([&](plimsoll_error* e) { return table_.buffer_allocate(device_, wanted, e); });
  } catch (...) {
    account_.release(Owner::arena, wanted);
    throw;
  }
  arena_bytes_ = wanted;
}

namespace {

// Never destroyed: handles in static storage may outlive any destructor of ours.
struct Loaded {
  ForkMutex mutex{LockOrder::devices};
  std::map<std::pair<std::string, int>, std::weak_ptr<Device>> devices;
  std::map<std::string, std::weak_ptr<PluginLibrary>> libraries;
  std::map<std::string, int64_t> limits;
};
Loaded& loaded() {
  static auto* const all = new Loaded;
  return *all;
}

}  // namespace

std::shared_ptr<Device> load_device(const std::string& path, int index) {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  std::weak_ptr<Device>& device = all.devices[{path, index}];
  if (std::shared_ptr<Device> found = device.lock()) return found;
  std::weak_ptr<PluginLibrary>& library = all.libraries[path];
  std::shared_ptr<PluginLibrary> plugin = library.lock();
  if (!plugin) library = plugin = std::make_shared<PluginLibrary>(path);
  auto made = std::make_shared<Device>(std::move(plugin), index);
  if (const auto limit = all.limits.find(made->name()); limit != all.limits.end())
    made->account().set_limit(limit->second);
  device = made;
  return made;
}

void keep_device_limit(const std::string& name, int64_t bytes) {
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  all.limits[name] = bytes;
  for (const auto& [where, weak] : all.devices) {
    const std::shared_ptr<Device> device = weak.lock();
    if (device && device->name() == name) device->account().set_limit(bytes);
  }
}

}  // namespace plimsoll
