// Devices of plug-ins: the C table of include/plimsoll/device.h behind the Device interface. The
// library stays loaded as long as a device of it lives.
#include <dlfcn.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <vector>

#include "device/device.h"
#include "plimsoll/device.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr size_t kMostArgs = 64;

// Throws what a function of the plug-in reported. Messages of plug-ins are not trusted to end.
[[noreturn]] void throw_error(std::string_view place, plimsoll_error& error) {
  error.message[sizeof error.message - 1] = 0;
  const bool known = error.kind > PLIMSOLL_OK && error.kind <= PLIMSOLL_INTERNAL;
  const auto kind = known ? static_cast<ErrorKind>(error.kind - 1) : ErrorKind::device;
  throw Error(kind, place,
              error.message[0] ? error.message : "the device reported a failure without a message");
}

class Library {
 public:
  explicit Library(const std::string& path) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) fail(ErrorKind::not_found, "device", "there is no file ", path);
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) fail(ErrorKind::bad_file, "device", path, " cannot be loaded: ", dlerror());
    const auto entry =
        reinterpret_cast<plimsoll_device_plugin_fn>(dlsym(handle_, PLIMSOLL_DEVICE_PLUGIN_SYMBOL));
    if (!entry) {
      dlclose(handle_);
      fail(ErrorKind::bad_file, "device", path, " is no plug-in: it has no ", PLIMSOLL_DEVICE_PLUGIN_SYMBOL);
    }
    table_ = entry(PLIMSOLL_DEVICE_MAJOR);
    const bool fits =
        table_ && table_->major == PLIMSOLL_DEVICE_MAJOR && table_->size >= sizeof(plimsoll_device_table);
    if (!fits) {
      const std::string got = table_ ? concat(table_->major, ".", table_->minor) : std::string("another one");
      dlclose(handle_);
      fail(ErrorKind::unsupported, "device", path, ": expected version ", PLIMSOLL_DEVICE_MAJOR,
           " of the device interface, got ", got);
    }
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const plimsoll_device_table& table() const { return *table_; }

 private:
  void* handle_ = nullptr;
  const plimsoll_device_table* table_ = nullptr;
};

plimsoll_type to_c(const TensorType& type) {
  return {static_cast<int32_t>(type.dtype), 0, type.shape.rank(), type.shape.begin()};
}

// Attributes that plug-ins understand; tensors and graphs have no form here.
std::vector<plimsoll_attr> to_c(const Attrs& attrs) {
  std::vector<plimsoll_attr> out;
  for (const auto& [name, value] : attrs) {
    plimsoll_attr attr{};
    attr.name = name.c_str();
    attr.kind = static_cast<int32_t>(value.index());
    if (const auto* b = std::get_if<bool>(&value))
      attr.integer = *b;
    else if (const auto* i = std::get_if<int64_t>(&value))
      attr.integer = *i;
    else if (const auto* r = std::get_if<double>(&value))
      attr.real = *r;
    else if (const auto* s = std::get_if<std::string>(&value))
      attr.string = s->c_str();
    else if (const auto* t = std::get_if<DType>(&value))
      attr.integer = static_cast<int64_t>(*t);
    else if (const auto* list = std::get_if<Ints>(&value)) {
      attr.ints = list->data();
      attr.count = static_cast<int32_t>(list->size());
    } else {
      continue;
    }
    out.push_back(attr);
  }
  return out;
}

plimsoll_slice to_c(Slice slice) {
  return {static_cast<plimsoll_buffer*>(slice.buffer->get()), slice.offset};
}

class PluginDevice final : public Device {
 public:
  PluginDevice(const std::string& path, int index)
      : library_(path), table_(library_.table()), name_(table_.name) {
    int32_t count = 0;
    call([&](plimsoll_error* e) { return table_.device_count(&count, e); });
    if (index < 0 || index >= count) {
      fail(ErrorKind::unsupported, name_, "expected a device below ", count, ", got ", index);
    }
    device_ = make([&](plimsoll_error* e) { return table_.device_open(index, e); });
  }
  ~PluginDevice() override { table_.device_close(device_); }

  std::string_view name() const override { return name_; }
  std::string describe() const override {
    return text([&](char* out, size_t size, plimsoll_error* e) {
      return table_.device_describe(device_, out, size, e);
    });
  }
  DeviceMemory memory() const override {
    plimsoll_memory_info info{};
    call([&](plimsoll_error* e) { return table_.device_memory(device_, &info, e); });
    return {info.total, info.free};
  }

