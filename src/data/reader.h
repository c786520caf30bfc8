#pragma once

#include <memory>

#include "data/settings.h"

namespace plimsoll::data {

// What Dataset::read() returns.
std::unique_ptr<BatchReader> make_reader(std::shared_ptr<const Dataset::Body> body, int64_t epoch,
                                         int64_t first_batch);

}  // namespace plimsoll::data
