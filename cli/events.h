// What a run tells programs: one JSON object per line.
#pragma once

#include "plimsoll/callbacks.h"

namespace plimsoll::cli {

// {"event": "train_begin" | "batch" | "epoch" | "train_end", ...}; with memory in bytes.
CallbackPtr json_events();
// A line of its own for what is no step of a fit.
void print_event(const std::string& event, const Logs& numbers, const std::string& file = "");

}  // namespace plimsoll::cli
