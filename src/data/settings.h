// Settings: what a Dataset says about its source. And Body, the two together.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "data/order.h"
#include "data/sources.h"
#include "plimsoll/data.h"

namespace plimsoll::data {

using Change = std::function<void(Record&)>;

struct Settings {
  std::vector<OrderStep> order;
  std::vector<Change> changes;
  int64_t batch = 32;
  bool drop_remainder = false;
  bool skip_bad = false;
  int threads = 0;
  int64_t prefetch = 0;

  int reading_threads() const { return std::max(threads, prefetch > 0 ? 1 : 0); }
  // By a reader at most: those made ahead, one in its hands, one in the user's.
  int64_t batches_held() const { return std::max<int64_t>(1, prefetch) + 2; }
};

}  // namespace plimsoll::data

namespace plimsoll {

struct Dataset::Body {
  data::SourcePtr source;
  data::Settings settings;
  RecordTypes types;  // after the changes

  bool random_access() const { return source->records().has_value(); }
  // Whether batches can lack records that were there.
  bool leaves_out() const { return settings.skip_bad && (source->can_be_bad() || !settings.changes.empty()); }
};

}  // namespace plimsoll
