// DeviceCopy: the bytes of a Buffer on a device. A Buffer counts versions of its contents; a copy is current
// while it has the Buffer's version, and the newest contents may be in a copy alone, until the host asks for
// them (Buffer::data()). Owned by its Buffer.
#pragma once

#include <cstdint>

namespace plimsoll {

class DeviceCopy {
 public:
  virtual ~DeviceCopy() = default;
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  // Where it is: one copy for each.
  virtual const void* device() const = 0;
  // Writes the bytes to the host's `to`, when all that was asked of the device before is done. Throws
  // Error{device}.
  virtual void fetch(void* to) = 0;

 protected:
  DeviceCopy() = default;

 private:
  friend class Buffer;
  uint64_t version_ = UINT64_MAX;  // none yet
};

}  // namespace plimsoll
