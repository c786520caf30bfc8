// PluginLibrary: the shared library of a plug-in and its table of functions, as this version knows it.
#pragma once

#include <memory>
#include <string>

#include "plimsoll/device.h"

namespace plimsoll {

class PluginLibrary {
 public:
  // Throws Error as load_device() does.
  explicit PluginLibrary(const std::string& path);
  ~PluginLibrary();
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  const std::string& path() const { return path_; }
  // Functions that the plug-in is too old to have are null.
  const plimsoll_device_table& table() const { return table_; }
  int device_count() const;

 private:
  void read_table(const plimsoll_device_table* table);

  std::string path_;
  void* handle_ = nullptr;
  plimsoll_device_table table_{};
};

// Throws what a function of a plug-in reported. Messages of plug-ins are not trusted to end.
[[noreturn]] void throw_plugin_error(std::string_view place, plimsoll_error& error);

}  // namespace plimsoll
