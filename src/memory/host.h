// host: the only place where the engine asks the C library or the OS for bytes of its own, so that a test can
// make each request fail in turn. Nothing here is charged to the account: the callers do that. Every function
// may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plimsoll::host {

// Bytes of one page of the OS.
int64_t page_size() noexcept;
// `bytes` rounded up to a multiple of `unit`, a power of two. Requires: the result fits.
constexpr int64_t round_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

// From the heap, 64-byte aligned, not set; nullptr if there is none.
void* allocate(int64_t bytes) noexcept;
void release(void* block) noexcept;

// Zeroed pages of their own, which go back to the OS with unmap(); nullptr if there are none. Mappings of
// some MiB are aligned for huge pages and ask for them. Requires: bytes is a multiple of page_size().
void* map(int64_t bytes) noexcept;
void unmap(void* block, int64_t bytes) noexcept;

// Addresses without memory behind them; nullptr if refused. Given back with unmap().
void* reserve(int64_t bytes) noexcept;
// Makes pages of a reservation usable (zeroed when first touched); false if refused.
bool commit(void* start, int64_t bytes) noexcept;
// Gives the memory behind pages of a reservation back to the OS and makes them unusable again.
void decommit(void* start, int64_t bytes) noexcept;

// For tests: the n-th request from now on (1 = the next; allocate, map, reserve and commit count) fails as if
// the OS had refused it; 0 switches it off.
void fail_nth(int64_t n) noexcept;
int64_t requests() noexcept;  // how many there were since the process began

}  // namespace plimsoll::host
