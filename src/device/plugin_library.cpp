#include "device/plugin_library.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// What the first version of this major number had. Later functions may be missing.
constexpr size_t kLeastSize = offsetof(plimsoll_device_table, program_profile);

bool has_all(const plimsoll_device_table& t) {
  return t.name && t.device_count && t.device_open && t.device_close && t.device_describe &&
         t.device_memory && t.device_limits && t.buffer_allocate && t.buffer_free && t.stream_create &&
         t.stream_destroy && t.stream_sync && t.copy_to_device && t.copy_to_host && t.event_create &&
         t.event_destroy && t.event_record && t.event_wait && t.event_sync && t.support &&
         t.program_compile && t.program_destroy && t.program_plan && t.program_run && t.program_kernel_name;
}

// The header's kinds of errors are the engine's, from 1 on.
constexpr ErrorKind kind_of(int32_t number) { return static_cast<ErrorKind>(number - 1); }
static_assert(kind_of(PLIMSOLL_INVALID_ARGUMENT) == ErrorKind::invalid_argument &&
              kind_of(PLIMSOLL_NOT_FOUND) == ErrorKind::not_found &&
              kind_of(PLIMSOLL_UNSUPPORTED) == ErrorKind::unsupported &&
              kind_of(PLIMSOLL_BAD_FILE) == ErrorKind::bad_file && kind_of(PLIMSOLL_IO) == ErrorKind::io &&
              kind_of(PLIMSOLL_OUT_OF_MEMORY) == ErrorKind::out_of_memory &&
              kind_of(PLIMSOLL_DEVICE_ERROR) == ErrorKind::device &&
              kind_of(PLIMSOLL_INTERNAL) == ErrorKind::internal);

}  // namespace

void throw_plugin_error(std::string_view place, plimsoll_error& error) {
  error.message[sizeof error.message - 1] = 0;
  const bool known = error.kind > PLIMSOLL_OK && error.kind <= PLIMSOLL_INTERNAL;
  throw Error(known ? kind_of(error.kind) : ErrorKind::device, place,
              error.message[0] ? error.message : "the device reported a failure without a message");
}

PluginLibrary::PluginLibrary(const std::string& path) : path_(path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) fail(ErrorKind::not_found, "device", "there is no file ", path);
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) fail(ErrorKind::bad_file, "device", path, " cannot be loaded: ", dlerror());
  try {
    const auto entry =
        reinterpret_cast<plimsoll_device_plugin_fn>(dlsym(handle_, PLIMSOLL_DEVICE_PLUGIN_SYMBOL));
    if (!entry)
      fail(ErrorKind::bad_file, "device", path, " is no plug-in: it has no ", PLIMSOLL_DEVICE_PLUGIN_SYMBOL);
    read_table(entry(PLIMSOLL_DEVICE_MAJOR));
  } catch (...) {
    dlclose(handle_);
    throw;
  }
}

PluginLibrary::~PluginLibrary() { dlclose(handle_); }

void PluginLibrary::read_table(const plimsoll_device_table* table) {
  if (!table || table->major != PLIMSOLL_DEVICE_MAJOR) {
    const std::string got = table ? concat(table->major, ".", table->minor) : std::string("another one");
    fail(ErrorKind::unsupported, "device", path_, ": expected version ", PLIMSOLL_DEVICE_MAJOR,
         " of the device interface, got ", got);
  }
  std::memcpy(&table_, table, std::min<size_t>(table->size, sizeof table_));
  if (table->size < kLeastSize || !has_all(table_))
    fail(ErrorKind::bad_file, "device", path_, ": its table lacks functions that every plug-in must have");
}

int PluginLibrary::device_count() const {
  plimsoll_error error{};
  int32_t count = 0;
  if (const int32_t kind = table_.device_count(&count, &error); kind != PLIMSOLL_OK) {
    error.kind = kind;
    throw_plugin_error(table_.name, error);
  }
  return count;
}

}  // namespace plimsoll
