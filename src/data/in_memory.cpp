#include <algorithm>

#include "data/rows.h"
#include "data/settings.h"
#include "plimsoll/data.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// Room for twice the records that are there already.
void grow(Batch& all, const RecordTypes& types, int64_t filled, int64_t capacity) {
  Batch larger;
  data::shape_batch(larger, types, capacity, capacity);
  if (filled > 0) data::copy_rows(data::rows_of(larger), 0, data::rows_of(all), 0, filled);
  all = std::move(larger);
}

}  // namespace

Dataset Dataset::in_memory(int64_t* skipped) const {
  const auto reader = batch(batch_size()).read();  // the remainder too
  Batch all;
  Batch part;
  int64_t filled = 0;
  int64_t capacity = records().value_or(batch_size());
  grow(all, types(), 0, capacity);
  while (reader->next(part)) {
    if (filled + part.size() > capacity) {
      capacity = std::max(filled + part.size(), checked_mul(capacity, 2, "dataset.in_memory"));
      grow(all, types(), filled, capacity);
    }
    data::copy_rows(data::rows_of(all), filled, data::rows_of(part), 0, part.size());
    filled += part.size();
  }
  if (skipped != nullptr) *skipped = reader->skipped();
  if (filled < capacity) grow(all, types(), filled, filled);
  return arrays(std::move(all.x), std::move(all.y), std::move(all.weights))
      .batch(batch_size(), body().settings.drop_remainder)
      .prefetch(body().settings.prefetch);
}

}  // namespace plimsoll
