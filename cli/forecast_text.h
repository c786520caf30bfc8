// The memory forecast of a training step, for people.
#pragma once

#include <fmt/format.h>

#include <string>

#include "plimsoll/memory.h"
#include "plimsoll/model.h"

namespace plimsoll::cli {

inline std::string forecast_text(const MemoryForecast& f, int64_t batch_size) {
  std::string text = fmt::format(
      "memory forecast, batches of {}: {}  (weights {}, optimizer and metrics {}, arena {}, constants {}, "
      "programs {}, data {}, the program itself {})\n",
      batch_size, memory_text(f.total()), memory_text(f.weights), memory_text(f.state), memory_text(f.arena),
      memory_text(f.constants), memory_text(f.programs), memory_text(f.data), memory_text(f.process));
  if (f.device.empty()) return text;
  const MemoryForecast::OnDevice& d = f.on_device;
  return text +
         fmt::format("  on {}: {}  (weights {}, optimizer and metrics {}, arena {}, constants {}, data {})\n",
                     f.device, memory_text(d.total()), memory_text(d.weights), memory_text(d.state),
                     memory_text(d.arena), memory_text(d.constants), memory_text(d.data));
}

}  // namespace plimsoll::cli
