// How Device and DeviceProgram call a plug-in: what it reports is thrown, with the node's name.
#pragma once

#include "device/device.h"

namespace plimsoll {

inline plimsoll_error no_error() {
  plimsoll_error error{};
  error.node = -1;
  return error;
}

template <class F>
void Device::call(F&& f) const {
  plimsoll_error error = no_error();
  const int32_t kind = f(&error);
  if (kind == PLIMSOLL_OK) return;
  error.kind = kind;
  throw_error(error);
}

template <class F>
auto Device::make(F&& f) const {
  plimsoll_error error = no_error();
  const auto object = f(&error);
  if (!object) throw_error(error);
  return object;
}

}  // namespace plimsoll
