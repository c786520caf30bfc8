// Spilled bytes lie in a file without a name, mapped: they are resident only from the moment somebody works
// with them until somebody says let_go(). Then the system may write them out and take the memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "memory/buffer.h"

namespace plimsoll::spill {

// Zeroed, on the disk that `folder` is on; not charged to the account: whoever works with them is. Throws
// Error{not_found} if there is no such folder, {invalid_argument} if its files are memory themselves (tmpfs),
// {io} if there is no room: all of it is set aside now.
std::shared_ptr<Buffer> make(int64_t bytes, const std::string& folder);
// Smaller ones are not worth a file and a fault per step.
constexpr int64_t kLeast = 256 << 10;
// Throws as make() would, as far as that is known without making anything.
void check(const std::string& folder);

// Whether make() made what begins here.
bool holds(const void* address) noexcept;
// A forked child has its parent's files: what it writes would change the state that the parent trains with.
// Throws Error{unsupported} there; for what is not spilled, nothing.
void check_mine(const void* address);
// From here on no page of it is resident; the contents stay. Requires: holds(address), nobody works with it.
void let_go(void* address, int64_t bytes) noexcept;
// Where it is spilled; else nothing.
void let_go(const Buffer& buffer) noexcept;

}  // namespace plimsoll::spill
