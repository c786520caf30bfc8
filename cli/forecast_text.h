// The memory forecast of a training step, for people.
#pragma once

#include <fmt/format.h>

#include <string>

#include "plimsoll/memory.h"
#include "plimsoll/model.h"

namespace plimsoll::cli {

inline std::string forecast_text(const MemoryForecast& f, int64_t batch_size) {
  return fmt::format(
      "memory forecast, batches of {}: {}  (weights {}, optimizer and metrics {}, arena {}, constants {}, "
      "programs {}, data {})\n",
      batch_size, memory_text(f.total()), memory_text(f.weights), memory_text(f.state), memory_text(f.arena),
      memory_text(f.constants), memory_text(f.programs), memory_text(f.data));
}

}  // namespace plimsoll::cli
