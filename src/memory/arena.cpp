#include "memory/arena.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "common/bytes.h"
#include "memory/budget.h"
#include "memory/host.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 56;

// Under a limit on addresses a reservation takes from everyone else: a quarter of the limit is enough.
int64_t address_share() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kMostBytes;
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur / 4, static_cast<rlim_t>(kMostBytes)));
}

}  // namespace

int64_t Arena::default_reserve() noexcept {
  static const int64_t bytes = 2 * std::max<int64_t>(::sysconf(_SC_PHYS_PAGES), 1 << 18) * host::page_size();
  return bytes;
}

Arena::~Arena() {
  trim();
  if (base_ != nullptr) host::unmap(base_, reserved_);
}

bool Arena::reserve(int64_t least) noexcept {
  for (int64_t size = std::min(wanted_, address_share());; size /= 2) {
    const int64_t bytes = host::round_up(std::max(size, least), host::page_size());
    base_ = static_cast<char*>(host::reserve(bytes));
    if (base_ != nullptr) {
      reserved_ = bytes;
      return true;
    }
    if (size <= least) return false;
  }
}

void Arena::ensure(int64_t bytes) {
  if (bytes <= committed_) return;
  if (bytes > kMostBytes) fail(ErrorKind::out_of_memory, "arena", "no system has ", bytes_text(bytes));
  const int64_t size = host::round_up(bytes, host::page_size());
  const int64_t more = size - committed_;
  if (committed_ == 0) budget_ = Budget::current();
  account::charge(Owner::arena, more, budget_.get());
  // A reservation that nothing lies in may be replaced by a larger one.
  if (base_ != nullptr && size > reserved_ && committed_ == 0) {
    host::unmap(base_, reserved_);
    base_ = nullptr;
    reserved_ = 0;
  }
  const bool addresses = base_ != nullptr ? size <= reserved_ : reserve(size);
  if (addresses && host::commit(base_ + committed_, more)) {
    committed_ = size;
    return;
  }
  account::release(Owner::arena, more, budget_.get());
  fail(ErrorKind::out_of_memory, "arena", "the system refused ", bytes_text(size),
       addresses ? "" : concat(" of addresses (", bytes_text(reserved_), " are reserved)"), "; ",
       bytes_text(committed_), " are in use");
}

void Arena::trim(int64_t keep) noexcept {
  const int64_t size =
      std::clamp<int64_t>(host::round_up(std::max<int64_t>(keep, 0), host::page_size()), 0, committed_);
  if (size == committed_) return;
  host::decommit(base_ + size, committed_ - size);
  account::release(Owner::arena, committed_ - size, budget_.get());
  committed_ = size;
}

}  // namespace plimsoll
