#include "device/steady.h"

#include "memory/buffer.h"
#include "plimsoll/error.h"

namespace plimsoll {

std::shared_ptr<SteadyCopy> SteadyCopy::make(const KernelQuery& q, int i, int64_t bytes) {
  const auto input = static_cast<size_t>(i);
  if (input >= q.steady.size() || q.steady[input] == nullptr) return nullptr;
  // Under a line the bytes belong to what a step cannot do without, and forecasts know nothing of copies.
  if (account::limit() != account::kNoLimit) return nullptr;
  try {
    std::shared_ptr<Buffer> copy = Buffer::make(bytes, Owner::weights);
    return std::shared_ptr<SteadyCopy>(new SteadyCopy(q.steady[input]->buffer(), std::move(copy)));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::out_of_memory) throw;
    return nullptr;
  }
}

void* SteadyCopy::data() const { return copy_->data(); }

bool SteadyCopy::stale() const { return !made_ || source_->exposed() || source_->version() != version_; }

void SteadyCopy::update() {
  made_ = true;
  version_ = source_->version();
}

}  // namespace plimsoll