 private:
  template <class F>
  void call(F&& f) const {
    plimsoll_error error{};
    if (const int32_t kind = f(&error); kind != PLIMSOLL_OK) {
      error.kind = kind;
      throw_error(name_, error);
    }
  }
  template <class F>
  auto make(F&& f) const -> decltype(f(nullptr)) {
    plimsoll_error error{};
    const auto object = f(&error);
    if (!object) throw_error(name_, error);
    return object;
  }
  template <class F>
  std::string text(F&& f) const {
    std::array<char, 512> out{};
    call([&](plimsoll_error* e) { return f(out.data(), out.size(), e); });
    out.back() = 0;
    return out.data();
  }
  static plimsoll_stream* stream(void* s) { return static_cast<plimsoll_stream*>(s); }
  static plimsoll_event* event(void* e) { return static_cast<plimsoll_event*>(e); }

  void* allocate_impl(int64_t bytes) override {
    return make([&](plimsoll_error* e) { return table_.buffer_allocate(device_, bytes, e); });
  }
  void* make_stream_impl() override {
    return make([&](plimsoll_error* e) { return table_.stream_create(device_, e); });
  }
  void* make_event_impl() override {
    return make([&](plimsoll_error* e) { return table_.event_create(device_, e); });
  }

  void* prepare_impl(const KernelRequest& request, int64_t& scratch, std::string& kernel_name) override {
    std::vector<plimsoll_type> in, out;
    for (const TensorType& t : request.query.in) in.push_back(to_c(t));
    for (const TensorType& t : request.query.out) out.push_back(to_c(t));
    const std::vector<plimsoll_attr> attrs = to_c(request.query.attrs);
    const std::string op(request.op);
    const plimsoll_kernel_query query{op.c_str(),
                                      in.data(),
                                      out.data(),
                                      attrs.data(),
                                      static_cast<int32_t>(in.size()),
                                      static_cast<int32_t>(out.size()),
                                      static_cast<int32_t>(attrs.size())};
    plimsoll_error error{};
    plimsoll_kernel* const kernel = table_.kernel_prepare(device_, &query, &scratch, &error);
    if (!kernel && error.kind == PLIMSOLL_UNSUPPORTED) return nullptr;
    if (!kernel) throw_error(name_, error);
    if (scratch < 0) {
      table_.kernel_destroy(kernel);
      fail(ErrorKind::device, name_, "expected scratch that is not negative for ", op, ", got ", scratch);
    }
    try {
      kernel_name = text(
          [&](char* t, size_t size, plimsoll_error* e) { return table_.kernel_name(kernel, t, size, e); });
    } catch (...) {
      table_.kernel_destroy(kernel);
      throw;
    }
    return kernel;
  }

  void copy_in_impl(void* s, Slice to, const void* from, int64_t bytes) override {
    call([&](plimsoll_error* e) { return table_.copy_to_device(stream(s), to_c(to), from, bytes, e); });
  }
  void copy_out_impl(void* s, void* to, Slice from, int64_t bytes) override {
    call([&](plimsoll_error* e) { return table_.copy_to_host(stream(s), to, to_c(from), bytes, e); });
  }
  void copy_impl(void* s, Slice to, Slice from, int64_t bytes) override {
    call([&](plimsoll_error* e) { return table_.copy_on_device(stream(s), to_c(to), to_c(from), bytes, e); });
  }
  void launch_impl(void* s, void* kernel, std::span<const Slice> args) override {
    require(args.size() <= kMostArgs, name_, "expected at most ", kMostArgs, " arguments of a kernel, got ",
            args.size());
    std::array<plimsoll_slice, kMostArgs> slices;
    for (size_t i = 0; i < args.size(); ++i) slices[i] = to_c(args[i]);
    call([&](plimsoll_error* e) {
      return table_.kernel_launch(static_cast<plimsoll_kernel*>(kernel), stream(s), slices.data(), e);
    });
  }
  void record_impl(void* ev, void* s) override {
    call([&](plimsoll_error* e) { return table_.event_record(event(ev), stream(s), e); });
  }
  void wait_impl(void* s, void* ev) override {
    call([&](plimsoll_error* e) { return table_.event_wait(event(ev), stream(s), e); });
  }
  void sync_impl(void* s) override {
    call([&](plimsoll_error* e) { return table_.stream_sync(stream(s), e); });
  }

  void release_impl(DeviceHandle::Kind kind, void* object) noexcept override {
    switch (kind) {
      case DeviceHandle::Kind::buffer:
        return table_.buffer_free(device_, static_cast<plimsoll_buffer*>(object));
      case DeviceHandle::Kind::stream: return table_.stream_destroy(stream(object));
      case DeviceHandle::Kind::event: return table_.event_destroy(event(object));
      case DeviceHandle::Kind::kernel: return table_.kernel_destroy(static_cast<plimsoll_kernel*>(object));
    }
  }

  Library library_;
  const plimsoll_device_table& table_;
  std::string name_;
  plimsoll_device* device_ = nullptr;
};

}  // namespace

std::shared_ptr<Device> load_device(const std::string& path, int index) {
  return std::make_shared<PluginDevice>(path, index);
}

}  // namespace plimsoll
