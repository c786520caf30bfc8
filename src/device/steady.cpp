#include "device/steady.h"

#include <cstring>

#include "memory/budget.h"
#include "memory/buffer.h"
#include "plimsoll/error.h"

namespace plimsoll {

std::shared_ptr<SteadyCopy> SteadyCopy::make(const KernelQuery& q, int i, int64_t bytes, int64_t beside) {
  const auto input = static_cast<size_t>(i);
  if (input >= q.steady.size() || q.steady[input] == nullptr) return nullptr;
  // Under a line the bytes belong to what a step cannot do without, and forecasts know nothing of copies.
  if (account::under_line()) return nullptr;
  try {
    std::shared_ptr<Buffer> copy = Buffer::make(bytes + beside, Owner::weights);
    return std::shared_ptr<SteadyCopy>(new SteadyCopy(q.steady[input]->buffer(), std::move(copy), beside));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::out_of_memory) throw;
    return nullptr;
  }
}

void* SteadyCopy::data() const { return copy_->data(); }
int64_t SteadyCopy::charged() const { return Buffer::charge_for(copy_->bytes()); }

char* SteadyCopy::kept_beside() const {
  return static_cast<char*>(copy_->data()) + copy_->bytes() - static_cast<int64_t>(beside_);
}

bool SteadyCopy::stale(const void* beside) const {
  if (!made_ || source_->exposed() || source_->version() != version_) return true;
  return beside_ > 0 && std::memcmp(kept_beside(), beside, beside_) != 0;
}

void SteadyCopy::update(const void* beside) {
  if (beside_ > 0) std::memcpy(kept_beside(), beside, beside_);
  made_ = true;
  version_ = source_->version();
}

}  // namespace plimsoll
